/* LU factors of many matrices in place, with partial pivoting, and the logarithms of their determinants' magnitudes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define N 20

void
lu_pivot(int count, double a[count][N][N], int pivot[count][N], double log_det[count])
{
    #pragma omp parallel for
    for (int q = 0; q < count; q++) {
        double sum = 0.0;
        for (int k = 0; k < N; k++) {
            int p = k;
            for (int i = k + 1; i < N; i++)
                if (fabs(a[q][i][k]) > fabs(a[q][p][k]))
                    p = i;
            pivot[q][k] = p;
            if (p != k)
                for (int j = 0; j < N; j++) {
                    double t = a[q][k][j];
                    a[q][k][j] = a[q][p][j];
                    a[q][p][j] = t;
                }
            for (int i = k + 1; i < N; i++) {
                a[q][i][k] /= a[q][k][k];
                for (int j = k + 1; j < N; j++)
                    a[q][i][j] -= a[q][i][k] * a[q][k][j];
            }
            sum += log(fabs(a[q][k][k]));
        }
        log_det[q] = sum;
    }
}
