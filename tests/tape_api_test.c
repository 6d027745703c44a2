/* Tapes of the host: loops against one kernel that loops, with budgets and without; states, directions, and memory that runs
 * out. SPDX-License-Identifier: Apache-2.0
 *   tape_api_test [--long STEPS STATES] */
#include "tape_place.h"

#include "api/revolve.h"
#include "base/base.h"

#include <stdlib.h>

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

/* One array is both ends; the first on the tape is another one. */
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
    bool steps = argc > 3 && strcmp(argv[1], "--long") == 0;
    for (const char *const *device = devices_to_test(); *device; device++) {
        check_on = *device;
        place p = open_place();
        if (steps) {
            test_cost(&p, atoi(argv[2]), atoi(argv[3]), true);
            close_place(&p);
            continue;
        }
        test_loop(&p);
        test_progress(&p);
        test_cost(&p, 1000, 12, false);
        test_empty(&p);
        test_closed_queue();
        test_saved(&p);
        test_budget_of_ends(&p);
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
