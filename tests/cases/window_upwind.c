// A field is carried by a wind whose direction decides which neighbours count; nine of them are smoothed.
// args: n=7 m=23 q[7][23]=0.5,1.5,-0.4,0.3,0.7,1.1,-0.2 u[7][23]=0.3,-0.2,0.1 next[7][23]=0 smooth[7][23]=0
void
window_upwind(int n, int m, const double q[n][m], const double u[n][m], double next[n][m], double smooth[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 2; i < n - 2; i++)
        for (int j = 2; j < m - 2; j++) {
            double c = u[i][j], slope;
            if (c > 0.0)
                slope = 1.5 * q[i][j] - 2.0 * q[i][j - 1] + 0.5 * q[i][j - 2];
            else
                slope = -0.5 * q[i][j + 2] + 2.0 * q[i][j + 1] - 1.5 * q[i][j];
            next[i][j] = q[i][j] - c * slope * q[i - 1][j];
        }
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            for (int a = -1; a <= 1; a++)
                for (int b = -1; b <= 1; b++)
                    smooth[i][j] += next[i + a][j + b] * q[i][j] / (1.0 + a * a + b * b);
}
