/* See run.h. SPDX-License-Identifier: Apache-2.0 */
#include "run.h"
#include "../../tests/queue.h"

#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_BATCH = 5 }; /* launches that one reading of the host's clock covers */

const char *const math_names[3] = {"own", "native", "fast"};

bool
run_fine(rg_status status, const char *what)
{
    if (status != RG_OK)
        fprintf(stderr, "gpu_bench: %s: %s: %s\n", what, rg_status_name(status), rg_error_message());
    return status == RG_OK;
}

bool
run_wants(const settings *s, const char *kernel, math how)
{
    return (!s->kernel || strcmp(s->kernel, kernel) == 0) && (!s->math || strcmp(s->math, math_names[how]) == 0);
}

run_desc
run_describe(math how, uint64_t budget)
{
    return (run_desc){
        RG_DESC(rg_queue_desc, .tape_budget = budget, .stream = machine_stream()),
        RG_DESC(rg_module_desc, .native_math = how == MATH_NATIVE, .fast_math = how == MATH_FAST),
    };
}

static bool
set_param(run *r, const problem_param *q, uint32_t k, const char *what)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = q->kind == PARAM_INTS ? RG_I32 : RG_F32, .rank = q->rank, .adjoint = q->seed != NULL);
    memcpy(desc.shape, q->shape, sizeof q->shape);
    if (q->kind == PARAM_INT)
        return run_fine(rg_args_set_int_at(r->args, k, (int64_t)q->scalar), what);
    if (q->kind == PARAM_REAL)
        return run_fine(rg_args_set_float_at(r->args, k, q->scalar), what);
    bool good = run_fine(rg_array_create(r->queue, &desc, &r->arrays[k]), what) &&
                (!q->output || run_fine(rg_array_create(r->queue, &desc, &r->begins[k]), what));
    rg_array *begins = q->output ? r->begins[k] : r->arrays[k];
    return good && run_fine(rg_array_write(r->queue, begins, RG_PRIMAL, q->initial, 4 * q->count), what) &&
           (!q->output || run_fine(rg_array_write(r->queue, begins, RG_ADJOINT, q->seed, 4 * q->count), what)) &&
           run_fine(rg_args_set_array_at(r->args, k, r->arrays[k]), what);
}

static bool
set_params(run *r, const problem *p)
{
    bool good = run_fine(rg_module_get_kernel(r->module, rg_str_of(p->kernel), &r->kernel), p->kernel) &&
                run_fine(rg_args_create(r->queue, r->kernel, &r->args), p->kernel);
    for (uint32_t k = 0; good && k < p->count; k++)
        good = set_param(r, &p->params[k], k, p->kernel);
    return good;
}

bool
run_open(run *r, const settings *s, const run_desc *desc, const problem *p)
{
    *r = (run){0};
    bool good = run_fine(queue_open(s->device, &desc->queue, &r->queue), "queue") &&
                run_fine(rg_module_load(rg_str_of(s->kernels), &desc->code, &r->module), s->kernels) &&
                set_params(r, p);
    if (!good)
        run_close(r);
    return good;
}

bool
run_join(run *r, const run *other, const problem *p)
{
    *r = (run){.queue = other->queue, .module = other->module, .joined = true};
    bool good = set_params(r, p);
    if (!good)
        run_close(r);
    return good;
}

void
run_close(run *r)
{
    for (unsigned k = 0; k < PROBLEM_PARAMS; k++)
        rg_array_destroy(r->arrays[k]), rg_array_destroy(r->begins[k]);
    rg_args_destroy(r->args);
    if (!r->joined) {
        rg_module_destroy(r->module);
        rg_queue_destroy(r->queue);
    }
    *r = (run){0};
}

bool
run_reset(run *r, const problem *p)
{
    bool good = true;
    for (unsigned k = 0; good && k < p->count; k++) {
        if (r->begins[k])
            good = run_fine(rg_array_copy(r->queue, r->arrays[k], RG_PRIMAL, r->begins[k], RG_PRIMAL), p->kernel) &&
                   run_fine(rg_array_copy(r->queue, r->arrays[k], RG_ADJOINT, r->begins[k], RG_ADJOINT), p->kernel);
        else if (p->params[k].seed)
            good = run_fine(rg_array_fill(r->queue, r->arrays[k], RG_ADJOINT, 0.0), p->kernel);
    }
    return good;
}

bool
run_once(run *r, const problem *p, rg_form form)
{
    return run_reset(r, p) && run_fine(rg_launch(r->queue, r->args, form), p->kernel) && run_fine(rg_queue_sync(r->queue), p->kernel);
}

/* By the device's own clock. */
static double
time_once(run *r, const problem *p, rg_form form)
{
    if (!run_reset(r, p) || !run_fine(rg_queue_sync(r->queue), p->kernel) || !machine_start())
        return -1.0;
    bool good = run_fine(rg_launch(r->queue, r->args, form), p->kernel);
    double ms = machine_stop();
    return run_fine(rg_queue_sync(r->queue), p->kernel) && good ? ms : -1.0;
}

/* By the host's: several resets, each with a launch behind it where `launches`. */
static double
time_several(run *r, const problem *p, rg_form form, bool launches)
{
    double started = machine_now();
    for (unsigned k = 0; k < RUN_BATCH; k++)
        if (!run_reset(r, p) || (launches && !run_fine(rg_launch(r->queue, r->args, form), p->kernel)))
            return -1.0;
    return run_fine(rg_queue_sync(r->queue), p->kernel) ? machine_now() - started : -1.0;
}

/* What a launch adds to the time of several resets: nobody waits for the host in between where launches return before they have ended. */
static double
time_added(run *r, const problem *p, rg_form form)
{
    double resets = time_several(r, p, form, false), all = time_several(r, p, form, true);
    return resets < 0.0 || all < 0.0 ? -1.0 : all > resets ? (all - resets) / RUN_BATCH : 1e-6;
}

double
run_time(run *r, const problem *p, rg_form form, unsigned repeat)
{
    double *times = calloc(repeat + 1, sizeof *times), result = -1.0;
    bool good = run_once(r, p, form);
    for (unsigned k = 0; good && k < repeat; k++)
        good = (times[k] = machine_is_gpu() ? time_once(r, p, form) : time_added(r, p, form)) >= 0.0;
    if (good)
        result = median_of(times, repeat);
    free(times);
    return result;
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double
median_of(double *times, unsigned n)
{
    qsort(times, n, sizeof *times, compare_doubles);
    return n == 0 ? 0.0 : n % 2 ? times[n / 2] : 0.5 * (times[n / 2 - 1] + times[n / 2]);
}
