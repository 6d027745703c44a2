// Overlapping neighbours in two dimensions, in place from another array, and a boundary that copies.
// args: n=4 m=5 steps=3 u[4][5]=0.1,0.4,-0.2,0.3,0.2,0.5,-0.1,0.6,0.2,0.1,-0.3,0.2,0.7,0.1,0.4,0.3,-0.2,0.1,0.5,0.2 v[4][5]=0.05
// split: refused
#include <math.h>

void
snapshot_rows(int n, int m, int steps, double u[n][m], double v[n][m])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for collapse(2)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                double d = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4.0 * u[i][j];
                v[i][j] += 0.1 * d * (1.0 + 0.3 * d * u[i][j]);
            }
        #pragma omp parallel for collapse(2)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                u[i][j] += 0.2 * v[i][j];
    }
}
