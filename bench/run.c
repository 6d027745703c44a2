/* See run.h. SPDX-License-Identifier: Apache-2.0 */
#include "../tests/queue.h"
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

size_t hand_kept;

/* With one thread, this thread's processor time: what else runs on the machine does not count. */
static clockid_t clock_used = CLOCK_MONOTONIC;

void
bench_choose_clock(void)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    if (threads && strcmp(threads, "1") == 0)
        clock_used = CLOCK_THREAD_CPUTIME_ID;
}

double
bench_now(void)
{
    struct timespec t;
    clock_gettime(clock_used, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

void
bench_check(rg_status status, const char *what)
{
    if (status == RG_OK)
        return;
    fprintf(stderr, "bench: %s: %s: %s\n", what, rg_status_name(status), rg_error_message());
    exit(1);
}

static double
element(const void *data, rg_dtype dtype, size_t i)
{
    return dtype == RG_F32 ? ((const float *)data)[i] : ((const double *)data)[i];
}

void
bench_prepare(prepared *run, const bench_problem *p, const char *file)
{
    *run = (prepared){0};
    bench_check(queue_open("cpu", NULL, &run->queue), "queue");
    bench_check(rg_module_load(rg_str_of(file), NULL, &run->module), file);
    bench_check(rg_module_get_kernel(run->module, rg_str_of(p->kernel), &run->kernel), p->kernel);
    bench_check(rg_args_create(run->queue, run->kernel, &run->args), "args");
    for (uint32_t k = 0; k < p->count; k++) {
        const bench_param *q = &p->params[k];
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = q->dtype, .rank = q->rank, .adjoint = q->adjoint != NULL);
        memcpy(desc.shape, q->shape, sizeof q->shape);
        if (q->scalar && q->dtype == RG_I32) {
            bench_check(rg_args_set_int_at(run->args, k, *(int *)q->initial), q->name);
            continue;
        }
        bench_check(rg_array_create(run->queue, &desc, &run->arrays[k]), q->name);
        if (!q->scalar) {
            bench_check(rg_args_set_array_at(run->args, k, run->arrays[k]), q->name);
            continue;
        }
        bench_check(rg_args_set_float_at(run->args, k, element(q->initial, q->dtype, 0)), q->name);
        bench_check(rg_args_set_companion_at(run->args, k, run->arrays[k]), q->name);
    }
}

void
bench_release(prepared *run)
{
    for (unsigned k = 0; k < BENCH_PARAMS; k++)
        rg_array_destroy(run->arrays[k]);
    rg_args_destroy(run->args);
    rg_module_destroy(run->module);
    rg_queue_destroy(run->queue);
}

void
bench_reset(prepared *run, const bench_problem *p)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const bench_param *q = &p->params[k];
        size_t bytes = q->count * rg_dtype_size(q->dtype);
        if (!run->arrays[k])
            continue;
        if (!q->scalar)
            bench_check(rg_array_write(run->queue, run->arrays[k], RG_PRIMAL, q->initial, bytes), q->name);
        if (q->adjoint)
            bench_check(rg_array_write(run->queue, run->arrays[k], RG_ADJOINT, q->seed, bytes), q->name);
    }
}

/* Largest difference of all primals (last = RG_ADJOINT: and adjoints) from the hand-written
 * version's, relative to the largest component of each. */
double
bench_difference(prepared *run, const bench_problem *p, unsigned last)
{
    double worst = 0.0;
    for (uint32_t k = 0; k < p->count; k++) {
        const bench_param *q = &p->params[k];
        size_t bytes = q->count * rg_dtype_size(q->dtype);
        void *copy = malloc(bytes);
        for (unsigned plane = RG_PRIMAL; q->adjoint && plane <= last; plane++) {
            const void *mine = plane ? q->adjoint : q->data;
            double largest = 0.0, off = 0.0;
            if (q->scalar && plane == RG_PRIMAL)
                continue;
            bench_check(rg_array_read(run->queue, run->arrays[k], plane, copy, bytes), q->name);
            for (size_t i = 0; i < q->count; i++) {
                double a = element(mine, q->dtype, i), d = fabs(a - element(copy, q->dtype, i));
                largest = fmax(largest, fabs(a));
                off = isnan(d) ? INFINITY : fmax(off, d);
            }
            worst = fmax(worst, largest > 0.0 ? off / largest : off);
        }
        free(copy);
    }
    return worst;
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double
bench_median(double *times, unsigned n)
{
    qsort(times, n, sizeof *times, compare_doubles);
    return n % 2 ? times[n / 2] : 0.5 * (times[n / 2 - 1] + times[n / 2]);
}

double
bench_time_launch(prepared *run, const bench_problem *p, rg_form form)
{
    bench_reset(run, p);
    double start = bench_now();
    bench_check(rg_launch(run->queue, run->args, form), p->kernel);
    return bench_now() - start;
}

static void
reset_hand(bench_problem *p, void **data, void **adjoint)
{
    bench_problem_reset(p);
    for (uint32_t k = 0; k < p->count; k++) {
        data[k] = p->params[k].data;
        adjoint[k] = p->params[k].adjoint;
    }
}

double
bench_time_hand(bench_problem *p)
{
    void *data[BENCH_PARAMS], *adjoint[BENCH_PARAMS];
    reset_hand(p, data, adjoint);
    double start = bench_now();
    p->hand(data, adjoint);
    return bench_now() - start;
}

double
bench_time_forward(bench_problem *p)
{
    void *data[BENCH_PARAMS], *adjoint[BENCH_PARAMS];
    reset_hand(p, data, adjoint);
    double start = bench_now();
    p->forward(data);
    return bench_now() - start;
}
