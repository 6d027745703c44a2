// frames forward_vjp: f64
/* Of each element what it was multiplied with is recorded; the multiplier, which is stored and overwritten later, is known from its making. */
void
stored_column(int n, int m, int steps, double a[n][m], double b[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            b[i] = a[i][0] / (2.0 + a[i][1] * a[i][1]);
            for (int j = 2; j < m; j++)
                a[i][j] -= b[i] * a[i][j - 2];
        }
    }
}
