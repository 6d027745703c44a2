/* See problem.h. SPDX-License-Identifier: Apache-2.0 */
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const spread_names[3] = {"uniform", "ragged", "1 in 1000"};

static uint64_t state;

void
problem_seed(uint64_t seed)
{
    state = seed;
}

static uint32_t
next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

float
problem_between(double lo, double hi)
{
    return (float)(lo + (hi - lo) * (double)next() * 0x1p-32);
}

static problem_param *
add(problem *p, param_kind kind)
{
    problem_param *q = &p->params[p->count++];
    *q = (problem_param){.kind = kind};
    return q;
}

void
problem_int(problem *p, int value)
{
    add(p, PARAM_INT)->scalar = value;
}

void
problem_real(problem *p, double value)
{
    add(p, PARAM_REAL)->scalar = value;
}

problem_param *
problem_array(problem *p, param_kind kind, int64_t rows, int64_t columns)
{
    problem_param *q = add(p, kind);
    q->rank = columns ? 2 : 1;
    q->shape[0] = rows;
    q->shape[1] = columns;
    q->count = (size_t)(rows * (columns ? columns : 1));
    q->initial = calloc(q->count + 1, 4);
    return q;
}

float *
problem_input(problem *p, int64_t rows, int64_t columns, double lo, double hi)
{
    problem_param *q = problem_array(p, PARAM_FLOATS, rows, columns);
    float *v = q->initial;
    for (size_t i = 0; i < q->count; i++)
        v[i] = problem_between(lo, hi);
    q->seed = calloc(q->count + 1, sizeof(float));
    return v;
}

void
problem_output(problem *p, int64_t rows, int64_t columns)
{
    problem_param *q = problem_array(p, PARAM_FLOATS, rows, columns);
    q->output = true;
    q->seed = malloc((q->count + 1) * sizeof(float));
    for (size_t i = 0; i < q->count; i++)
        q->seed[i] = problem_between(0.5, 1.5);
}

float *
problem_state(problem *p, int64_t rows, int64_t columns, double lo, double hi)
{
    problem_output(p, rows, columns);
    problem_param *q = &p->params[p->count - 1];
    float *v = q->initial;
    for (size_t i = 0; i < q->count; i++)
        v[i] = problem_between(lo, hi);
    return v;
}

void
problem_axes(problem *p, int64_t second, int64_t third)
{
    problem_param *q = &p->params[p->count - 1];
    q->rank = 3;
    q->shape[1] = second;
    q->shape[2] = third;
}

void
problem_drop_adjoint(problem *p)
{
    problem_param *q = &p->params[p->count - 1];
    free(q->seed);
    q->seed = NULL;
}

void
problem_recurrence(problem *p, const char *kernel, int n, int most, spread how)
{
    problem_seed(7);
    *p = (problem){.kernel = kernel, .title = kernel, .tolerance = 1e-3, .threads = n};
    problem_int(p, n);
    int *steps = problem_array(p, PARAM_INTS, n, 0)->initial;
    for (int i = 0; i < n; i++) {
        int any = 1 + (int)(next() % (unsigned)most), few = 1 + (int)(next() % 32);
        bool rare = next() % 1000 == 0;
        steps[i] = how == SPREAD_UNIFORM || (how == SPREAD_RARE && rare) ? most : how == SPREAD_RAGGED ? any : few;
    }
    problem_input(p, n, 0, 0.0, 1.0);
    problem_output(p, n, 0);
}

static void
make_lattice(problem *p, double scale)
{
    int side = (int)(2048 * sqrt(scale)), n = side * side;
    static const float rest[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
    p->title = "LBM step, D2Q9";
    p->threads = n;
    p->tolerance = 1e-4;
    p->primal_bytes = 72.0 * n;
    p->gradient_bytes = 180.0 * n;
    problem_int(p, side);
    problem_int(p, side);
    problem_real(p, 1.2);
    float *f = problem_input(p, 9, n, 0.9, 1.1);
    for (int k = 0; k < 9; k++)
        for (int i = 0; i < n; i++)
            f[k * n + i] *= rest[k];
    problem_output(p, 9, n);
}

static void
make_cloth(problem *p, double scale)
{
    enum { SPHERES = 8 };
    int side = (int)(1024 * sqrt(scale)), n = side * side;
    p->title = "mass-spring, collisions";
    p->threads = n;
    p->tolerance = 1e-2;
    p->primal_bytes = 48.0 * n;
    p->gradient_bytes = 120.0 * n;
    problem_int(p, side);
    problem_int(p, side);
    problem_int(p, SPHERES);
    float *s = problem_input(p, SPHERES, 4, 0.0, 1.0);
    for (int k = 0; k < SPHERES; k++, s += 4) {
        s[0] = (0.2f + 0.6f * s[0]) * (float)side;
        s[1] = (0.2f + 0.6f * s[1]) * (float)side;
        s[3] = (0.1f + 0.15f * s[3]) * (float)side;
        s[2] = (s[2] - 0.9f) * s[3];
    }
    problem_drop_adjoint(p);
    float *x = problem_input(p, 3, n, -0.2, 0.2);
    for (int i = 0; i < n; i++) {
        x[i] += (float)(i / side);
        x[n + i] += (float)(i % side);
    }
    problem_input(p, 3, n, -1.0, 1.0);
    problem_output(p, 3, n);
    problem_output(p, 3, n);
}

static void
make_messages(problem *p, double scale)
{
    int nodes = (int)(1048576 * scale), sum = 0;
    const float cap = 12.0f;
    p->title = "CSR messages with break";
    p->threads = nodes;
    p->tolerance = 1e-2;
    problem_int(p, nodes);
    problem_int(p, 0);
    problem_real(p, cap);
    int *start = problem_array(p, PARAM_INTS, nodes + 1, 0)->initial;
    for (int i = 0; i <= nodes; i++) {
        start[i] = sum;
        sum += (int)(next() % 49);
    }
    int edges = start[nodes];
    p->params[1].scalar = edges;
    int *from = problem_array(p, PARAM_INTS, edges, 0)->initial;
    for (int j = 0; j < edges; j++)
        from[j] = (int)(next() % (unsigned)nodes);
    float *weight = problem_input(p, edges, 0, 0.0, 1.0), *x = problem_input(p, nodes, 0, 0.0, 2.0);
    problem_output(p, nodes, 0);
    double taken = 0.0;
    for (int i = 0; i < nodes; i++) {
        float s = 0.0f;
        for (int j = start[i]; j < start[i + 1] && s <= cap; j++) {
            s += weight[j] * x[from[j]];
            taken++;
        }
    }
    p->primal_bytes = 12.0 * nodes + 8.0 * taken;
    p->gradient_bytes = 24.0 * nodes + 16.0 * taken;
}

/* Rays that pass close by have gradients up to 10^6, so a single one that ends at another step may change all adjoints' norm by
 * several percent: with expf off by one in the last place, ray 336812 by 6.4e-2. At equal steps all agree with differences. */
static void
make_trace(problem *p, double scale)
{
    int n = (int)(1048576 * scale);
    p->title = "sphere tracing";
    p->threads = n;
    p->touchy = true;
    p->tolerance = 1e-2;
    p->primal_bytes = 16.0 * n;
    p->gradient_bytes = 44.0 * n;
    problem_int(p, n);
    float *d = problem_input(p, 3, n, -0.4, 0.4);
    for (int i = 0; i < n; i++) {
        float length = sqrtf(d[i] * d[i] + d[n + i] * d[n + i] + 1.0f);
        d[i] /= length;
        d[n + i] /= length;
        d[2 * n + i] = 1.0f / length;
    }
    float *s = problem_input(p, 4, 4, -0.8, 0.8);
    for (int k = 0; k < 4; k++) {
        s[4 * k + 2] += 3.5f;
        s[4 * k + 3] = 0.4f + 0.1f * (float)k;
    }
    problem_output(p, n, 0);
}

static void
make_lstm(problem *p, double scale)
{
    int n = (int)(1048576 * scale), length = 64;
    p->title = "LSTM over sequences";
    p->threads = n;
    p->tolerance = 1e-3;
    p->primal_bytes = 4.0 * (length + 1) * n;
    p->gradient_bytes = (12.0 * length + 8) * n;
    problem_int(p, n);
    problem_int(p, length);
    problem_input(p, length, n, -1.0, 1.0);
    problem_input(p, 12, 0, -0.2, 1.2);
    problem_output(p, n, 0);
}

static void
make_mixture(problem *p, double scale)
{
    int n = (int)(1048576 * scale);
    p->title = "GMM log densities";
    p->threads = n;
    p->tolerance = 1e-3;
    p->primal_bytes = 20.0 * n;
    p->gradient_bytes = 56.0 * n;
    problem_int(p, n);
    problem_input(p, 4, n, -2.0, 2.0);
    problem_input(p, 8, 0, -1.0, 1.0);
    problem_input(p, 8, 4, -1.0, 1.0);
    float *q = problem_input(p, 8, 10, -0.5, 0.5);
    for (int c = 0; c < 8; c++)
        for (int row = 0; row < 4; row++)
            q[10 * c + row * (row + 3) / 2] += 1.0f;
    problem_output(p, n, 0);
}

void
problem_make(problem *p, unsigned which, double scale)
{
    static const struct {
        const char *kernel;
        void (*make)(problem *p, double scale);
    } table[PROBLEMS] = {{"lattice", make_lattice}, {"cloth", make_cloth}, {"messages", make_messages},
                         {"trace", make_trace},     {"lstm", make_lstm},   {"mixture", make_mixture}};
    problem_seed(12345 + which);
    *p = (problem){.kernel = table[which].kernel};
    table[which].make(p, scale);
}

void
problem_empty(problem *p)
{
    *p = (problem){.kernel = "empty", .title = "empty", .threads = 1};
    problem_int(p, 1);
}

void
problem_free(problem *p)
{
    for (unsigned k = 0; k < p->count; k++) {
        free(p->params[k].initial);
        free(p->params[k].seed);
    }
    p->count = 0;
}
