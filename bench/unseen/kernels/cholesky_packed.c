/* Factors of symmetric positive definite matrices in packed rows, and the log densities of normal distributions with them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#define N 24
#define PACKED (N * (N + 1) / 2)

void
cholesky_packed(int count, const double a[count][PACKED], const double x[count][N], double density[count])
{
    #pragma omp parallel for
    for (int q = 0; q < count; q++) {
        double l[PACKED], z[N];
        double log_det = 0.0, square = 0.0;
        for (int i = 0; i < N; i++) {
            double *row = l + i * (i + 1) / 2;
            for (int j = 0; j <= i; j++) {
                const double *other = l + j * (j + 1) / 2;
                double sum = a[q][i * (i + 1) / 2 + j];
                for (int k = 0; k < j; k++)
                    sum -= row[k] * other[k];
                if (i == j)
                    row[i] = sqrt(sum);
                else
                    row[j] = sum / other[j];
            }
        }
        for (int i = 0; i < N; i++) {
            const double *row = l + i * (i + 1) / 2;
            double sum = x[q][i];
            for (int k = 0; k < i; k++)
                sum -= row[k] * z[k];
            z[i] = sum / row[i];
            square += z[i] * z[i];
            log_det += log(row[i]);
        }
        density[q] = -0.5 * square - log_det;
    }
}
