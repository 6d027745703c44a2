// Elimination in place: multipliers are stored, used for their row, and exchanged with it later.
// args: m=2 n=3 a[2][3][3]=0.5,1.25,-0.4,2,0.3,1.5,-1.1,0.8,0.9,3,-0.7,0.2,0.4,1.6,-0.9,-1.3,0.5,2.1 at[2][3]=0
// split: refused
#include <math.h>

void
stored_multiplier(int m, int n, double a[m][n][n], int at[m][n])
{
    #pragma omp parallel for
    for (int q = 0; q < m; q++)
        for (int k = 0; k < n; k++) {
            int p = k;
            for (int i = k + 1; i < n; i++)
                if (fabs(a[q][i][k]) > fabs(a[q][p][k]))
                    p = i;
            at[q][k] = p;
            for (int j = 0; j < n && p != k; j++) {
                double t = a[q][k][j];
                a[q][k][j] = a[q][p][j];
                a[q][p][j] = t;
            }
            for (int i = k + 1; i < n; i++) {
                a[q][i][k] /= a[q][k][k];
                for (int j = k + 1; j < n; j++)
                    a[q][i][j] -= a[q][i][k] * a[q][k][j];
            }
        }
}
