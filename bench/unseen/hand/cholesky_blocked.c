/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>

enum { BLOCK = 32 };

void cholesky_blocked(int n, double a[n][n]);

void
make_cholesky_blocked(bench_problem *p, double scale)
{
    int n = bench_count(400 * cbrt(scale));
    bench_int(p, "n", n);
    double *a = bench_seeded(bench_array(p, "a", RG_F64, n, n, -0.5, 0.5))->initial;
    for (int i = 0; i < n; i++)
        a[i * n + i] += 3.0 * sqrt(n);
}

void
forward_cholesky_blocked(void *const *data)
{
    cholesky_blocked(INT(0), data[1]);
}

static double
dot(const double *restrict a, const double *restrict b, int n)
{
    double sum = 0.0;
    #pragma omp simd reduction(+ : sum)
    for (int k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Element j of row i, of which j - 1 ones are done; `from` is the block's first column. */
static void
solve(double *row, const double *pivot, int from, int j)
{
    row[j] = (row[j] - dot(&row[from], &pivot[from], j - from)) / pivot[j];
}

/* Its reverse: consumes row_a[j], which becomes the adjoint of what stood there. */
static void
solve_reverse(const double *row, const double *pivot, double *restrict row_a, double *restrict pivot_a, int from, int j)
{
    double s = row_a[j] / pivot[j];
    pivot_a[j] -= s * row[j];
    #pragma omp simd
    for (int p = from; p < j; p++) {
        row_a[p] -= s * pivot[p];
        pivot_a[p] -= s * row[p];
    }
    row_a[j] = s;
}

static void
forward(int n, double *a)
{
    for (int k = 0; k < n; k += BLOCK) {
        int end = k + BLOCK < n ? k + BLOCK : n, wide = end - k;
        for (int j = k; j < end; j++) {
            double *row = &a[j * n];
            row[j] = sqrt(row[j] - dot(&row[k], &row[k], j - k));
            for (int i = j + 1; i < end; i++)
                solve(&a[i * n], row, k, j);
        }
        for (int i = end; i < n; i++)
            for (int j = k; j < end; j++)
                solve(&a[i * n], &a[j * n], k, j);
        for (int i = end; i < n; i++)
            for (int j = end; j <= i; j++)
                a[i * n + j] -= dot(&a[i * n + k], &a[j * n + k], wide);
    }
}

/* All that the reverse reads is the factor. */
void
hand_cholesky_blocked(void *const *data, void *const *adjoint)
{
    int n = INT(0);
    double *a = data[1], *a_a = adjoint[1];
    forward(n, a);
    for (int k = (n - 1) / BLOCK * BLOCK; k >= 0; k -= BLOCK) {
        int end = k + BLOCK < n ? k + BLOCK : n;
        for (int i = end; i < n; i++) {
            double own[BLOCK] = {0};
            const double *row = &a[i * n + k];
            for (int j = end; j <= i; j++) {
                const double *other = &a[j * n + k];
                double g = a_a[i * n + j], *restrict other_a = &a_a[j * n + k];
                #pragma omp simd
                for (int p = 0; p < BLOCK; p++) {
                    own[p] += g * other[p];
                    other_a[p] -= g * row[p];
                }
            }
            for (int p = 0; p < BLOCK; p++)
                a_a[i * n + k + p] -= own[p];
        }
        for (int i = n - 1; i >= end; i--)
            for (int j = end - 1; j >= k; j--)
                solve_reverse(&a[i * n], &a[j * n], &a_a[i * n], &a_a[j * n], k, j);
        for (int j = end - 1; j >= k; j--) {
            const double *row = &a[j * n];
            double *row_a = &a_a[j * n];
            for (int i = end - 1; i > j; i--)
                solve_reverse(&a[i * n], row, &a_a[i * n], row_a, k, j);
            double s = 0.5 * row_a[j] / row[j];
            for (int p = k; p < j; p++)
                row_a[p] -= 2.0 * s * row[p];
            row_a[j] = s;
        }
    }
    hand_kept = 0;
}
