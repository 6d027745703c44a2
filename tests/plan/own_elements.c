// count forward_vjp plan rmw.add.adj.row 1
// count forward_vjp plan rmw.add.adj.atomic.row 1
/* All threads read column k, and each its own column behind it: only the additions to column k are atomic. */
void
own_elements(int m, int n, int k, double a[m][n], double y[n])
{
    #pragma omp parallel for
    for (int j = k + 1; j < n; j++) {
        double s = 0;
        for (int i = 0; i < m; i++)
            s += a[i][k] * a[i][j];
        y[j] = s;
    }
}
