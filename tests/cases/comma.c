// The comma operator, assignments as values, ++ and -- before and after.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0
void
comma(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v, u;
        int k = 2, t;
        v = u = x[i] * x[i];
        for (t = 0, k++; t < 3; t++, k--)
            v = (u += 0.1 * v, v * u + k);
        k--, --k;
        y[i] = (v -= u) * (k++ + 2);
    }
}
