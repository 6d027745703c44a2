// frames forward_vjp: none
/* Factors and solutions in place: what is read is never written again, as the bounds of the loops tell, and is read once more in the reverse. */
void
final(int n, int m, double a[n][n], double x[m * n])
{
    for (int k = 0; k < n; k += 4) {
        int end = k + 4 < n ? k + 4 : n;
        #pragma omp parallel for
        for (int i = end; i < n; i++)
            for (int j = end; j <= i; j++)
                for (int p = k; p < end; p++)
                    a[i][j] -= a[i][p] * a[j][p];
    }
    #pragma omp parallel for
    for (int r = 0; r < m; r++)
        for (int i = 1; i < n; i++)
            for (int j = 0; j < i; j++)
                x[r * n + i] -= a[i][j] * x[r * n + j];
}
