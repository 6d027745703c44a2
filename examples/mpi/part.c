/* SPDX-License-Identifier: Apache-2.0 */
#include "part.h"

#include <retrograd/retrograd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call) check(call, #call)

enum { STEP, EDGES, HALO, HEAR, MISFIT, KERNELS };
static const char *const names[KERNELS] = {"step", "edges", "halo", "hear", "misfit"};

struct part {
    rg_device *device;
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel[KERNELS];
    rg_args *args[KERNELS];
    int states, rows, cols, receivers;
    rg_array **state, *speed, *out, *in, *row, *col, *heard, *loss;
};

static void
check(rg_status status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s\n", what, rg_error_message());
    exit(1);
}

static rg_str
text(const char *s)
{
    return (rg_str){s, strlen(s)};
}

static rg_array *
array(part *p, rg_dtype dtype, int rank, int64_t first, int64_t second)
{
    rg_array *a;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = dtype, .rank = (uint32_t)rank, .shape = {first, second}, .adjoint = dtype == RG_F64);
    TRY(rg_array_create(p->queue, &desc, &a));
    return a;
}

static void
put(part *p, rg_array *a, const void *data)
{
    rg_array_info info = RG_INIT(rg_array_info);
    TRY(rg_array_get_info(a, &info));
    TRY(rg_array_write(p->queue, a, RG_PRIMAL, data, info.bytes));
}

static void
get(part *p, rg_array *a, unsigned plane, void *data)
{
    rg_array_info info = RG_INIT(rg_array_info);
    TRY(rg_array_get_info(a, &info));
    TRY(rg_array_read(p->queue, a, plane, data, info.bytes));
}

static void
set(part *p, int kernel, const char *name, rg_array *a)
{
    TRY(rg_args_set_array(p->args[kernel], text(name), a));
}

part *
part_create(const char *device, const char *kernels, int states, int rows, int cols, int receivers, const int *row, const int *col)
{
    part *p = calloc(1, sizeof *p);
    p->states = states, p->rows = rows, p->cols = cols, p->receivers = receivers;
    TRY(rg_device_open(&RG_DESC(rg_device_desc, .name = text(device)), &p->device));
    TRY(rg_queue_create(p->device, NULL, &p->queue));
    TRY(rg_module_load(text(kernels), NULL, &p->module));
    for (int k = 0; k < KERNELS; k++) {
        TRY(rg_module_get_kernel(p->module, text(names[k]), &p->kernel[k]));
        TRY(rg_args_create(p->queue, p->kernel[k], &p->args[k]));
        TRY(rg_args_set_int(p->args[k], RG_STR("rows"), rows));
        TRY(rg_args_set_int(p->args[k], RG_STR("cols"), cols));
    }
    p->state = calloc((size_t)states, sizeof *p->state);
    for (int t = 0; t < states; t++)
        p->state[t] = array(p, RG_F64, 2, rows + 2, cols);
    p->speed = array(p, RG_F64, 2, rows, cols);
    p->out = array(p, RG_F64, 2, 2, cols);
    p->in = array(p, RG_F64, 2, 2, cols);
    p->row = array(p, RG_I32, 1, receivers, 0);
    p->col = array(p, RG_I32, 1, receivers, 0);
    p->heard = array(p, RG_F64, 1, receivers, 0);
    p->loss = array(p, RG_F64, 1, 1, 0);
    put(p, p->row, row);
    put(p, p->col, col);
    set(p, STEP, "c", p->speed);
    set(p, EDGES, "out", p->out);
    set(p, HALO, "in", p->in);
    set(p, HEAR, "heard", p->heard);
    set(p, MISFIT, "truth", p->heard);
    set(p, MISFIT, "loss", p->loss);
    for (int k = HEAR; k <= MISFIT; k++) {
        TRY(rg_args_set_int(p->args[k], RG_STR("n"), receivers));
        set(p, k, "row", p->row);
        set(p, k, "col", p->col);
    }
    return p;
}

void
part_destroy(part *p)
{
    for (int k = 0; k < KERNELS; k++)
        rg_args_destroy(p->args[k]);
    for (int t = 0; t < p->states; t++)
        rg_array_destroy(p->state[t]);
    rg_array *const others[] = {p->speed, p->out, p->in, p->row, p->col, p->heard, p->loss};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        rg_array_destroy(others[k]);
    rg_module_destroy(p->module);
    rg_queue_destroy(p->queue);
    rg_device_destroy(p->device);
    free(p->state);
    free(p);
}

void
part_set_speed(part *p, const double *c)
{
    put(p, p->speed, c);
}

void
part_set_state(part *p, int t, const double *u)
{
    put(p, p->state[t], u);
}

static void
run(part *p, int kernel, int back)
{
    TRY(rg_launch(p->queue, p->args[kernel], back ? RG_VJP : RG_FORWARD));
}

static void
run_step(part *p, int t, int back)
{
    set(p, STEP, "before", p->state[t - 1]);
    set(p, STEP, "now", p->state[t]);
    set(p, STEP, "next", p->state[t + 1]);
    run(p, STEP, back);
}

static void
run_at(part *p, int kernel, int t, int back)
{
    set(p, kernel, "u", p->state[t]);
    run(p, kernel, back);
}

void
part_step(part *p, int t)
{
    run_step(p, t, 0);
}

void
part_step_back(part *p, int t)
{
    run_step(p, t, 1);
}

/* Forwards rows go out through `out` and come in through `in`; their adjoints go the other way. */
const double *
part_take(part *p, int t, int back)
{
    void *rows;
    run_at(p, back ? HALO : EDGES, t, back);
    TRY(rg_array_map(p->queue, back ? p->in : p->out, back ? RG_ADJOINT : RG_PRIMAL, false, &rows));
    return rows;
}

double *
part_room(part *p, int back)
{
    void *rows;
    TRY(rg_array_map(p->queue, back ? p->out : p->in, back ? RG_ADJOINT : RG_PRIMAL, true, &rows));
    return rows;
}

void
part_given(part *p, int t, int back)
{
    rg_array_unmap(p->out, back ? RG_ADJOINT : RG_PRIMAL);
    rg_array_unmap(p->in, back ? RG_ADJOINT : RG_PRIMAL);
    if (back)
        TRY(rg_array_fill(p->queue, p->in, RG_ADJOINT, 0)); /* what was only read keeps its adjoint */
    run_at(p, back ? EDGES : HALO, t, back);
}

void
part_hear(part *p, int t, double *heard)
{
    run_at(p, HEAR, t, 0);
    get(p, p->heard, RG_PRIMAL, heard);
}

void
part_compare(part *p, int t, const double *truth)
{
    put(p, p->heard, truth);
    run_at(p, MISFIT, t, 0);
}

void
part_compare_back(part *p, int t, const double *truth)
{
    put(p, p->heard, truth);
    run_at(p, MISFIT, t, 1);
}

double
part_loss(part *p)
{
    double loss;
    get(p, p->loss, RG_PRIMAL, &loss);
    return loss;
}

void
part_clear(part *p)
{
    TRY(rg_array_fill(p->queue, p->loss, RG_PRIMAL, 0));
    TRY(rg_array_fill(p->queue, p->speed, RG_ADJOINT, 0));
    for (int t = 0; t < p->states; t++)
        TRY(rg_array_fill(p->queue, p->state[t], RG_ADJOINT, 0));
}

void
part_begin_back(part *p)
{
    TRY(rg_array_fill(p->queue, p->loss, RG_ADJOINT, 1));
}

void
part_speed_gradient(part *p, double *gradient)
{
    get(p, p->speed, RG_ADJOINT, gradient);
}

void
part_state_gradient(part *p, int t, double *gradient)
{
    get(p, p->state[t], RG_ADJOINT, gradient);
}
