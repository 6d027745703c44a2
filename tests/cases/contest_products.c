// Products of several arrays, one of them chosen, in loops that are left early: with no factor that is zero, with one, with two and with
// three, and of an element that was zero.
// args: n=13 m=3 flag=1 x[13][3]=1.1,0.9,1.3,0.7,1.2,0.8,1.4,0.6,1.05,-1.1,0.95,1.25 z[13]=1.5,0,0.75,1.25,0,1.1,-0.5 a[4]=2,3,4,5 b[4]=1,-1,0,2 c[3]=1,0,3 d[4]=1,2,0.5,-1
// skip: bits
// split: refused
void
contest_products(int n, int m, int flag, const double x[n][m], const double z[n], double a[4], double b[4], double c[3], double d[4])
{
    double *p = b;
    if (flag) p = a;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            if (x[i][j] * z[i] > 1.7)
                break;
            #pragma omp atomic
            p[(i + j) % 4] *= x[i][j];
            #pragma omp atomic
            d[(i * j) % 4] *= 1 + x[i][j] * 0.1;
        }
        if (i < 2 || i > 9) {
            #pragma omp atomic
            c[0] *= z[i];
        }
        #pragma omp atomic
        c[1] *= z[i] + 2;
        #pragma omp atomic
        c[2] *= i < 3 ? z[i] : z[i] + 1.5;
    }
}
