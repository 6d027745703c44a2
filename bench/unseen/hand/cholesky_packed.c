/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>

enum { N = 24, PACKED = N * (N + 1) / 2 };

void cholesky_packed(int count, const double a[count][PACKED], const double x[count][N], double density[count]);

void
make_cholesky_packed(bench_problem *p, double scale)
{
    int count = bench_count(1600 * scale);
    bench_int(p, "count", count);
    double *a = bench_array(p, "a", RG_F64, count, PACKED, -0.5, 0.5)->initial;
    for (int q = 0; q < count; q++)
        for (int i = 0; i < N; i++)
            a[q * PACKED + i * (i + 3) / 2] += 8.0;
    bench_array(p, "x", RG_F64, count, N, -1.0, 1.0);
    bench_output(p, "density", RG_F64, count, 0);
}

void
forward_cholesky_packed(void *const *data)
{
    cholesky_packed(INT(0), data[1], data[2], data[3]);
}

/* In full rows, whose subscripts cost nothing. */
static void
factor(const double *a, double l[N][N], double inverse[N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            #pragma omp simd reduction(+ : sum)
            for (int k = 0; k < j; k++)
                sum += l[i][k] * l[j][k];
            sum = a[i * (i + 1) / 2 + j] - sum;
            if (i == j) {
                l[i][i] = sqrt(sum);
                inverse[i] = 1.0 / l[i][i];
            } else {
                l[i][j] = sum * inverse[j];
            }
        }
}

void
hand_cholesky_packed(void *const *data, void *const *adjoint)
{
    int count = INT(0);
    const double *all_a = data[1], *all_x = data[2];
    double *density = data[3], *all_a_a = adjoint[1], *all_x_a = adjoint[2], *density_a = adjoint[3];
    hand_kept = 0;
    for (int q = 0; q < count; q++) {
        const double *x = &all_x[q * N];
        double *a_a = &all_a_a[q * PACKED], *x_a = &all_x_a[q * N];
        double l[N][N], l_a[N][N], inverse[N], z[N], z_a[N], log_det = 0.0, square = 0.0;
        factor(&all_a[q * PACKED], l, inverse);
        for (int i = 0; i < N; i++) {
            double sum = 0.0;
            #pragma omp simd reduction(+ : sum)
            for (int k = 0; k < i; k++)
                sum += l[i][k] * z[k];
            z[i] = (x[i] - sum) * inverse[i];
            square += z[i] * z[i];
            log_det += log(l[i][i]);
        }
        density[q] = -0.5 * square - log_det;
        double d_a = density_a[q];
        density_a[q] = 0.0;
        for (int i = 0; i < N; i++)
            z_a[i] = -z[i] * d_a;
        for (int i = N - 1; i >= 0; i--) {
            double s = z_a[i] * inverse[i];
            for (int k = 0; k < i; k++) {
                l_a[i][k] = -s * z[k];
                z_a[k] -= s * l[i][k];
            }
            l_a[i][i] = -s * z[i] - d_a * inverse[i];
            x_a[i] += s;
        }
        for (int i = N - 1; i >= 0; i--)
            for (int j = i; j >= 0; j--) {
                if (i == j) {
                    double s = 0.5 * l_a[i][i] * inverse[i];
                    for (int k = 0; k < i; k++)
                        l_a[i][k] -= 2.0 * s * l[i][k];
                    a_a[i * (i + 1) / 2 + i] += s;
                    continue;
                }
                double s = l_a[i][j] * inverse[j];
                l_a[j][j] -= s * l[i][j];
                for (int k = 0; k < j; k++) {
                    l_a[i][k] -= s * l[j][k];
                    l_a[j][k] -= s * l[i][k];
                }
                a_a[i * (i + 1) / 2 + j] += s;
            }
    }
}
