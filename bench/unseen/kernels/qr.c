/* Householder QR in place: the reflections' vectors on and below the diagonal, R above it, its diagonal apart.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

void
qr(int m, int n, double a[m][n], double diagonal[n])
{
    for (int k = 0; k < n; k++) {
        double norm = 0.0;
        for (int i = k; i < m; i++)
            norm += a[i][k] * a[i][k];
        norm = sqrt(norm);
        if (norm != 0.0) {
            if (a[k][k] < 0.0)
                norm = -norm;
            for (int i = k; i < m; i++)
                a[i][k] /= norm;
            a[k][k] += 1.0;

            #pragma omp parallel for
            for (int j = k + 1; j < n; j++) {
                double s = 0.0;
                for (int i = k; i < m; i++)
                    s += a[i][k] * a[i][j];
                s = -s / a[k][k];
                for (int i = k; i < m; i++)
                    a[i][j] += s * a[i][k];
            }
        }
        diagonal[k] = -norm;
    }
}
