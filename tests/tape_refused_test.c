/* Tapes of the host: what they refuse, and what is not recorded. SPDX-License-Identifier: Apache-2.0 */
#include "tape_place.h"

#include <stdlib.h>

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
    if (!devices_uses_llvm(check_on))
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

int
main(void)
{
    for (const char *const *device = devices_to_test(); *device; device++) {
        check_on = *device;
        place p = open_place();
        for (int how = NONE; how < MEDDLINGS; how++)
            if (how < MAPPED_OPEN || devices_share_memory(p.queue))
                test_meddling(&p, (meddling)how);
        test_severed(&p);
        test_severed_input(&p, false);
        test_severed_input(&p, true);
        test_flow(&p);
        test_refusals(&p);
        test_reverse_meddles(&p);
        test_refused_launch(&p);
        test_uncompiled_launch(&p);
        test_intruder(&p);
        test_adjoints_changed(&p);
        test_not_for_tapes(&p);
        close_place(&p);
    }
    return check_done();
}
