/* See problems.h. SPDX-License-Identifier: Apache-2.0 */
#include "adjoints.h"
#include "problems.h"

#include <math.h>
#include <stdlib.h>

static void
make_deep(bench_problem *p, double scale)
{
    int n = (int)(512 * scale);
    bench_int(p, "n", n);
    bench_int(p, "steps", 1024);
    bench_array(p, "x", RG_F32, n, 0, 0.5, 2.5);
    bench_output(p, "y", RG_F32, n, 0);
}

static void
make_ragged(bench_problem *p, double scale)
{
    int n = (int)(1024 * scale);
    bench_int(p, "n", n);
    bench_array(p, "steps", RG_I32, n, 0, 1.0, 1025.0);
    bench_array(p, "x", RG_F32, n, 0, 0.5, 3.0);
    bench_output(p, "y", RG_F32, n, 0);
}

static void
make_csr(bench_problem *p, double scale)
{
    int rows = (int)(20000 * scale);
    bench_param *start;
    bench_int(p, "rows", rows);
    bench_int(p, "nnz", 0);
    bench_real(p, "cap", 12.0);
    start = bench_array(p, "start", RG_I32, rows + 1, 0, 0.0, 49.0);
    int *at = start->initial, sum = 0;
    for (int i = 0; i <= rows; i++) {
        int length = at[i];
        at[i] = sum;
        sum += length;
    }
    int nnz = at[rows];
    *(int *)p->params[1].initial = nnz;
    bench_array(p, "column", RG_I32, nnz, 0, 0.0, rows);
    bench_array(p, "value", RG_F64, nnz, 0, 0.0, 1.0);
    bench_array(p, "x", RG_F64, rows, 0, 0.0, 2.0);
    bench_output(p, "y", RG_F64, rows, 0);
}

static void
make_newton(bench_problem *p, double scale)
{
    int n = (int)(50000 * scale);
    bench_int(p, "n", n);
    bench_array(p, "x", RG_F64, n, 0, 0.2, 5.0);
    bench_output(p, "y", RG_F64, n, 0);
}

static void
make_adaptive(bench_problem *p, double scale)
{
    int n = (int)(4000 * scale);
    bench_int(p, "n", n);
    bench_array(p, "x", RG_F64, n, 0, -1.0, 2.0);
    bench_real(p, "rate", 1.5);
    bench_output(p, "y", RG_F64, n, 0);
}

static void
make_lstm(bench_problem *p, double scale)
{
    int n = (int)(200 * scale), length = 256;
    bench_int(p, "n", n);
    bench_int(p, "length", length);
    bench_array(p, "x", RG_F64, n, length, -1.0, 1.0);
    bench_array(p, "w", RG_F64, 12, 0, -0.2, 1.2);
    bench_output(p, "y", RG_F64, n, 0);
}

static void
make_cholesky(bench_problem *p, double scale)
{
    int n = (int)(8000 * scale);
    bench_int(p, "n", n);
    double *a = bench_array(p, "a", RG_F64, n, 36, -0.5, 0.5)->initial;
    for (int i = 0; i < n; i++)
        for (int r = 0; r < 8; r++)
            a[36 * i + r * (r + 3) / 2] += 5.0;
    bench_array(p, "b", RG_F64, n, 8, -1.0, 1.0);
    bench_output(p, "y", RG_F64, n, 0);
}

static void
make_springs(bench_problem *p, double scale)
{
    int n = (int)(4096 * scale);
    bench_int(p, "n", n);
    bench_int(p, "steps", 200);
    bench_real(p, "stiffness", 1.5);
    bench_seeded(bench_array(p, "x", RG_F64, n, 0, -0.3, 0.3));
    bench_seeded(bench_array(p, "v", RG_F64, n, 0, -0.1, 0.1));
}

static void
make_bodies(bench_problem *p, double scale)
{
    int n = (int)(600 * sqrt(scale));
    bench_int(p, "n", n);
    bench_array(p, "x", RG_F64, n, 3, -1.0, 1.0);
    bench_array(p, "mass", RG_F64, n, 0, 0.5, 1.5);
    bench_output(p, "a", RG_F64, n, 3);
}

static void
make_trace(bench_problem *p, double scale)
{
    int n = (int)(4096 * scale);
    bench_int(p, "n", n);
    double *d = bench_array(p, "direction", RG_F64, n, 3, -0.4, 0.4)->initial;
    for (int i = 0; i < n; i++) {
        double *v = &d[3 * i], length = sqrt(v[0] * v[0] + v[1] * v[1] + 1.0);
        v[0] /= length;
        v[1] /= length;
        v[2] = 1.0 / length;
    }
    double *s = bench_array(p, "sphere", RG_F64, 4, 4, -0.8, 0.8)->initial;
    for (int i = 0; i < 4; i++) {
        s[4 * i + 2] += 3.5;
        s[4 * i + 3] = 0.4 + 0.1 * i;
    }
    bench_output(p, "depth", RG_F64, n, 0);
}

static void
make_horner(bench_problem *p, double scale)
{
    int n = (int)(20000 * scale), degree = 64;
    bench_int(p, "n", n);
    bench_int(p, "degree", degree);
    bench_array(p, "c", RG_F64, degree + 1, 0, -1.0, 1.0);
    bench_array(p, "x", RG_F64, n, 0, -1.0, 1.0);
    bench_output(p, "y", RG_F64, n, 0);
}

static void
make_weights(bench_problem *p, double scale)
{
    int n = (int)(2000 * scale), m = 1000;
    bench_int(p, "n", n);
    bench_int(p, "m", m);
    bench_array(p, "x", RG_F32, n, m, -0.1, 0.1);
    bench_array(p, "w", RG_F32, m, 0, -1.0, 1.0);
    bench_output(p, "y", RG_F32, n, 0);
}

static const struct {
    const char *kernel, *title;
    hand_adjoint *hand;
    void (*make)(bench_problem *p, double scale);
    double tolerance;
} table[BENCH_PROBLEMS] = {
    {"deep", "deep recurrence, f32", hand_deep, make_deep, 1e-4},
    {"ragged", "ragged recurrence, f32", hand_ragged, make_ragged, 1e-4},
    {"csr", "ragged CSR with break", hand_csr, make_csr, 1e-12},
    {"newton", "Newton while", hand_newton, make_newton, 1e-11},
    {"adaptive", "adaptive ODE step", hand_adaptive, make_adaptive, 1e-9},
    {"lstm", "LSTM cell chain", hand_lstm, make_lstm, 1e-11},
    {"cholesky", "Cholesky in local arrays", hand_cholesky, make_cholesky, 1e-11},
    {"springs", "mass-spring, time loop", hand_springs, make_springs, 1e-11},
    {"bodies", "n-body", hand_bodies, make_bodies, 1e-11},
    {"trace", "sphere tracing", hand_trace, make_trace, 1e-9},
    {"horner", "Horner", hand_horner, make_horner, 1e-11},
    {"weights", "shared weights, f32", hand_weights, make_weights, 1e-4},
};

void
bench_problem_make(bench_problem *p, unsigned k, double scale)
{
    bench_seed(12345 + k);
    *p = (bench_problem){.kernel = table[k].kernel,
                         .title = table[k].title,
                         .hand = table[k].hand,
                         .tolerance = table[k].tolerance};
    table[k].make(p, scale);
}
