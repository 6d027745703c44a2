/* SPDX-License-Identifier: Apache-2.0 */
#include "../unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void qr(int m, int n, double a[m][n], double diagonal[n]);

void
make_qr(bench_problem *p, double scale)
{
    double side = cbrt(scale);
    int m = bench_count(280 * side), n = bench_count(220 * side);
    bench_int(p, "m", m);
    bench_int(p, "n", n);
    bench_seeded(bench_array(p, "a", RG_F64, m, n, -1.0, 1.0));
    bench_output(p, "diagonal", RG_F64, n, 0);
}

void
forward_qr(void *const *data)
{
    qr(INT(0), INT(1), data[2], data[3]);
}

/* Column k becomes v, and columns behind it change by s v^T: rows are walked, so that all is vectors. Returns the diagonal. */
static double
step_forward(int m, int n, int k, double *restrict a, double *restrict v, double *restrict s)
{
    double norm = 0.0;
    for (int i = k; i < m; i++) {
        v[i] = a[i * n + k];
        norm += v[i] * v[i];
    }
    norm = sqrt(norm);
    memset(s, 0, sizeof *s * (size_t)n);
    if (norm == 0.0)
        return -norm;
    if (v[k] < 0.0)
        norm = -norm;
    double inverse = 1.0 / norm;
    for (int i = k; i < m; i++)
        v[i] *= inverse;
    v[k] += 1.0;
    for (int i = k; i < m; i++) {
        a[i * n + k] = v[i];
        for (int j = k + 1; j < n; j++)
            s[j] += v[i] * a[i * n + j];
    }
    for (int j = k + 1; j < n; j++)
        s[j] /= -v[k];
    for (int i = k; i < m; i++)
        for (int j = k + 1; j < n; j++)
            a[i * n + j] += s[j] * v[i];
    return -norm;
}

/* `a` is as it is behind step k, and as before it when this returns. */
static void
step_reverse(int m, int n, int k, double *restrict a, double *restrict a_a, const double *restrict s, double *restrict s_a,
             double *restrict v, double *restrict v_a, double diagonal, double diagonal_a)
{
    if (diagonal == 0.0) /* has no derivative: sqrt's at 0 times 0 */
        return;
    for (int i = k; i < m; i++)
        v[i] = a[i * n + k];
    double inverse = -1.0 / v[k], sum = 0.0;
    memset(s_a, 0, sizeof *s_a * (size_t)n);
    for (int i = k; i < m; i++)
        for (int j = k + 1; j < n; j++)
            s_a[j] += v[i] * a_a[i * n + j];
    #pragma omp simd reduction(+ : sum)
    for (int j = k + 1; j < n; j++) {
        s_a[j] *= inverse; /* of the product of v and column j */
        sum += s_a[j] * s[j];
    }
    for (int i = k; i < m; i++) {
        double own = 0.0;
        #pragma omp simd reduction(+ : own)
        for (int j = k + 1; j < n; j++) {
            a[i * n + j] -= s[j] * v[i];
            own += s[j] * a_a[i * n + j] + s_a[j] * a[i * n + j];
            a_a[i * n + j] += s_a[j] * v[i];
        }
        v_a[i] = own + a_a[i * n + k];
    }
    v_a[k] += sum;
    /* v = column / norm, with 1 added at k; norm = -diagonal */
    double norm = -diagonal, norm_a = 0.0;
    v[k] -= 1.0;
    for (int i = k; i < m; i++)
        norm_a -= v_a[i] * v[i];
    norm_a = norm_a / norm - diagonal_a;
    for (int i = k; i < m; i++) {
        a[i * n + k] = norm * v[i];
        a_a[i * n + k] = v_a[i] / norm + norm_a * v[i];
    }
}

/* Reflections are undone on a copy, so that only what columns were multiplied by is kept. */
void
hand_qr(void *const *data, void *const *adjoint)
{
    int m = INT(0), n = INT(1);
    double *a = data[2], *diagonal = data[3], *a_a = adjoint[2], *diagonal_a = adjoint[3];
    size_t all = (size_t)m * (size_t)n;
    double *s = malloc(sizeof *s * (size_t)(n * n)), *copy = malloc(sizeof *copy * all);
    double *v = malloc(sizeof *v * (size_t)m), *v_a = malloc(sizeof *v_a * (size_t)m), *s_a = malloc(sizeof *s_a * (size_t)n);
    for (int k = 0; k < n; k++)
        diagonal[k] = step_forward(m, n, k, a, v, &s[k * n]);
    memcpy(copy, a, sizeof *a * all);
    for (int k = n - 1; k >= 0; k--) {
        step_reverse(m, n, k, copy, a_a, &s[k * n], s_a, v, v_a, diagonal[k], diagonal_a[k]);
        diagonal_a[k] = 0.0;
    }
    hand_kept = sizeof *s * ((size_t)(n * n) + all);
    free(s);
    free(copy);
    free(v);
    free(v_a);
    free(s_a);
}
