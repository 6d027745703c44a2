// Conditions of else-ifs and a switch, which the reverse computes again, beside those that it cannot.
// args: n=6 kind[6]=0,3,1,5,2,4 x[6]=0.5,1.5,-0.4,2.5,0.7,-1.5 z[6]=0 y[6]=0
void
else_ifs(int n, const int kind[n], const double x[n], double z[n], double y[n])
{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        int k = kind[i] + 1;
        if (k == 1)
            v *= v;
        else if (k + i == 2 * i + 1 && v > 0)
            v = v * v * v;
        else if (v < -1)
            v = 0.5 * v;
        else {
            z[i] = v + 1;
            if (z[i] > 3)
                v = v * z[i];
            else if (z[i] * z[i] > 2)
                v = v / z[i];
            else
                v = 3 * v * z[i];
        }
        switch (kind[i]) {
        case 0:
            v *= 2;
            break;
        case 1:
        case 2:
            v *= v;
            /* fall through */
        case 3:
            v += v * v;
            break;
        default:
            v = -v * x[i];
        }
        y[i] = v;
    }
}
