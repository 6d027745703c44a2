/* Tridiagonal systems, one in each row, by Thomas's algorithm. SPDX-License-Identifier: Apache-2.0 */

#define MOST 512

void
tridiagonal(int rows, int n, const double *a, const double *b, const double *c, const double *d, double *x)
{
    #pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        const double *lower = a + r * n, *diagonal = b + r * n, *upper = c + r * n, *right = d + r * n;
        double *u = x + r * n, gamma[MOST];
        double beta = diagonal[0];
        u[0] = right[0] / beta;
        for (int j = 1; j < n; j++) {
            gamma[j] = upper[j - 1] / beta;
            beta = diagonal[j] - lower[j] * gamma[j];
            u[j] = (right[j] - lower[j] * u[j - 1]) / beta;
        }
        for (int j = n - 2; j >= 0; j--)
            u[j] -= gamma[j + 1] * u[j + 1];
    }
}
