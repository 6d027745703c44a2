/* See problem.h. SPDX-License-Identifier: Apache-2.0 */
#include "problem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state;

void
bench_seed(uint64_t seed)
{
    random_state = seed;
}

double
bench_uniform(double lo, double hi)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(random_state >> 11) * 0x1p-53;
}

static void
set(void *data, rg_dtype dtype, size_t i, double value)
{
    if (dtype == RG_I32)
        ((int *)data)[i] = (int)value;
    else if (dtype == RG_F32)
        ((float *)data)[i] = (float)value;
    else
        ((double *)data)[i] = value;
}

static bench_param *
param(bench_problem *p, const char *name, rg_dtype dtype, size_t count)
{
    assert(p->count < BENCH_PARAMS && "raise BENCH_PARAMS");
    bench_param *q = &p->params[p->count++];
    size_t size = rg_dtype_size(dtype);
    *q = (bench_param){.name = name, .dtype = dtype, .count = count};
    q->initial = calloc(count, size);
    q->data = calloc(count, size);
    if (dtype != RG_I32) {
        q->seed = calloc(count, size);
        q->adjoint = calloc(count, size);
    }
    return q;
}

static void
scalar(bench_problem *p, const char *name, rg_dtype dtype, double value)
{
    bench_param *q = param(p, name, dtype, 1);
    q->scalar = true;
    set(q->initial, dtype, 0, value);
}

void
bench_int(bench_problem *p, const char *name, int value)
{
    scalar(p, name, RG_I32, value);
}

void
bench_real(bench_problem *p, const char *name, double value)
{
    scalar(p, name, RG_F64, value);
}

void
bench_single(bench_problem *p, const char *name, float value)
{
    scalar(p, name, RG_F32, value);
}

bench_param *
bench_array(bench_problem *p, const char *name, rg_dtype dtype, int64_t rows, int64_t columns, double lo,
            double hi)
{
    bench_param *q = param(p, name, dtype, (size_t)(rows * (columns ? columns : 1)));
    q->rank = columns ? 2 : 1;
    q->shape[0] = rows;
    q->shape[1] = columns;
    for (size_t i = 0; i < q->count; i++)
        set(q->initial, dtype, i, bench_uniform(lo, hi));
    return q;
}

bench_param *
bench_seeded(bench_param *q)
{
    for (size_t i = 0; i < q->count; i++)
        set(q->seed, q->dtype, i, 0.5 + fmod(0.6180339887498949 * (double)i, 1.0));
    return q;
}

bench_param *
bench_output(bench_problem *p, const char *name, rg_dtype dtype, int64_t rows, int64_t columns)
{
    return bench_seeded(bench_array(p, name, dtype, rows, columns, 0.0, 0.0));
}

void
bench_axes(bench_param *q, int64_t second, int64_t third)
{
    assert(q->shape[1] == second * third && "the columns");
    q->rank = 3;
    q->shape[1] = second;
    q->shape[2] = third;
}

int
bench_count(double n)
{
    return n < 1.0 ? 1 : (int)n;
}

void
bench_problem_free(bench_problem *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        free(p->params[k].initial);
        free(p->params[k].seed);
        free(p->params[k].data);
        free(p->params[k].adjoint);
    }
    p->count = 0;
}

void
bench_problem_reset(bench_problem *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        bench_param *q = &p->params[k];
        size_t bytes = q->count * rg_dtype_size(q->dtype);
        memcpy(q->data, q->initial, bytes);
        if (q->adjoint)
            memcpy(q->adjoint, q->seed, bytes);
    }
}
