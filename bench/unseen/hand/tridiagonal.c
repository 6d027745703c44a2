/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <stdlib.h>

void tridiagonal(int rows, int n, const double *a, const double *b, const double *c, const double *d, double *x);

void
make_tridiagonal(bench_problem *p, double scale)
{
    int rows = bench_count(2500 * scale), n = 256;
    bench_int(p, "rows", rows);
    bench_int(p, "n", n);
    bench_array(p, "a", RG_F64, rows * n, 0, -1.0, 1.0);
    bench_array(p, "b", RG_F64, rows * n, 0, 2.5, 4.0);
    bench_array(p, "c", RG_F64, rows * n, 0, -1.0, 1.0);
    bench_array(p, "d", RG_F64, rows * n, 0, -1.0, 1.0);
    bench_output(p, "x", RG_F64, rows * n, 0);
}

void
forward_tridiagonal(void *const *data)
{
    tridiagonal(INT(0), INT(1), data[2], data[3], data[4], data[5], data[6]);
}

/* The adjoint of the right side solves the transposed system, with the same factors. */
void
hand_tridiagonal(void *const *data, void *const *adjoint)
{
    int rows = INT(0), n = INT(1);
    double *gamma = malloc(sizeof *gamma * 2 * (size_t)n), *inverse = gamma + n;
    for (int r = 0; r < rows; r++) {
        const double *restrict a = (const double *)data[2] + r * n, *restrict b = (const double *)data[3] + r * n;
        const double *restrict c = (const double *)data[4] + r * n, *restrict d = (const double *)data[5] + r * n;
        double *restrict x = (double *)data[6] + r * n, *restrict g = (double *)adjoint[6] + r * n;
        double *restrict a_a = (double *)adjoint[2] + r * n, *restrict b_a = (double *)adjoint[3] + r * n;
        double *restrict c_a = (double *)adjoint[4] + r * n, *restrict d_a = (double *)adjoint[5] + r * n;
        inverse[0] = 1.0 / b[0];
        x[0] = d[0] * inverse[0];
        for (int j = 1; j < n; j++) {
            gamma[j] = c[j - 1] * inverse[j - 1];
            inverse[j] = 1.0 / (b[j] - a[j] * gamma[j]);
            x[j] = (d[j] - a[j] * x[j - 1]) * inverse[j];
        }
        for (int j = n - 2; j >= 0; j--)
            x[j] -= gamma[j + 1] * x[j + 1];
        for (int j = 1; j < n; j++)
            g[j] -= gamma[j] * g[j - 1];
        g[n - 1] *= inverse[n - 1];
        for (int j = n - 2; j >= 0; j--)
            g[j] = (g[j] - a[j + 1] * g[j + 1]) * inverse[j];
        for (int j = 1; j < n; j++) {
            a_a[j] -= g[j] * x[j - 1];
            c_a[j - 1] -= g[j - 1] * x[j];
        }
        for (int j = 0; j < n; j++) {
            b_a[j] -= g[j] * x[j];
            d_a[j] += g[j];
            g[j] = 0.0;
        }
    }
    hand_kept = sizeof *gamma * 2 * (size_t)n;
    free(gamma);
}
