/* Where tapes are tested: two queues of a device, kernels, and a loop on the host beside the same loop in a kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TAPE_PLACE_H
#define TESTS_TAPE_PLACE_H

#include "api_check.h"
#include "devices.h"

#include <math.h>

static const char source[] =
    "kernel @step(%n: i32, %rate: f64, %x: buf<f64,1>, %w: buf<f64,1>) {\n"
    "  %zero: i32 = const 0\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %a: f64 = load %x[%i]  %b: f64 = load %w[%i]\n"
    "    %s: f64 = sin %a  %p: f64 = mul %s, %b  %r: f64 = mul %p, %rate  %q: f64 = add %r, %a\n"
    "    store %x[%i], %q  yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @all_steps(%n: i32, %steps: i32, %rate: f64, %x: buf<f64,1>, %w: buf<f64,1>) {\n"
    "  %zero: i32 = const 0  %one: i32 = const 1\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %v: f64 = load %x[%i]  %b: f64 = load %w[%i]\n"
    "    %z: f64 = loop (%t: i32 = %zero, %a: f64 = %v) {\n"
    "      %c: bool = ge %t, %steps  exit_if %c (%a)\n"
    "      %s: f64 = sin %a  %p: f64 = mul %s, %b  %r: f64 = mul %p, %rate  %q: f64 = add %r, %a\n"
    "      %t1: i32 = add %t, %one\n"
    "      yield %t1, %q\n"
    "    }\n"
    "    store %x[%i], %z  yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @product(%n: i32, %s: f64, %x: buf<f64,1>, %y: buf<f64,1>, %z: buf<f64,1>) {\n"
    "  %zero: i32 = const 0\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %a: f64 = load %x[%i]  %b: f64 = load %y[%i]  %p: f64 = mul %a, %b  %q: f64 = mul %p, %s\n"
    "    store %z[%i], %q  yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @gather(%n: i32, %x: buf<f64,1>, %at: buf<i32,1>, %z: buf<f64,1>) {\n"
    "  %zero: i32 = const 0\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %k: i32 = load %at[%i]  %a: f64 = load %x[%k]  %b: f64 = load %z[%i]  %c: f64 = add %a, %b\n"
    "    store %z[%i], %c  yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @twice(%n: i32, %x: buf<f64,1>) {\n"
    "  %zero: i32 = const 0\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %a: f64 = load %x[%i]  %b: f64 = add %a, %a  store %x[%i], %b  yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

/* -- what every test needs ------------------------------------------------------------------------------------------ */

enum { N = 5, STATE = N * (int)sizeof(double) };

typedef struct place {
    rg_queue *queue, *other; /* of one device */
    rg_module *module;
    rg_kernel *step, *all_steps, *product, *gather, *twice;
} place;

static inline place
open_place(void)
{
    place p;
    rg_queue *queues[2];
    devices_desc desc = {.device = rg_str_of(check_on)};
    GOOD(devices_open_two(&desc, queues));
    p.queue = queues[0], p.other = queues[1];
    GOOD(rg_module_from_ir(rg_str_of(source), NULL, &p.module));
    GOOD(rg_module_get_kernel(p.module, RG_STR("step"), &p.step));
    GOOD(rg_module_get_kernel(p.module, RG_STR("all_steps"), &p.all_steps));
    GOOD(rg_module_get_kernel(p.module, RG_STR("product"), &p.product));
    GOOD(rg_module_get_kernel(p.module, RG_STR("gather"), &p.gather));
    GOOD(rg_module_get_kernel(p.module, RG_STR("twice"), &p.twice));
    return p;
}

static inline void
close_place(const place *p)
{
    rg_module_destroy(p->module);
    rg_queue_destroy(p->other);
    rg_queue_destroy(p->queue);
}

static inline rg_array *
make(const place *p, const char *name, bool adjoint, int n)
{
    rg_array *a = NULL;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {n}, .adjoint = adjoint, .name = rg_str_of(name));
    GOOD(rg_array_create(p->queue, &desc, &a));
    return a;
}

static inline rg_array *
make_indices(const place *p, const int *at)
{
    rg_array *a = NULL;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {N}, .name = RG_STR("at"));
    GOOD(rg_array_create(p->queue, &desc, &a));
    GOOD(rg_array_write(p->queue, a, RG_PRIMAL, at, N * sizeof *at));
    return a;
}

static inline void
put(const place *p, rg_array *a, unsigned plane, const double *v)
{
    GOOD(rg_array_write(p->queue, a, plane, v, STATE));
}

static inline void
get(const place *p, rg_array *a, unsigned plane, double *v)
{
    GOOD(rg_array_read(p->queue, a, plane, v, STATE));
}

static inline rg_tape *
begin(const place *p, uint64_t budget)
{
    rg_tape *t = NULL;
    rg_tape_desc desc = RG_DESC(rg_tape_desc, .budget = budget);
    GOOD(rg_tape_begin(p->queue, &desc, &t));
    return t;
}

static inline rg_args *
args_of(const place *p, rg_kernel *kernel)
{
    rg_args *args = NULL;
    GOOD(rg_args_create(p->queue, kernel, &args));
    GOOD(rg_args_set_int(args, RG_STR("n"), N));
    return args;
}

static inline void
do_step(const place *p, rg_args *args, double rate, rg_array *x, rg_array *w)
{
    GOOD(rg_args_set_float(args, RG_STR("rate"), rate));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    GOOD(rg_args_set_array(args, RG_STR("w"), w));
    GOOD(rg_launch(p->queue, args, RG_FORWARD));
}

static inline void
set_product(rg_args *args, double s, rg_array *x, rg_array *y, rg_array *z)
{
    GOOD(rg_args_set_float(args, RG_STR("s"), s));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    GOOD(rg_args_set_array(args, RG_STR("y"), y));
    GOOD(rg_args_set_array(args, RG_STR("z"), z));
}

static inline void
check_close(const double *found, const double *want, double tolerance, const char *what)
{
    double scale = 1e-300;
    for (int i = 0; i < N; i++)
        scale = fmax(scale, fabs(want[i]));
    for (int i = 0; i < N; i++)
        CHECK(fabs(found[i] - want[i]) <= tolerance * scale, "%s on %s: element %d is %.17g, not %.17g", what, check_on, i,
              found[i], want[i]);
}

/* -- a loop on the host against one in the kernel --------------------------------------------------------------------- */

static const double x0[N] = {0.3, -0.2, 0.9, 1.4, -0.7}, w0[N] = {0.5, 0.25, -0.3, 0.1, 0.4}, ones[N] = {1, 1, 1, 1, 1}, zeros[N];
static const double rate = 0.01;

typedef struct found {
    double x[N], dx[N], dw[N];
} found;

static inline void
loop_in_kernel(const place *p, int steps, found *f)
{
    rg_array *x = make(p, "x", true, N), *w = make(p, "w", true, N);
    rg_args *args = args_of(p, p->all_steps);
    put(p, x, RG_PRIMAL, x0);
    put(p, w, RG_PRIMAL, w0);
    put(p, x, RG_ADJOINT, ones);
    GOOD(rg_args_set_int(args, RG_STR("steps"), steps));
    GOOD(rg_args_set_float(args, RG_STR("rate"), rate));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    GOOD(rg_args_set_array(args, RG_STR("w"), w));
    GOOD(rg_launch(p->queue, args, RG_FORWARD_VJP));
    get(p, x, RG_PRIMAL, f->x);
    get(p, x, RG_ADJOINT, f->dx);
    get(p, w, RG_ADJOINT, f->dw);
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_array_destroy(w);
}

/* Two reverses of it. */
static inline void
loop_on_host(const place *p, int steps, uint64_t budget, found f[2], rg_tape_info *info)
{
    rg_array *x = make(p, "x", true, N), *w = make(p, "w", true, N);
    rg_args *args = args_of(p, p->step);
    put(p, x, RG_PRIMAL, x0);
    put(p, w, RG_PRIMAL, w0);
    rg_tape *t = begin(p, budget);
    for (int k = 0; k < steps; k++)
        do_step(p, args, rate, x, w);
    rg_args_destroy(args); /* the tape has its own */
    GOOD(rg_tape_end(t));
    for (int k = 0; k < 2; k++) {
        put(p, x, RG_ADJOINT, ones);
        put(p, w, RG_ADJOINT, zeros);
        GOOD(rg_tape_vjp(t));
        get(p, x, RG_PRIMAL, f[k].x);
        get(p, x, RG_ADJOINT, f[k].dx);
        get(p, w, RG_ADJOINT, f[k].dw);
        if (k == 0)
            GOOD(rg_tape_get_info(t, info));
    }
    rg_array_destroy(x);
    rg_array_destroy(w);
    rg_tape_destroy(t);
}

static inline void
check_found(const found *f, const found *want, const char *what)
{
    check_close(f->x, want->x, 1e-13, what);
    check_close(f->dx, want->dx, 1e-11, what);
    check_close(f->dw, want->dw, 1e-11, what);
}

#endif
