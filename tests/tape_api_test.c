/* Tapes of the host. Against one kernel that loops, against a reverse written by hand for random sequences of operations, with
 * budgets and without; and what they refuse. SPDX-License-Identifier: Apache-2.0
 *   tape_api_test [--long STEPS STATES | --random SEED COUNT] */
#include "api_check.h"
#include "devices.h"

#include "api/revolve.h"
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static place
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

static void
close_place(const place *p)
{
    rg_module_destroy(p->module);
    rg_queue_destroy(p->other);
    rg_queue_destroy(p->queue);
}

static rg_array *
make(const place *p, const char *name, bool adjoint, int n)
{
    rg_array *a = NULL;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {n}, .adjoint = adjoint, .name = rg_str_of(name));
    GOOD(rg_array_create(p->queue, &desc, &a));
    return a;
}

static rg_array *
make_indices(const place *p, const int *at)
{
    rg_array *a = NULL;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {N}, .name = RG_STR("at"));
    GOOD(rg_array_create(p->queue, &desc, &a));
    GOOD(rg_array_write(p->queue, a, RG_PRIMAL, at, N * sizeof *at));
    return a;
}

static void
put(const place *p, rg_array *a, unsigned plane, const double *v)
{
    GOOD(rg_array_write(p->queue, a, plane, v, STATE));
}

static void
get(const place *p, rg_array *a, unsigned plane, double *v)
{
    GOOD(rg_array_read(p->queue, a, plane, v, STATE));
}

static rg_tape *
begin(const place *p, uint64_t budget)
{
    rg_tape *t = NULL;
    rg_tape_desc desc = RG_DESC(rg_tape_desc, .budget = budget);
    GOOD(rg_tape_begin(p->queue, &desc, &t));
    return t;
}

static rg_args *
args_of(const place *p, rg_kernel *kernel)
{
    rg_args *args = NULL;
    GOOD(rg_args_create(p->queue, kernel, &args));
    GOOD(rg_args_set_int(args, RG_STR("n"), N));
    return args;
}

static void
do_step(const place *p, rg_args *args, double rate, rg_array *x, rg_array *w)
{
    GOOD(rg_args_set_float(args, RG_STR("rate"), rate));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    GOOD(rg_args_set_array(args, RG_STR("w"), w));
    GOOD(rg_launch(p->queue, args, RG_FORWARD));
}

static void
set_product(rg_args *args, double s, rg_array *x, rg_array *y, rg_array *z)
{
    GOOD(rg_args_set_float(args, RG_STR("s"), s));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    GOOD(rg_args_set_array(args, RG_STR("y"), y));
    GOOD(rg_args_set_array(args, RG_STR("z"), z));
}

static void
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

static void
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
static void
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

static void
check_found(const found *f, const found *want, const char *what)
{
    check_close(f->x, want->x, 1e-13, what);
    check_close(f->dx, want->dx, 1e-11, what);
    check_close(f->dw, want->dw, 1e-11, what);
}

static void
test_loop(const place *p)
{
    static const int states[] = {0, 2, 3, 4, 7, 20, 70};
    enum { STEPS = 60 };
    found want, f[2];
    rg_tape_info info = RG_INIT(rg_tape_info);
    loop_in_kernel(p, STEPS, &want);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        loop_on_host(p, STEPS, (uint64_t)states[i] * STATE, f, &info);
        check_found(&f[0], &want, "loop");
        check_found(&f[1], &want, "the second reverse");
        CHECK(info.operations == STEPS, "%d", (int)info.operations);
        CHECK((states[i] == 0 || states[i] == 70) == (info.recomputed == 0), "%d states on %s: %d run again", states[i],
              check_on, (int)info.recomputed);
        CHECK(!states[i] || info.peak <= (uint64_t)states[i] * STATE, "%d", (int)info.peak);
    }
}

/* What a callback was told, and when it says no. */
typedef struct watcher {
    rg_tape *tape;
    uint64_t calls, reversed, operations, recomputed, ends_at;
} watcher;

static bool
watch(void *user, uint64_t reversed, uint64_t operations, uint64_t recomputed)
{
    watcher *w = user;
    rg_tape_info info = RG_INIT(rg_tape_info);
    CHECK(reversed + recomputed == w->reversed + w->recomputed + 1, "one operation more on %s", check_on);
    GOOD(rg_tape_get_info(w->tape, &info));
    CHECK(info.operations == operations, "%d", (int)info.operations);
    *w = (watcher){w->tape, w->calls + 1, reversed, operations, recomputed, w->ends_at};
    return reversed < operations && reversed + recomputed < w->ends_at; /* the last one cannot be ended any more */
}

static void
test_progress(const place *p)
{
    enum { STEPS = 30 };
    watcher w = {.ends_at = 40};
    found want, f;
    rg_array *x = make(p, "x", true, N), *weights = make(p, "w", true, N);
    rg_args *args = args_of(p, p->step);
    rg_tape_desc desc = RG_DESC(rg_tape_desc, .budget = 5 * STATE, .progress = watch, .user = &w);
    loop_in_kernel(p, STEPS, &want);
    put(p, x, RG_PRIMAL, x0);
    put(p, weights, RG_PRIMAL, w0);
    GOOD(rg_tape_begin(p->queue, &desc, &w.tape));
    for (int k = 0; k < STEPS; k++)
        do_step(p, args, rate, x, weights);
    GOOD(rg_tape_end(w.tape));
    CHECK(w.calls == 0, "%d calls while it recorded", (int)w.calls);
    FAILS(rg_tape_vjp(w.tape), RG_CANCELLED, "of 30 operations");
    CHECK(w.calls == 40 && w.operations == STEPS && w.reversed < STEPS && w.recomputed > 0, "%d calls", (int)w.calls);
    rg_tape_info before = RG_INIT(rg_tape_info), after = RG_INIT(rg_tape_info);
    w = (watcher){.tape = w.tape, .ends_at = 1000};
    get(p, x, RG_PRIMAL, f.x);
    put(p, x, RG_ADJOINT, ones);
    put(p, weights, RG_ADJOINT, zeros);
    GOOD(rg_tape_get_info(w.tape, &before));
    GOOD(rg_tape_vjp(w.tape));
    GOOD(rg_tape_get_info(w.tape, &after));
    get(p, x, RG_ADJOINT, f.dx);
    get(p, weights, RG_ADJOINT, f.dw);
    check_found(&f, &want, "after a reverse that was ended");
    CHECK(w.reversed == STEPS && w.recomputed == after.recomputed - before.recomputed, "%d run again", (int)w.recomputed);
    rg_tape_destroy(w.tape);
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_array_destroy(weights);
}

/* How near to the fewest steps of a number that is known before; the schedule of the recording does not know it. */
static void
test_cost(const place *p, int steps, int states, bool show)
{
    found want, f[2];
    rg_tape_info info = RG_INIT(rg_tape_info);
    loop_in_kernel(p, steps, &want);
    loop_on_host(p, steps, (uint64_t)states * STATE, f, &info);
    check_found(&f[0], &want, "long loop");
    /* one of the states is the end's, one that before the first step; the first forward sweep counts as well */
    int64_t fewest = revolve_cost(steps, (uint64_t)states - 2) - steps;
    CHECK(info.peak <= (uint64_t)states * STATE, "%d", (int)info.peak);
    CHECK((double)info.recomputed <= 1.35 * (double)fewest, "%d run again, %d are the fewest", (int)info.recomputed, (int)fewest);
    if (show)
        printf("%d steps on %s: at most %.1f states, %lld run again; the fewest are %lld\n", steps, check_on,
               (double)info.peak / STATE, (long long)info.recomputed, (long long)fewest);
}

/* -- random sequences, and their reverse by hand ----------------------------------------------------------------------- */

enum { ARRAYS = 4, OPS = 40, SEQUENCES = 60 };
typedef enum kind { STEP, PRODUCT, GATHER, TWICE, FILL, WRITE, WRITE_AT, COPY, STOP, CALL, KINDS } kind;

typedef struct op {
    kind what;
    int a, b, c;
    double s, data[N];
    int at[N];
    double before[ARRAYS][N]; /* what the arrays held */
} op;

static unsigned
next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void
plan(op *o, unsigned *seed)
{
    o->what = (kind)(next(seed) % KINDS);
    o->a = (int)(next(seed) % ARRAYS);
    o->b = (o->a + 1 + (int)(next(seed) % (ARRAYS - 1))) % ARRAYS;
    do
        o->c = (int)(next(seed) % ARRAYS);
    while (o->c == o->a || o->c == o->b);
    o->s = 0.2 + (double)(next(seed) % 100) / 100;
    for (int i = 0; i < N; i++) {
        o->data[i] = (double)(next(seed) % 1000) / 700 - 0.6;
        o->at[i] = (int)(next(seed) % N);
    }
}

/* The primal, and `at` as it stands. */
static void
forward_by_hand(op *o, double v[ARRAYS][N], int at[N])
{
    memcpy(o->before, v, sizeof o->before);
    if (o->what == WRITE_AT)
        memcpy(at, o->at, sizeof o->at);
    else
        memcpy(o->at, at, sizeof o->at);
    for (int i = 0; i < N; i++) {
        double *a = &v[o->a][i], *b = &v[o->b][i], *c = &v[o->c][i];
        switch (o->what) {
        case STEP: *a = sin(*a) * *b * o->s + *a; break;
        case PRODUCT: *c = *a * *b * o->s; break;
        case GATHER: *b += o->before[o->a][o->at[i]]; break;
        case TWICE: *a *= 2; break;
        case FILL: *a = o->s; break;
        case WRITE: *a = o->data[i]; break;
        case COPY: *b = *a; break;
        case CALL: *a *= *b * *b + 1; break;
        default: break;
        }
    }
}

static void
reverse_by_hand(const op *o, double d[ARRAYS][N])
{
    for (int i = 0; i < N; i++) {
        double a = o->before[o->a][i], b = o->before[o->b][i];
        double *da = &d[o->a][i], *db = &d[o->b][i], *dc = &d[o->c][i];
        switch (o->what) {
        case STEP:
            *db += *da * sin(a) * o->s;
            *da *= cos(a) * b * o->s + 1;
            break;
        case PRODUCT:
            *da += *dc * b * o->s;
            *db += *dc * a * o->s;
            *dc = 0;
            break;
        case GATHER: d[o->a][o->at[i]] += *db; break;
        case TWICE: *da *= 2; break;
        case FILL:
        case WRITE:
        case STOP: *da = 0; break;
        case COPY:
            *da += *db;
            *db = 0;
            break;
        case CALL:
            *db += *da * a * 2 * b;
            *da *= b * b + 1;
            break;
        default: break;
        }
    }
}

/* a *= b * b + 1 on the host; its reverse has the old a from what it finds */
typedef struct call {
    const place *p;
    rg_array *a, *b;
} call;

static rg_status
call_forward(void *user)
{
    call *c = user;
    double a[N], b[N];
    get(c->p, c->a, RG_PRIMAL, a);
    get(c->p, c->b, RG_PRIMAL, b);
    for (int i = 0; i < N; i++)
        a[i] *= b[i] * b[i] + 1;
    put(c->p, c->a, RG_PRIMAL, a);
    return RG_OK;
}

static rg_status
call_reverse(void *user)
{
    call *c = user;
    double a[N], b[N], da[N], db[N];
    get(c->p, c->a, RG_PRIMAL, a);
    get(c->p, c->b, RG_PRIMAL, b);
    get(c->p, c->a, RG_ADJOINT, da);
    get(c->p, c->b, RG_ADJOINT, db);
    for (int i = 0; i < N; i++) {
        db[i] += da[i] * a[i] / (b[i] * b[i] + 1) * 2 * b[i];
        da[i] *= b[i] * b[i] + 1;
    }
    put(c->p, c->a, RG_ADJOINT, da);
    put(c->p, c->b, RG_ADJOINT, db);
    return RG_OK;
}

typedef struct world {
    rg_array *a[ARRAYS], *at;
    rg_args *step, *product, *gather, *twice;
    call calls[OPS];
} world;

static rg_status
record(const place *p, world *w, rg_tape *t, const op *o, call *c)
{
    rg_array *a = w->a[o->a], *b = w->a[o->b];
    switch (o->what) {
    case STEP:
        do_step(p, w->step, o->s, a, b);
        return RG_OK;
    case PRODUCT:
        set_product(w->product, o->s, a, b, w->a[o->c]);
        return rg_launch(p->queue, w->product, RG_FORWARD);
    case GATHER:
        GOOD(rg_args_set_array(w->gather, RG_STR("x"), a));
        GOOD(rg_args_set_array(w->gather, RG_STR("at"), w->at));
        GOOD(rg_args_set_array(w->gather, RG_STR("z"), b));
        return rg_launch(p->queue, w->gather, RG_FORWARD);
    case TWICE:
        GOOD(rg_args_set_array(w->twice, RG_STR("x"), a));
        return rg_launch(p->queue, w->twice, RG_FORWARD);
    case FILL:
        return rg_array_fill(p->queue, a, RG_PRIMAL, o->s);
    case WRITE:
        return rg_array_write(p->queue, a, RG_PRIMAL, o->data, STATE);
    case WRITE_AT:
        return rg_array_write(p->queue, w->at, RG_PRIMAL, o->at, sizeof o->at);
    case COPY:
        return rg_array_copy(p->queue, b, RG_PRIMAL, a, RG_PRIMAL);
    case STOP:
        return rg_tape_stop_gradient(t, a);
    case CALL: {
        *c = (call){.p = p, .a = a, .b = b};
        rg_tape_call_desc desc = RG_DESC(rg_tape_call_desc, .name = RG_STR("times"), .forward = call_forward,
                                         .reverse = call_reverse, .user = c, .reads = (rg_array *[]){a, b}, .read_count = 2,
                                         .writes = &a, .write_count = 1);
        return rg_tape_call(t, &desc);
    }
    default:
        return RG_OK;
    }
}

static world
make_world(const place *p)
{
    static const int first[N] = {0, 1, 2, 3, 4};
    world w = {.at = make_indices(p, first), .step = args_of(p, p->step), .product = args_of(p, p->product),
               .gather = args_of(p, p->gather), .twice = args_of(p, p->twice)};
    for (int k = 0; k < ARRAYS; k++)
        w.a[k] = make(p, (const char *const[]){"a", "b", "c", "d"}[k], true, N);
    return w;
}

static void
free_world(world *w)
{
    for (int k = 0; k < ARRAYS; k++)
        rg_array_destroy(w->a[k]);
    rg_array_destroy(w->at);
    rg_args_destroy(w->step);
    rg_args_destroy(w->product);
    rg_args_destroy(w->gather);
    rg_args_destroy(w->twice);
}

/* Whether the gradient was compared. */
static bool
test_random(const place *p, unsigned seed, int room)
{
    static op ops[OPS];
    static world w;
    double v[ARRAYS][N], d[ARRAYS][N], seeds[ARRAYS][N], read[N];
    int at[N] = {0, 1, 2, 3, 4}, n = 1 + (int)(next(&seed) % OPS);
    w = make_world(p);
    for (int k = 0; k < ARRAYS; k++) {
        for (int i = 0; i < N; i++) {
            v[k][i] = (double)(next(&seed) % 1000) / 800 - 0.5;
            seeds[k][i] = (double)(next(&seed) % 1000) / 500 - 1;
        }
        put(p, w.a[k], RG_PRIMAL, v[k]);
    }
    int kept = 2 * (ARRAYS + 1); /* what the host has written is kept beside the first state and the last one */
    for (int k = 0; k < n; k++) {
        plan(&ops[k], &seed);
        kept += ops[k].what == WRITE || ops[k].what == WRITE_AT;
    }
    uint64_t budget = room ? (uint64_t)(kept + room) * STATE : 0;
    rg_tape *t = begin(p, budget);
    for (int k = 0; k < n; k++) {
        forward_by_hand(&ops[k], v, at);
        GOOD(record(p, &w, t, &ops[k], &w.calls[k]));
    }
    GOOD(rg_tape_end(t));
    double largest = 0; /* sines of large numbers differ by their last bits */
    for (int k = 0; k < n; k++)
        for (int i = 0; i < ARRAYS * N; i++)
            largest = fmax(largest, fabs(ops[k].before[i / N][i % N]));
    bool judged = largest < 1e4;
    for (int round = 0; round < 2 && judged; round++) {
        memcpy(d, seeds, sizeof d);
        for (int k = 0; k < ARRAYS; k++)
            put(p, w.a[k], RG_ADJOINT, seeds[k]);
        for (int k = n; k-- > 0;)
            reverse_by_hand(&ops[k], d);
        GOOD(rg_tape_vjp(t));
        for (int k = 0; k < ARRAYS; k++) {
            get(p, w.a[k], RG_ADJOINT, read);
            check_close(read, d[k], 1e-10, "adjoint of a random sequence");
            get(p, w.a[k], RG_PRIMAL, read);
            check_close(read, v[k], 1e-12, "end of a random sequence");
        }
    }
    rg_tape_info info = RG_INIT(rg_tape_info);
    GOOD(rg_tape_get_info(t, &info));
    CHECK(!budget || info.peak <= budget, "%d of %d bytes", (int)info.peak, (int)budget);
    rg_tape_destroy(t);
    free_world(&w);
    return judged;
}

/* How many gradients were compared. */
static unsigned
test_sequences(const place *p, unsigned first, unsigned count)
{
    unsigned judged = 0;
    for (unsigned seed = first; seed < first + count; seed++)
        judged += test_random(p, seed, seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1 : 1 + (int)(seed % 17));
    return judged;
}

/* -- what is refused ------------------------------------------------------------------------------------------------------ */

/* z = 2 x y is recorded; what came between is told by the reverse. */
typedef enum meddling {
    NONE, HOST, PAUSED, MAPPED, INDICES, OTHER_QUEUE, OTHER_QUEUE_LAUNCH, OTHER_QUEUE_GRAPH,
    MAPPED_BEFORE, MAPPED_OPEN, LENT, LENT_NOT_COMPARED, MEDDLINGS
} meddling;

static void
launch_elsewhere(const place *p, rg_array *x, bool graph)
{
    rg_graph *made;
    rg_args *twice = args_of(p, p->twice);
    GOOD(rg_args_set_array(twice, RG_STR("x"), x));
    if (graph)
        GOOD(rg_graph_begin(p->other));
    GOOD(rg_launch(p->other, twice, RG_FORWARD));
    if (graph) {
        GOOD(rg_graph_end(p->other, &made));
        GOOD(rg_graph_launch(made));
        rg_graph_destroy(made);
    }
    GOOD(rg_queue_sync(p->other));
    rg_args_destroy(twice);
}

static void
meddle(const place *p, rg_tape *t, meddling how, rg_array *x, rg_array *at, double *lent, double *mapped_before)
{
    static const int other[N] = {4, 3, 2, 1, 0};
    rg_queue *q = p->queue;
    void *mapped;
    switch (how) {
    case OTHER_QUEUE:
        GOOD(rg_array_fill(p->other, x, RG_PRIMAL, 3));
        GOOD(rg_queue_sync(p->other));
        break;
    case OTHER_QUEUE_LAUNCH:
    case OTHER_QUEUE_GRAPH:
        launch_elsewhere(p, x, how == OTHER_QUEUE_GRAPH);
        break;
    case MAPPED_BEFORE:
    case MAPPED_OPEN:
        mapped_before[2] = 7;
        if (how == MAPPED_BEFORE)
            rg_array_unmap(x, RG_PRIMAL);
        break;
    case PAUSED:
    case INDICES:
        GOOD(rg_tape_pause(t));
        GOOD(how == INDICES ? rg_array_write(q, at, RG_PRIMAL, other, sizeof other) : rg_array_fill(q, x, RG_PRIMAL, 3));
        GOOD(rg_tape_resume(t));
        break;
    case MAPPED:
        GOOD(rg_array_map(q, x, RG_PRIMAL, true, &mapped));
        rg_array_unmap(x, RG_PRIMAL);
        break;
    case LENT:
    case LENT_NOT_COMPARED:
        lent[3] += 1;
        break;
    default:
        break;
    }
}

static void
test_meddling(const place *p, meddling how)
{
    static const int at0[N] = {0, 1, 2, 3, 4};
    double lent[N] = {1, 2, 3, 4, 5}, d[N];
    void *mapped = NULL;
    rg_array *x, *y = make(p, "y", true, N), *z = make(p, "z", true, N), *s = make(p, "s", true, N), *at = make_indices(p, at0);
    bool lends = how == LENT || how == LENT_NOT_COMPARED;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .adjoint = true, .name = RG_STR("x"),
                                 .data = lends ? lent : NULL);
    rg_args *product = args_of(p, p->product), *gather = args_of(p, p->gather);
    rg_tape *t = NULL;
    rg_tape_desc how_to = RG_DESC(rg_tape_desc, .validate = how == LENT || how == MAPPED_OPEN);
    GOOD(rg_array_create(p->queue, &desc, &x));
    put(p, x, RG_PRIMAL, ones);
    put(p, y, RG_PRIMAL, w0);
    if (how == MAPPED_BEFORE || how == MAPPED_OPEN)
        GOOD(rg_array_map(p->queue, x, RG_PRIMAL, true, &mapped));
    GOOD(rg_tape_begin(p->queue, &how_to, &t));
    set_product(product, 2, x, y, z);
    GOOD(rg_launch(p->queue, product, RG_FORWARD));
    GOOD(rg_args_set_array(gather, RG_STR("x"), z));
    GOOD(rg_args_set_array(gather, RG_STR("at"), at));
    GOOD(rg_args_set_array(gather, RG_STR("z"), s));
    GOOD(rg_launch(p->queue, gather, RG_FORWARD));
    if (how == HOST)
        GOOD(rg_tape_end(t));
    meddle(p, t, how, x, at, lent, mapped);
    if (how == HOST)
        put(p, x, RG_PRIMAL, w0);
    else
        GOOD(rg_tape_end(t));
    put(p, s, RG_ADJOINT, ones);
    if (how == NONE || how == LENT_NOT_COMPARED) {
        GOOD(rg_tape_vjp(t));
        get(p, x, RG_ADJOINT, d);
        for (int i = 0; i < N; i++)
            CHECK(fabs(d[i] - 2 * w0[i]) < 1e-14, "%g", d[i]);
    } else {
        FAILS(rg_tape_vjp(t), RG_INVALID, how == INDICES ? "array `at`" : "array `x`");
        CHECK(strstr(rg_error_message(), how == INDICES ? "kernel `gather`" : "kernel `product`"), "%s", rg_error_message());
        get(p, x, RG_ADJOINT, d);
        get(p, s, RG_ADJOINT, lent);
        CHECK(d[0] == 0 && lent[0] == 1, "something was done: %g %g", d[0], lent[0]);
    }
    if (how == MAPPED_OPEN)
        rg_array_unmap(x, RG_PRIMAL);
    rg_tape_destroy(t);
    rg_array_destroy(x), rg_array_destroy(y), rg_array_destroy(z), rg_array_destroy(s), rg_array_destroy(at);
    rg_args_destroy(product), rg_args_destroy(gather);
}

/* Its adjoint would belong to what the kernel wrote and to what the host wrote. */
static void
test_severed(const place *p)
{
    rg_array *x = make(p, "x", true, N);
    rg_args *twice = args_of(p, p->twice);
    GOOD(rg_args_set_array(twice, RG_STR("x"), x));
    rg_tape *t = begin(p, 0);
    GOOD(rg_launch(p->queue, twice, RG_FORWARD));
    GOOD(rg_tape_pause(t));
    put(p, x, RG_PRIMAL, w0);
    GOOD(rg_tape_resume(t));
    GOOD(rg_launch(p->queue, twice, RG_FORWARD));
    GOOD(rg_tape_end(t));
    FAILS(rg_tape_vjp(t), RG_INVALID, "its adjoint belongs to either");
    rg_tape_destroy(t);
    rg_args_destroy(twice);
    rg_array_destroy(x);
}

/* So it would where an operation has only read what it held before. */
static void
test_severed_input(const place *p, bool used)
{
    double d[N];
    static const int at0[N] = {0, 1, 2, 3, 4};
    rg_array *x = make(p, "x", true, N), *z = make(p, "z", true, N), *at = make_indices(p, at0);
    rg_args *gather = args_of(p, p->gather);
    GOOD(rg_args_set_array(gather, RG_STR("x"), x));
    GOOD(rg_args_set_array(gather, RG_STR("at"), at));
    GOOD(rg_args_set_array(gather, RG_STR("z"), z));
    rg_tape *t = begin(p, 0);
    GOOD(rg_launch(p->queue, gather, RG_FORWARD)); /* a sum: its reverse reads no number */
    GOOD(rg_tape_pause(t));
    put(p, x, RG_PRIMAL, w0);
    GOOD(rg_tape_resume(t));
    if (used)
        GOOD(rg_launch(p->queue, gather, RG_FORWARD));
    GOOD(rg_tape_end(t));
    put(p, z, RG_ADJOINT, ones);
    if (used) {
        FAILS(rg_tape_vjp(t), RG_INVALID, "its adjoint belongs to either");
    } else {
        GOOD(rg_tape_vjp(t));
        get(p, x, RG_ADJOINT, d);
        check_close(d, ones, 0, "what was read before");
    }
    rg_tape_destroy(t);
    rg_args_destroy(gather);
    rg_array_destroy(x), rg_array_destroy(z), rg_array_destroy(at);
}

static void
test_flow(const place *p)
{
    rg_array *x = make(p, "x", true, N), *y = make(p, "y", true, N), *middle = make(p, "middle", false, N), *z = make(p, "z", true, N);
    rg_args *product = args_of(p, p->product);
    rg_tape *t = begin(p, 0);
    set_product(product, 1, x, y, middle);
    GOOD(rg_launch(p->queue, product, RG_FORWARD));
    set_product(product, 1, middle, y, z);
    FAILS(rg_launch(p->queue, product, RG_FORWARD), RG_INVALID, "array `middle`");
    GOOD(rg_tape_stop_gradient(t, middle));
    GOOD(rg_launch(p->queue, product, RG_FORWARD));
    GOOD(rg_tape_end(t));
    GOOD(rg_array_require(p->queue, middle, RG_ADJOINT));
    FAILS(rg_tape_vjp(t), RG_INVALID, "array `middle` got an adjoint");
    rg_tape_destroy(t);
    rg_args_destroy(product);
    rg_array_destroy(x), rg_array_destroy(y), rg_array_destroy(z), rg_array_destroy(middle);
}

static void
test_refusals(const place *p)
{
    rg_tape *t, *second;
    rg_graph *graph;
    rg_tape_info info = RG_INIT(rg_tape_info);
    double lent[2 * N] = {0};
    rg_array *x = make(p, "x", true, N), *w = make(p, "w", true, N);
    rg_args *args = args_of(p, p->step);
    FAILS(rg_tape_begin(NULL, NULL, &t), RG_INVALID, "queue");
    FAILS(rg_tape_end(NULL), RG_INVALID, "tape is NULL");
    GOOD(rg_tape_begin(p->queue, NULL, &t));
    FAILS(rg_tape_begin(p->queue, NULL, &second), RG_INVALID, "records in this queue already");
    FAILS(rg_graph_begin(p->queue), RG_INVALID, "rg_graph_begin: a tape records");
    FAILS(rg_tape_vjp(t), RG_INVALID, "still records");
    FAILS(rg_tape_resume(t), RG_INVALID, "not paused");
    do_step(p, args, rate, x, w);
    FAILS(rg_launch(p->queue, args, RG_FORWARD_VJP), RG_INVALID, "another form");
    GOOD(rg_tape_end(t));
    FAILS(rg_tape_end(t), RG_INVALID, "does not record");
    FAILS(rg_tape_pause(t), RG_INVALID, "does not record");
    GOOD(rg_graph_begin(p->queue));
    FAILS(rg_tape_vjp(t), RG_INVALID, "cannot be recorded");
    GOOD(rg_graph_end(p->queue, &graph));
    rg_graph_destroy(graph);
    GOOD(rg_tape_vjp(t));
    rg_tape_destroy(t);
    t = begin(p, STATE + 8);
    FAILS(rg_launch(p->queue, args, RG_FORWARD), RG_BUDGET, "the tape's budget of 48 bytes is too small");
    GOOD(rg_tape_get_info(t, &info));
    CHECK(info.operations == 0 && info.bytes == 0, "%d", (int)info.operations);
    rg_tape_destroy(t); /* ends it */
    if (devices_share_memory(p->queue)) {
        rg_array *views[2];
        for (int k = 0; k < 2; k++) {
            rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .adjoint = true,
                                         .name = RG_STR("view"), .data = lent + 3 * k);
            GOOD(rg_array_create(p->queue, &desc, &views[k]));
        }
        rg_args *copies = args_of(p, p->product);
        set_product(copies, 1, views[0], views[1], x);
        t = begin(p, 0);
        GOOD(rg_launch(p->queue, copies, RG_FORWARD));
        FAILS(rg_array_fill(p->queue, views[1], RG_PRIMAL, 1), RG_INVALID, "array `view` overlaps in memory");
        rg_tape_destroy(t);
        rg_args_destroy(copies);
        rg_array_destroy(views[0]), rg_array_destroy(views[1]);
    }
    rg_args_destroy(args);
    rg_array_destroy(x), rg_array_destroy(w);
}

typedef struct meddler {
    const place *p;
    rg_array *x;
} meddler;

static rg_status
do_nothing(void *user)
{
    (void)user;
    return RG_OK;
}

static rg_status
overwrite(void *user)
{
    const meddler *m = user;
    put(m->p, m->x, RG_PRIMAL, w0);
    return RG_OK;
}

/* A reverse that writes what it does not name. */
static void
test_reverse_meddles(const place *p)
{
    rg_array *x = make(p, "x", true, N), *y = make(p, "y", true, N);
    meddler m = {p, x};
    rg_tape_call_desc desc = RG_DESC(rg_tape_call_desc, .name = RG_STR("meddles"), .forward = do_nothing, .reverse = overwrite,
                                     .user = &m, .writes = &y, .write_count = 1);
    rg_tape *t = begin(p, 0);
    GOOD(rg_array_fill(p->queue, x, RG_PRIMAL, 1));
    GOOD(rg_tape_call(t, &desc));
    GOOD(rg_tape_end(t));
    FAILS(rg_tape_vjp(t), RG_INVALID, "call `meddles` wrote an array");
    m.x = y;
    GOOD(rg_tape_vjp(t));
    rg_tape_destroy(t);
    rg_array_destroy(x), rg_array_destroy(y);
}

/* One array is both ends; the first on the tape is another one. */
/* What a tape keeps runs also when its queue was destroyed, and is done then: nobody could wait for it. */
static void
test_closed_queue(void)
{
    place own = open_place();
    rg_array *x = make(&own, "x", true, N), *y = make(&own, "y", true, N), *z = make(&own, "z", true, N);
    rg_args *product = args_of(&own, own.product);
    double d[N];
    put(&own, x, RG_PRIMAL, x0);
    put(&own, y, RG_PRIMAL, ones);
    set_product(product, 2, x, y, z);
    rg_tape *t = begin(&own, 0);
    GOOD(rg_launch(own.queue, product, RG_FORWARD));
    GOOD(rg_array_copy(own.queue, y, RG_PRIMAL, z, RG_PRIMAL)); /* its reverse needs a kernel of the tape's own */
    GOOD(rg_tape_end(t));
    put(&own, y, RG_ADJOINT, w0);
    rg_queue_destroy(own.queue);
    GOOD(rg_tape_vjp(t));
    GOOD(rg_array_read(own.other, x, RG_ADJOINT, d, STATE));
    for (int i = 0; i < N; i++)
        CHECK(d[i] == 2 * w0[i], "%s: element %d is %.17g", check_on, i, d[i]);
    rg_tape_destroy(t);
    rg_args_destroy(product);
    rg_array_destroy(x), rg_array_destroy(y), rg_array_destroy(z);
    rg_module_destroy(own.module);
    rg_queue_destroy(own.other);
}

static void
test_empty(const place *p)
{
    double d[N];
    rg_array *x = make(p, "x", true, N), *nothing = make(p, "nothing", false, 0);
    rg_args *twice = args_of(p, p->twice);
    GOOD(rg_args_set_array(twice, RG_STR("x"), x));
    rg_tape *t = begin(p, 0);
    GOOD(rg_launch(p->queue, twice, RG_FORWARD));
    GOOD(rg_array_copy(p->queue, nothing, RG_PRIMAL, nothing, RG_PRIMAL));
    GOOD(rg_tape_end(t));
    put(p, x, RG_ADJOINT, ones);
    GOOD(rg_tape_vjp(t));
    get(p, x, RG_ADJOINT, d);
    CHECK(d[0] == 2, "%g", d[0]);
    rg_tape_destroy(t);
    rg_args_destroy(twice);
    rg_array_destroy(x), rg_array_destroy(nothing);
}

/* -- what is not on the tape --------------------------------------------------------------------------------------------- */

/* A launch that the budget refuses is not there: later ones have its number. */
static void
test_refused_launch(const place *p)
{
    rg_array *x = make(p, "x", true, N), *w = make(p, "w", true, N), *large = make(p, "large", true, 20 * N);
    rg_args *step = args_of(p, p->step);
    double d[N];
    put(p, x, RG_PRIMAL, x0);
    rg_tape *t = begin(p, 5 * STATE);
    do_step(p, step, rate, x, w);
    GOOD(rg_args_set_array(step, RG_STR("x"), large));
    GOOD(rg_args_set_array(step, RG_STR("w"), w));
    FAILS(rg_launch(p->queue, step, RG_FORWARD), RG_BUDGET, "array `large`");
    GOOD(rg_tape_pause(t));
    put(p, w, RG_PRIMAL, w0); /* the refused one would have read it, and the first one has */
    GOOD(rg_tape_resume(t));
    GOOD(rg_tape_end(t));
    put(p, x, RG_ADJOINT, ones);
    FAILS(rg_tape_vjp(t), RG_INVALID, "array `w`");
    CHECK(strstr(rg_error_message(), "operation 0"), "%s", rg_error_message());
    get(p, x, RG_ADJOINT, d);
    check_close(d, ones, 0, "seed");
    rg_tape_destroy(t);
    rg_args_destroy(step);
    rg_array_destroy(x), rg_array_destroy(w), rg_array_destroy(large);
}

/* A launch whose code could not be made has written nothing: another one goes on from there. */
static void
test_uncompiled_launch(const place *p)
{
    bool compiles = strcmp(check_on, "cpu") == 0 || strcmp(check_on, "simt") == 0 || strcmp(check_on, "cuda") == 0;
    if (!compiles)
        return;
    rg_array *x = make(p, "x", true, N), *w = make(p, "w", true, N);
    rg_module_desc apart = RG_DESC(rg_module_desc, .compile_process = true, .deterministic = true); /* nobody has its code */
    rg_module *module;
    rg_kernel *kernel;
    double d[N], with[N];
    GOOD(rg_module_from_ir(rg_str_of(source), &apart, &module));
    GOOD(rg_module_get_kernel(module, RG_STR("step"), &kernel));
    rg_args *lost = args_of(p, kernel), *step = args_of(p, p->step);
    put(p, x, RG_PRIMAL, x0);
    put(p, w, RG_PRIMAL, w0);
    rg_tape *t = begin(p, 0);
    do_step(p, step, rate, x, w);
    GOOD(rg_args_set_array(lost, RG_STR("x"), x));
    GOOD(rg_args_set_array(lost, RG_STR("w"), w));
    GOOD(rg_args_set_float(lost, RG_STR("rate"), rate));
    setenv("RG_COMPILE_PROCESS", "/nowhere/helper", 1);
    FAILS(rg_launch(p->queue, lost, RG_FORWARD), RG_DEVICE, "/nowhere/helper");
    unsetenv("RG_COMPILE_PROCESS");
    do_step(p, step, rate, x, w);
    GOOD(rg_tape_end(t));
    put(p, x, RG_ADJOINT, ones);
    GOOD(rg_tape_vjp(t));
    get(p, x, RG_ADJOINT, d);
    for (int i = 0; i < N; i++)
        with[i] = (1 + rate * w0[i] * cos(x0[i])) * (1 + rate * w0[i] * cos(x0[i] + rate * w0[i] * sin(x0[i])));
    check_close(d, with, 1e-14, "after a launch that was not compiled");
    rg_tape_destroy(t);
    rg_args_destroy(lost);
    rg_args_destroy(step);
    rg_module_destroy(module);
    rg_array_destroy(x), rg_array_destroy(w);
}

/* What arrays hold at the end counts also where nothing else of them is saved. */
static void
test_budget_of_ends(const place *p)
{
    enum { LARGE = 12 * N };
    rg_array *x = make(p, "x", true, N), *w = make(p, "w", true, N), *large = make(p, "large", true, LARGE);
    rg_args *step = args_of(p, p->step);
    uint64_t budget = 16 * STATE;
    rg_tape_info info = RG_INIT(rg_tape_info);
    found want, f;
    loop_in_kernel(p, 28, &want);
    put(p, x, RG_PRIMAL, x0);
    put(p, w, RG_PRIMAL, w0);
    rg_tape *t = begin(p, budget);
    for (int k = 0; k < 14; k++)
        do_step(p, step, rate, x, w);
    GOOD(rg_array_fill(p->queue, large, RG_PRIMAL, 2)); /* takes the room of states */
    for (int k = 0; k < 14; k++)
        do_step(p, step, rate, x, w);
    GOOD(rg_tape_end(t));
    put(p, x, RG_ADJOINT, ones);
    GOOD(rg_tape_vjp(t));
    GOOD(rg_tape_get_info(t, &info));
    CHECK(info.peak <= budget && info.recomputed > 0, "%d of %d bytes", (int)info.peak, (int)budget);
    get(p, x, RG_PRIMAL, f.x);
    get(p, x, RG_ADJOINT, f.dx);
    get(p, w, RG_ADJOINT, f.dw);
    check_found(&f, &want, "a budget that ends take from");
    rg_tape_destroy(t);
    rg_args_destroy(step);
    rg_array_destroy(x), rg_array_destroy(w), rg_array_destroy(large);
}

typedef struct intruder {
    const place *p;
    rg_tape *tape;
    rg_array *x;
} intruder;

/* What a call does is its own affair. */
static rg_status
intrude(void *user)
{
    intruder *in = user;
    FAILS(rg_tape_resume(in->tape), RG_INVALID, "is doing a call");
    FAILS(rg_tape_end(in->tape), RG_INVALID, "is doing a call");
    FAILS(rg_tape_stop_gradient(in->tape, in->x), RG_INVALID, "is doing a call");
    rg_tape_destroy(in->tape); /* has no effect */
    return rg_array_fill(in->p->queue, in->x, RG_PRIMAL, 2);
}

static void
test_intruder(const place *p)
{
    rg_array *x = make(p, "x", true, N);
    rg_tape *t = begin(p, 0);
    intruder in = {p, t, x};
    rg_tape_call_desc call = RG_DESC(rg_tape_call_desc, .name = RG_STR("intrude"), .forward = intrude, .user = &in, .writes = &x,
                                     .write_count = 1);
    rg_tape_info info = RG_INIT(rg_tape_info);
    GOOD(rg_tape_call(t, &call));
    GOOD(rg_tape_get_info(t, &info));
    CHECK(info.operations == 1, "%d", (int)info.operations);
    GOOD(rg_tape_end(t));
    GOOD(rg_tape_vjp(t));
    rg_tape_destroy(t);
    rg_array_destroy(x);
}

/* Adjoints that go, or fall together, between the recording and the reverse. */
static void
test_adjoints_changed(const place *p)
{
    double both[N] = {0};
    rg_array *x = make(p, "x", true, N), *y = make(p, "y", true, N), *z = make(p, "z", true, N);
    rg_tape *t = begin(p, 0);
    GOOD(rg_array_copy(p->queue, y, RG_PRIMAL, x, RG_PRIMAL));
    GOOD(rg_array_copy(p->queue, z, RG_PRIMAL, y, RG_PRIMAL));
    GOOD(rg_tape_end(t));
    GOOD(rg_array_attach(y, RG_ADJOINT, NULL));
    FAILS(rg_tape_vjp(t), RG_INVALID, "array `y` has no adjoint any more");
    GOOD(rg_array_require(p->queue, y, RG_ADJOINT));
    GOOD(rg_tape_vjp(t));
    if (devices_share_memory(p->queue)) {
        GOOD(rg_array_attach(x, RG_ADJOINT, both));
        GOOD(rg_array_attach(z, RG_ADJOINT, both));
        FAILS(rg_tape_vjp(t), RG_INVALID, "overlaps in memory with another array of the tape");
    }
    rg_tape_destroy(t);
    rg_array_destroy(x), rg_array_destroy(y), rg_array_destroy(z);
}

/* Beside the refusals above. */
static void
test_not_for_tapes(const place *p)
{
    rg_queue *elsewhere;
    rg_graph *graph;
    rg_tape *first, *t;
    double d[N];
    rg_array *x = make(p, "x", true, N), *y = make(p, "y", true, N), *away;
    rg_args *twice = args_of(p, p->twice);
    devices_desc interp = {.device = RG_STR("interp")};
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N});
    GOOD(devices_open(&interp, &elsewhere));
    GOOD(rg_array_create(elsewhere, &desc, &away));
    GOOD(rg_args_set_array(twice, RG_STR("x"), x));
    GOOD(rg_graph_begin(p->queue));
    GOOD(rg_launch(p->queue, twice, RG_FORWARD));
    GOOD(rg_graph_end(p->queue, &graph));
    first = begin(p, 0);
    GOOD(rg_tape_end(first));
    put(p, y, RG_ADJOINT, w0);
    t = begin(p, 0);
    FAILS(rg_graph_launch(graph), RG_INVALID, "rg_graph_launch: a tape records");
    FAILS(rg_tape_vjp(first), RG_INVALID, "rg_tape_vjp of another tape: a tape records");
    FAILS(rg_array_copy(p->queue, x, RG_PRIMAL, away, RG_PRIMAL), RG_INVALID, "from another device: a tape records");
    GOOD(rg_array_copy(elsewhere, away, RG_PRIMAL, x, RG_PRIMAL)); /* to there: it is read */
    GOOD(rg_launch(p->queue, twice, RG_FORWARD));
    GOOD(rg_array_copy(p->queue, y, RG_PRIMAL, y, RG_ADJOINT)); /* a constant */
    GOOD(rg_array_fill(p->queue, x, RG_ADJOINT, 5));            /* a seed */
    GOOD(rg_tape_end(t));
    GOOD(rg_tape_vjp(t));
    get(p, x, RG_ADJOINT, d);
    CHECK(d[0] == 10 && d[N - 1] == 10, "%g", d[0]);
    get(p, y, RG_ADJOINT, d);
    check_close(d, zeros, 0, "a copy of an adjoint");
    rg_tape_destroy(first), rg_tape_destroy(t);
    rg_graph_destroy(graph);
    rg_args_destroy(twice);
    rg_array_destroy(x), rg_array_destroy(y), rg_array_destroy(away);
    rg_queue_destroy(elsewhere);
}

/* Only what a reverse reads is saved. */
static void
test_saved(const place *p)
{
    rg_array *x = make(p, "x", true, N), *y = make(p, "y", true, N), *z = make(p, "z", true, N);
    rg_args *twice = args_of(p, p->twice), *product = args_of(p, p->product);
    rg_tape_info info = RG_INIT(rg_tape_info);
    double d[N];
    put(p, x, RG_PRIMAL, ones);
    put(p, y, RG_PRIMAL, w0);
    GOOD(rg_args_set_array(twice, RG_STR("x"), x));
    rg_tape *t = begin(p, 0);
    for (int k = 0; k < 10; k++)
        GOOD(rg_launch(p->queue, twice, RG_FORWARD));
    GOOD(rg_tape_get_info(t, &info));
    CHECK(info.bytes == 0 && info.operations == 10, "%d", (int)info.bytes);
    set_product(product, 1, x, y, z);
    GOOD(rg_launch(p->queue, product, RG_FORWARD));
    for (int k = 0; k < 10; k++)
        GOOD(rg_launch(p->queue, twice, RG_FORWARD));
    GOOD(rg_tape_get_info(t, &info));
    CHECK(info.bytes == STATE, "%d", (int)info.bytes);
    GOOD(rg_tape_end(t));
    put(p, z, RG_ADJOINT, ones);
    put(p, x, RG_ADJOINT, ones); /* two losses */
    GOOD(rg_tape_vjp(t));
    get(p, x, RG_ADJOINT, d);
    for (int i = 0; i < N; i++)
        CHECK(fabs(d[i] - (1048576 + 1024 * w0[i])) < 1e-8, "%g", d[i]);
    rg_tape_destroy(t);
    rg_args_destroy(twice), rg_args_destroy(product);
    rg_array_destroy(x), rg_array_destroy(y), rg_array_destroy(z);
}

/* Several losses at once: adjoints have a direction for each, also through copies, fills and what is saved. */
static void
test_directions(const place *p, bool side_by_side)
{
    enum { WAYS = 3 };
    double seeds[WAYS * N], found[WAYS * N];
    rg_array *a[3];
    rg_args *product = args_of(p, p->product);
    for (int k = 0; k < 3; k++) {
        a[k] = make(p, (const char *const[]){"x", "y", "z"}[k], false, N);
        GOOD(rg_array_set_side_by_side(a[k], side_by_side));
        GOOD(rg_array_require_directions(p->queue, a[k], RG_ADJOINT, WAYS));
    }
    put(p, a[0], RG_PRIMAL, x0);
    rg_tape *t = begin(p, 0);
    GOOD(rg_array_copy(p->queue, a[1], RG_PRIMAL, a[0], RG_PRIMAL));
    set_product(product, 2, a[0], a[1], a[2]);
    GOOD(rg_launch(p->queue, product, RG_FORWARD)); /* z = 2 x x */
    GOOD(rg_array_fill(p->queue, a[1], RG_PRIMAL, 3));
    GOOD(rg_tape_end(t));
    for (int i = 0; i < WAYS * N; i++)
        seeds[i] = i + 1;
    GOOD(rg_array_write(p->queue, a[2], RG_ADJOINT, seeds, sizeof seeds));
    GOOD(rg_array_write(p->queue, a[1], RG_ADJOINT, seeds, sizeof seeds));
    GOOD(rg_tape_vjp(t));
    GOOD(rg_array_read(p->queue, a[0], RG_ADJOINT, found, sizeof found));
    for (int i = 0; i < WAYS * N; i++) {
        double want = 4 * x0[side_by_side ? i / WAYS : i % N] * seeds[i];
        CHECK(fabs(found[i] - want) <= 1e-14 * fabs(want), "direction %d on %s: %.17g, not %.17g", i, check_on, found[i], want);
    }
    GOOD(rg_array_read(p->queue, a[1], RG_ADJOINT, found, sizeof found));
    for (int i = 0; i < WAYS * N; i++)
        CHECK(found[i] == 0, "%g", found[i]);
    rg_tape_destroy(t);
    rg_args_destroy(product);
    for (int k = 0; k < 3; k++)
        rg_array_destroy(a[k]);
}

static void
test_other_directions(const place *p, uint32_t ways, bool side_by_side)
{
    rg_array *x = make(p, "x", false, N), *y = make(p, "y", false, N);
    GOOD(rg_array_set_side_by_side(y, side_by_side));
    GOOD(rg_array_require_directions(p->queue, x, RG_ADJOINT, 2));
    GOOD(rg_array_require_directions(p->queue, y, RG_ADJOINT, ways));
    rg_tape *t = begin(p, 0);
    GOOD(rg_array_copy(p->queue, y, RG_PRIMAL, x, RG_PRIMAL));
    GOOD(rg_tape_end(t));
    FAILS(rg_tape_vjp(t), RG_INVALID, "has other directions, or has them in another order");
    rg_tape_destroy(t);
    rg_array_destroy(x), rg_array_destroy(y);
}

/* Arrays without elements. */
static void
test_no_elements(const place *p, uint64_t budget)
{
    rg_array *x = make(p, "x", true, 0), *w = make(p, "w", true, 0);
    rg_args *step = args_of(p, p->step);
    GOOD(rg_args_set_int(step, RG_STR("n"), 0));
    rg_tape *t = begin(p, budget);
    for (int k = 0; k < 3; k++)
        do_step(p, step, rate, x, w);
    GOOD(rg_array_copy(p->queue, w, RG_PRIMAL, x, RG_PRIMAL));
    GOOD(rg_array_fill(p->queue, x, RG_PRIMAL, 1));
    GOOD(rg_tape_end(t));
    GOOD(rg_tape_vjp(t));
    GOOD(rg_tape_vjp(t));
    rg_tape_destroy(t);
    rg_args_destroy(step);
    rg_array_destroy(x), rg_array_destroy(w);
}

/* One after the other, the second one on what the first one left. */
static void
test_two_tapes(const place *p)
{
    found want, f;
    rg_tape *t[2];
    rg_array *x = make(p, "x", true, N), *w = make(p, "w", true, N);
    rg_args *args = args_of(p, p->step);
    loop_in_kernel(p, 2, &want);
    put(p, x, RG_PRIMAL, x0);
    put(p, w, RG_PRIMAL, w0);
    for (int k = 0; k < 2; k++) {
        t[k] = begin(p, 0);
        do_step(p, args, rate, x, w);
        GOOD(rg_tape_end(t[k]));
    }
    put(p, x, RG_ADJOINT, ones);
    GOOD(rg_tape_vjp(t[1]));
    GOOD(rg_tape_vjp(t[0]));
    get(p, x, RG_PRIMAL, f.x);
    get(p, x, RG_ADJOINT, f.dx);
    get(p, w, RG_ADJOINT, f.dw);
    check_found(&f, &want, "two tapes");
    rg_tape_destroy(t[0]), rg_tape_destroy(t[1]);
    rg_args_destroy(args);
    rg_array_destroy(x), rg_array_destroy(w);
}

/* -- memory that runs out --------------------------------------------------------------------------------------------------- */

/* The n-th allocation fails. true: none did. */
static bool
try_without_memory(const place *p, rg_array *x, rg_array *w, rg_args *args, long n)
{
    rg_tape *t = NULL;
    rg_tape_desc desc = RG_DESC(rg_tape_desc, .budget = 4 * STATE);
    mem_fail_after(n);
    rg_status status = rg_tape_begin(p->queue, &desc, &t);
    for (int k = 0; k < 7 && !status; k++)
        status = k == 5 ? rg_array_fill(p->queue, w, RG_PRIMAL, 0.5) : rg_launch(p->queue, args, RG_FORWARD);
    if (!status)
        status = rg_array_copy(p->queue, w, RG_PRIMAL, x, RG_PRIMAL);
    if (!status)
        status = rg_tape_end(t);
    if (!status)
        status = rg_tape_vjp(t);
    mem_fail_after(0);
    rg_tape_destroy(t);
    CHECK(!status || status == RG_OUT_OF_MEMORY, "allocation %ld on %s: %s: %s", n, check_on, rg_status_name(status),
          rg_error_message());
    return !status;
}

/* A launch that failed for want of memory can be made again. */
static void
test_launch_again(const place *p, rg_array *x, rg_array *w, rg_args *args, const found *want, long n)
{
    found f;
    put(p, x, RG_PRIMAL, x0);
    put(p, w, RG_PRIMAL, w0);
    put(p, x, RG_ADJOINT, ones);
    put(p, w, RG_ADJOINT, zeros);
    rg_tape *t = begin(p, 0);
    mem_fail_after(n);
    rg_status status = rg_launch(p->queue, args, RG_FORWARD);
    mem_fail_after(0);
    CHECK(!status || status == RG_OUT_OF_MEMORY, "allocation %ld on %s: %s: %s", n, check_on, rg_status_name(status),
          rg_error_message());
    GOOD(status ? rg_launch(p->queue, args, RG_FORWARD) : RG_OK);
    GOOD(rg_tape_end(t));
    GOOD(rg_tape_vjp(t));
    get(p, x, RG_PRIMAL, f.x);
    get(p, x, RG_ADJOINT, f.dx);
    get(p, w, RG_ADJOINT, f.dw);
    char what[64];
    snprintf(what, sizeof what, "a launch made again, %ld, %s", n, rg_status_name(status));
    check_found(&f, want, what);
    rg_tape_destroy(t);
}

static void
test_memory(const place *p)
{
    rg_array *x = make(p, "x", true, N), *w = make(p, "w", true, N);
    rg_args *args = args_of(p, p->step);
    found want, f[2];
    rg_tape_info info = RG_INIT(rg_tape_info);
    long n = 1;
    GOOD(rg_args_set_float(args, RG_STR("rate"), rate));
    GOOD(rg_args_set_array(args, RG_STR("x"), x));
    GOOD(rg_args_set_array(args, RG_STR("w"), w));
    CHECK(try_without_memory(p, x, w, args, 0), "the kernels are compiled now");
    while (!try_without_memory(p, x, w, args, n) && n < 100000)
        n += 1 + n / 40;
    CHECK(n < 100000, "an allocation still failed on %s", check_on);
    loop_in_kernel(p, 1, &want);
    for (n = 1; n < 60; n++)
        test_launch_again(p, x, w, args, &want, n);
    loop_in_kernel(p, 20, &want); /* and all is as before */
    loop_on_host(p, 20, 3 * STATE, f, &info);
    check_found(&f[0], &want, "after failures");
    rg_args_destroy(args);
    rg_array_destroy(x), rg_array_destroy(w);
}

int
main(int argc, char **argv)
{
    bool steps = argc > 3 && strcmp(argv[1], "--long") == 0, sequences = argc > 3 && strcmp(argv[1], "--random") == 0;
    for (const char *const *device = devices_to_test(); *device; device++) {
        check_on = *device;
        place p = open_place();
        if (steps)
            test_cost(&p, atoi(argv[2]), atoi(argv[3]), true);
        if (sequences)
            printf("%s: %u of %s sequences judged\n", check_on, test_sequences(&p, (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3])),
                   argv[3]);
        if (steps || sequences) {
            close_place(&p);
            continue;
        }
        test_loop(&p);
        test_progress(&p);
        test_cost(&p, 1000, 12, false);
        unsigned judged = test_sequences(&p, 1, SEQUENCES);
        CHECK(2 * judged > SEQUENCES, "%u", judged);
        for (int how = NONE; how < MEDDLINGS; how++)
            if (how < MAPPED_OPEN || devices_share_memory(p.queue))
                test_meddling(&p, (meddling)how);
        test_severed(&p);
        test_severed_input(&p, false);
        test_severed_input(&p, true);
        test_flow(&p);
        test_refusals(&p);
        test_reverse_meddles(&p);
        test_empty(&p);
        test_closed_queue();
        test_saved(&p);
        test_refused_launch(&p);
        test_uncompiled_launch(&p);
        test_budget_of_ends(&p);
        test_intruder(&p);
        test_adjoints_changed(&p);
        test_not_for_tapes(&p);
        test_directions(&p, false);
        test_directions(&p, true);
        test_other_directions(&p, 3, false);
        test_other_directions(&p, 2, true);
        test_no_elements(&p, 0);
        test_no_elements(&p, 1);
        test_two_tapes(&p);
        if (strcmp(check_on, "interp") == 0 || strcmp(check_on, "simt") == 0)
            test_memory(&p);
        close_place(&p);
    }
    return check_done();
}
