/* Factor of a symmetric positive definite matrix in place, by blocks, below the diagonal. SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define BLOCK 32

void
cholesky_blocked(int n, double a[n][n])
{
    for (int k = 0; k < n; k += BLOCK) {
        int end = k + BLOCK < n ? k + BLOCK : n;

        /* the block on the diagonal */
        for (int j = k; j < end; j++) {
            for (int p = k; p < j; p++)
                a[j][j] -= a[j][p] * a[j][p];
            a[j][j] = sqrt(a[j][j]);
            for (int i = j + 1; i < end; i++) {
                for (int p = k; p < j; p++)
                    a[i][j] -= a[i][p] * a[j][p];
                a[i][j] /= a[j][j];
            }
        }

        /* the panel below it */
        #pragma omp parallel for
        for (int i = end; i < n; i++) {
            for (int j = k; j < end; j++) {
                double sum = a[i][j];
                for (int p = k; p < j; p++)
                    sum -= a[i][p] * a[j][p];
                a[i][j] = sum / a[j][j];
            }
        }

        /* what remains */
        #pragma omp parallel for schedule(dynamic)
        for (int i = end; i < n; i++) {
            for (int j = end; j <= i; j++) {
                double sum = 0.0;
                for (int p = k; p < end; p++)
                    sum += a[i][p] * a[j][p];
                a[i][j] -= sum;
            }
        }
    }
}
