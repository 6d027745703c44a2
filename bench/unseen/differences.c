/* See unseen.h. SPDX-License-Identifier: Apache-2.0 */
#include "unseen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double
get(const void *data, rg_dtype dtype, size_t i)
{
    return dtype == RG_F32 ? ((const float *)data)[i] : ((const double *)data)[i];
}

static void
put(void *data, rg_dtype dtype, size_t i, double value)
{
    if (dtype == RG_F32)
        ((float *)data)[i] = (float)value;
    else
        ((double *)data)[i] = value;
}

/* The outputs, weighted by their seeds, of the C compiler's kernel. */
static long double
loss(bench_problem *p)
{
    long double sum = 0.0L;
    bench_time_forward(p);
    for (uint32_t k = 0; k < p->count; k++) {
        const bench_param *q = &p->params[k];
        for (size_t i = 0; q->adjoint && i < q->count; i++)
            sum += (long double)get(q->seed, q->dtype, i) * get(q->data, q->dtype, i);
    }
    return sum;
}

/* Along `direction`, from losses at two distances on each side. */
static double
difference(bench_problem *p, bench_param *q, const double *direction, double h)
{
    static const double at[4] = {1.0, -1.0, 2.0, -2.0}, weight[4] = {2.0 / 3.0, -2.0 / 3.0, -1.0 / 12.0, 1.0 / 12.0};
    long double sum = 0.0L;
    double *was = malloc(q->count * sizeof *was);
    for (size_t i = 0; i < q->count; i++)
        was[i] = get(q->initial, q->dtype, i);
    for (int s = 0; s < 4; s++) {
        for (size_t i = 0; i < q->count; i++)
            put(q->initial, q->dtype, i, was[i] + at[s] * h * direction[i]);
        sum += weight[s] * loss(p);
    }
    for (size_t i = 0; i < q->count; i++)
        put(q->initial, q->dtype, i, was[i]);
    free(was);
    return (double)(sum / h);
}

bool
unseen_differences(prepared *run, bench_problem *p)
{
    bool good = true;
    double *hand[BENCH_PARAMS] = {0}, *ours[BENCH_PARAMS] = {0};
    for (uint32_t k = 0; k < p->count; k++) {
        bench_param *q = &p->params[k];
        if (!q->adjoint)
            continue;
        size_t bytes = q->count * rg_dtype_size(q->dtype);
        void *copy = malloc(bytes);
        hand[k] = calloc(2 * q->count, sizeof(double));
        ours[k] = hand[k] + q->count;
        bench_check(rg_array_read(run->queue, run->arrays[k], RG_ADJOINT, copy, bytes), q->name);
        for (size_t i = 0; i < q->count; i++) {
            hand[k][i] = get(q->adjoint, q->dtype, i);
            ours[k][i] = get(copy, q->dtype, i);
        }
        free(copy);
    }
    for (uint32_t k = 0; k < p->count; k++) {
        bench_param *q = &p->params[k];
        if (!q->adjoint)
            continue;
        double step = q->dtype == RG_F32 ? 1e-2 : 1e-6, tolerance = q->dtype == RG_F32 ? 1e-2 : 1e-6;
        double *direction = malloc(q->count * sizeof *direction), by_hand = 0.0, by_us = 0.0, size = 0.0, largest = 0.0;
        for (size_t i = 0; i < q->count; i++) {
            double u = bench_uniform(-1.0, 1.0);
            /* the zeros of inputs say that something is not there */
            direction[i] = get(q->initial, q->dtype, i) == 0.0 && get(q->seed, q->dtype, i) == 0.0 ? 0.0 : u;
            by_hand += hand[k][i] * direction[i];
            by_us += ours[k][i] * direction[i];
            size = fmax(size, fabs(hand[k][i]));
            largest = fmax(largest, fabs(get(q->initial, q->dtype, i)));
        }
        double d = difference(p, q, direction, step * (largest > 0.0 ? largest : 1.0)), off = fmax(fabs(d - by_hand), fabs(d - by_us));
        bool agree = off <= tolerance * (size + fabs(d));
        printf("    %-12s differences %14.7e, by hand %14.7e, ours %14.7e%s\n", q->name, d, by_hand, by_us,
               agree ? "" : " WRONG");
        good &= agree;
        free(direction);
        free(hand[k]);
    }
    return good;
}
