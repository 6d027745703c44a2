/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>

enum { N = 20 };

void lu_pivot(int count, double a[count][N][N], int pivot[count][N], double log_det[count]);

void
make_lu_pivot(bench_problem *p, double scale)
{
    int count = bench_count(2000 * scale);
    bench_int(p, "count", count);
    bench_axes(bench_seeded(bench_array(p, "a", RG_F64, count, N * N, -1.0, 1.0)), N, N);
    bench_array(p, "pivot", RG_I32, count, N, 0.0, 0.0);
    bench_output(p, "log_det", RG_F64, count, 0);
}

void
forward_lu_pivot(void *const *data)
{
    lu_pivot(INT(0), data[1], data[2], data[3]);
}

static void
swap_rows(double *restrict a, double *restrict b)
{
    for (int j = 0; j < N; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

static double
factor(double a[N][N], int pivot[N])
{
    double sum = 0.0;
    for (int k = 0; k < N; k++) {
        int p = k;
        double best = fabs(a[k][k]);
        for (int i = k + 1; i < N; i++)
            if (fabs(a[i][k]) > best) {
                best = fabs(a[i][k]);
                p = i;
            }
        pivot[k] = p;
        if (p != k)
            swap_rows(a[k], a[p]);
        double inverse = 1.0 / a[k][k];
        for (int i = k + 1; i < N; i++) {
            double f = a[i][k] *= inverse;
            #pragma omp simd
            for (int j = k + 1; j < N; j++)
                a[i][j] -= f * a[k][j];
        }
        sum += log(best);
    }
    return sum;
}

/* With rows as they end up, as if they had stood so from the start: all that is needed are the factors. */
static void
factor_reverse(double a[N][N], double a_a[N][N], const int pivot[N], double sum_a)
{
    for (int k = N - 1; k >= 0; k--) {
        double inverse = 1.0 / a[k][k], row_a[N] = {0}, diagonal_a = sum_a * inverse;
        for (int i = k + 1; i < N; i++) {
            double f = a[i][k], f_a = 0.0;
            #pragma omp simd reduction(+ : f_a)
            for (int j = k + 1; j < N; j++) {
                f_a -= a_a[i][j] * a[k][j];
                row_a[j] -= a_a[i][j] * f;
            }
            f_a = (f_a + a_a[i][k]) * inverse;
            a_a[i][k] = f_a;
            diagonal_a -= f_a * f;
        }
        for (int j = k + 1; j < N; j++)
            a_a[k][j] += row_a[j];
        a_a[k][k] += diagonal_a;
    }
    for (int k = N - 1; k >= 0; k--)
        if (pivot[k] != k)
            swap_rows(a_a[k], a_a[pivot[k]]);
}

void
hand_lu_pivot(void *const *data, void *const *adjoint)
{
    int count = INT(0), (*pivot)[N] = data[2];
    double(*a)[N][N] = data[1], *log_det = data[3], (*a_a)[N][N] = adjoint[1], *log_det_a = adjoint[3];
    for (int q = 0; q < count; q++) {
        log_det[q] = factor(a[q], pivot[q]);
        factor_reverse(a[q], a_a[q], pivot[q], log_det_a[q]);
        log_det_a[q] = 0.0;
    }
    hand_kept = 0;
}
