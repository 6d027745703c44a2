/* What is paid besides the work: memory of the tape, launches, compiling. SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"
#include "parts.h"
#include "../../tests/queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- the tape ---------------------------------------------------------------------------------- */

/* Gradients with a budget, each on a context of its own; the first, without one, is what others are compared with. */
static bool
tape_row(const settings *s, const problem *p, uint64_t budget, float *expected)
{
    size_t count = p->params[2].count;
    float *got = malloc(sizeof *got * count);
    run_desc desc = run_describe(MATH_OWN, budget);
    run r;
    bool good = run_open(&r, s, &desc, p) && run_reset(&r, p);
    size_t opened = machine_used();
    rg_status status = good ? rg_launch(r.queue, r.args, RG_VJP) : RG_INVALID;
    if (good && status == RG_OK)
        status = rg_queue_sync(r.queue);
    if (status == RG_OK) {
        double ms = run_time(&r, p, RG_VJP, s->repeat), grown = (double)machine_used() - (double)opened;
        good = run_once(&r, p, RG_VJP) &&
               run_fine(rg_array_read(r.queue, r.arrays[2], RG_ADJOINT, got, sizeof *got * count), p->kernel);
        bool same = budget == 0 || memcmp(got, expected, sizeof *got * count) == 0;
        printf("| %11.1f | %8.3f | %10.1f | %10.1f |%s\n", 1e-6 * (double)budget, ms, 1e-6 * (double)rg_queue_tape_peak(r.queue),
               1e-6 * fmax(grown, 0.0), same ? "" : " WRONG");
        good = good && same;
    } else if (good) {
        printf("| %11.1f | %s: %s\n", 1e-6 * (double)budget, rg_status_name(status), rg_error_message());
        good = status == RG_BUDGET;
    }
    if (budget == 0)
        memcpy(expected, got, sizeof *got * count);
    fflush(stdout);
    run_close(&r);
    free(got);
    return good;
}

/* By hand, with all states of one thread kept: the adjoint of x where that of y is `seed`. */
static double
pendulums_by_hand(double x, int steps, double seed, double *kept)
{
    double angle[7] = {0}, speed[5] = {0}, to_angle[7] = {0}, to_speed[5] = {0}, result = 0.0;
    for (int k = 0; k < 5; k++)
        angle[k + 1] = (k + 1) * x;
    for (int t = 0; t < steps; t++) {
        memcpy(kept + 10 * t, angle + 1, 5 * sizeof *kept);
        memcpy(kept + 10 * t + 5, speed, 5 * sizeof *kept);
        for (int k = 0; k < 5; k++)
            speed[k] += 0.002 * (0.5 * (angle[k] - 2.0 * angle[k + 1] + angle[k + 2]) - sin(angle[k + 1]) - 0.1 * pow(speed[k], 3.0));
        for (int k = 0; k < 5; k++)
            angle[k + 1] += 0.002 * speed[k];
    }
    for (int k = 0; k < 5; k++)
        to_angle[k + 1] = 2.0 * angle[k + 1] * seed;
    for (int t = steps; t-- > 0;) {
        const double *a = kept + 10 * t, *v = a + 5;
        double pull[5];
        for (int k = 0; k < 5; k++) {
            to_speed[k] += 0.002 * to_angle[k + 1];
            pull[k] = 0.002 * to_speed[k];
            to_speed[k] -= 0.3 * v[k] * v[k] * pull[k];
        }
        for (int k = 0; k < 5; k++) {
            to_angle[k] += 0.5 * pull[k];
            to_angle[k + 1] -= (1.0 + cos(a[k])) * pull[k];
            to_angle[k + 2] += 0.5 * pull[k];
        }
        to_angle[0] = to_angle[6] = 0.0; /* where the chain is held */
    }
    for (int k = 0; k < 5; k++)
        result += (k + 1) * to_angle[k + 1];
    return result;
}

/* The error of a sample of the gradient; infinite where it is no number. */
static double
pendulums_error(run *r, const problem *p, double *kept)
{
    size_t n = p->params[2].count;
    float *got = malloc(n * sizeof *got);
    double off = 0.0, all = 0.0;
    bool good = run_once(r, p, RG_VJP) &&
                run_fine(rg_array_read(r->queue, r->arrays[2], RG_ADJOINT, got, n * sizeof *got), p->kernel);
    for (size_t i = 0; good && i < n; i += i + 331 < n ? 331 : 1) {
        double want = pendulums_by_hand(((const float *)p->params[2].initial)[i], ((const int *)p->params[1].initial)[i],
                                        p->params[3].seed[i], kept);
        off += (got[i] - want) * (got[i] - want);
        all += want * want;
    }
    free(got);
    return good && isfinite(off) ? sqrt(off / all) : INFINITY;
}

/* What takes 43 GB as a slice of memory for each thread. */
static bool
large_tape(const settings *s)
{
    enum { STEPS = 4096 };
    static const uint64_t megabytes[] = {0, 2000, 500};
    int n = (int)(131072 * s->scale);
    double *kept = malloc(sizeof *kept * 10 * STEPS);
    bool good = true;
    printf("\ntape of pendulums, %d threads, ten f64 in each of up to %d steps; threads times the longest: %.0f MB\n"
           "| trips     | budget (MB) | forward  | gradient | peak (MB)  | error   |\n|---|---|---|---|---|---|\n",
           n, STEPS, 8e-5 * STEPS * n);
    for (spread how = SPREAD_UNIFORM; how <= SPREAD_RARE; how++) {
        problem p;
        problem_recurrence(&p, "pendulums", n, STEPS, how);
        for (unsigned k = 0; k < sizeof megabytes / sizeof *megabytes; k++) {
            run_desc desc = run_describe(MATH_OWN, megabytes[k] * 1000000);
            run r;
            if (!run_open(&r, s, &desc, &p)) {
                good = false;
                continue;
            }
            double forward = run_time(&r, &p, RG_FORWARD, s->repeat), gradient = run_time(&r, &p, RG_VJP, s->repeat);
            double error = pendulums_error(&r, &p, kept);
            bool right = forward >= 0.0 && gradient >= 0.0 && error <= 1e-6;
            printf("| %-9s | %11.1f | %8.3f | %8.3f | %10.1f | %7.1e%s |\n", spread_names[how], (double)megabytes[k], forward, gradient,
                   1e-6 * (double)rg_queue_tape_peak(r.queue), error, right ? "" : " WRONG");
            fflush(stdout);
            good &= right;
            run_close(&r);
        }
        problem_free(&p);
    }
    free(kept);
    return good;
}

bool
part_tape(const settings *s)
{
    static const uint64_t megabytes[] = {0, 250, 128, 64};
    static const char *const plans[] = {NULL, "block=1"};
    int n = (int)(1048576 * s->scale);
    float *expected = malloc(sizeof *expected * (size_t)n);
    bool good = true;
    problem p;
    problem_recurrence(&p, "sines", n, 1024, SPREAD_RARE);
    for (unsigned plan = 0; plan < 2; plan++) {
        printf("\ntape of sines, %d threads, 1 in 1000 with 1024 steps, plan %s; threads times the longest: %.0f MB\n", n,
               plans[plan] ? plans[plan] : "of its own", 4e-6 * 1024.0 * n);
        printf("| budget (MB) |       ms | peak (MB)  | grown (MB) |\n|---|---|---|---|\n");
        if (plans[plan])
            setenv("RG_PLAN", plans[plan], 1);
        for (unsigned k = 0; k < sizeof megabytes / sizeof *megabytes; k++)
            good &= tape_row(s, &p, megabytes[k] * 1000000, expected);
        unsetenv("RG_PLAN");
    }
    problem_free(&p);
    free(expected);
    return large_tape(s) && good;
}

/* -- launches ---------------------------------------------------------------------------------- */

/* Microseconds by the host's clock for each of many launches. */
static double
launch_cost(run *r, rg_form form, unsigned count)
{
    double started = 0.0;
    for (unsigned round = 0; round < 2; round++) {
        if (!run_fine(rg_queue_sync(r->queue), "empty"))
            return -1.0;
        started = machine_now();
        for (unsigned k = 0; k < count; k++)
            if (!run_fine(rg_launch(r->queue, r->args, form), "empty"))
                return -1.0;
        if (!run_fine(rg_queue_sync(r->queue), "empty"))
            return -1.0;
    }
    return 1e3 * (machine_now() - started) / count;
}

bool
part_launches(const settings *s)
{
    enum { COUNT = 2000 };
    run_desc desc = run_describe(MATH_OWN, 0);
    problem p;
    run r;
    problem_empty(&p);
    if (!run_open(&r, s, &desc, &p))
        return false;
    double times[5], bare[5], wide[5], gpu = run_time(&r, &p, RG_FORWARD, s->repeat);
    bool good = gpu >= 0.0;
    for (unsigned k = 0; k < 5; k++) {
        times[k] = launch_cost(&r, RG_FORWARD, COUNT);
        bare[k] = machine_bare_launch(1, COUNT);
        wide[k] = machine_bare_launch(132 * 16, COUNT);
        good = good && times[k] >= 0.0 && bare[k] >= 0.0 && wide[k] >= 0.0;
    }
    double ours = median_of(times, 5), theirs = median_of(bare, 5);
    printf("\nlaunch of an empty kernel: %.2f us (of the device's time %.2f)", ours, 1e3 * gpu);
    if (theirs > 0.0)
        printf("; a bare one of the driver: %.2f us, %.2f times; of a grid of 2112 blocks: %.2f us", theirs, ours / theirs,
               median_of(wide, 5));
    printf("\n");
    run_close(&r);
    return good;
}

/* -- compiling --------------------------------------------------------------------------------- */

/* Milliseconds of the first launch over those of the next. */
static double
first_launch(run *r, const problem *p, rg_form form)
{
    double t[2] = {0};
    for (unsigned k = 0; k < 2; k++) {
        if (!run_reset(r, p) || !run_fine(rg_queue_sync(r->queue), p->kernel))
            return -1.0;
        double started = machine_now();
        if (!run_fine(rg_launch(r->queue, r->args, form), p->kernel) || !run_fine(rg_queue_sync(r->queue), p->kernel))
            return -1.0;
        t[k] = machine_now() - started;
    }
    return t[0] - t[1];
}

static bool
compile_row(const settings *s, const problem *p, double *worst)
{
    run_desc desc = run_describe(MATH_OWN, 0);
    run r;
    double started = machine_now();
    if (!run_open(&r, s, &desc, p))
        return false;
    double opened = machine_now() - started, primal = first_launch(&r, p, RG_FORWARD);
    double gradient = first_launch(&r, p, RG_VJP);
    printf("| %-24s | %8.1f | %8.1f | %8.1f | %8.1f |\n", p->title, opened, primal, gradient, opened + primal + gradient);
    fflush(stdout);
    *worst = fmax(*worst, opened + primal + gradient);
    run_close(&r);
    return primal >= -50.0 && gradient >= -50.0;
}

bool
part_compile(const settings *s)
{
    double worst = 0.0;
    bool good = true;
    problem p;
    rg_queue *warm = NULL;
    run_desc desc = run_describe(MATH_OWN, 0);
    good = run_fine(queue_open(s->device, &desc.queue, &warm), "queue");
    printf("\ncompiling, ms by the host's clock\n"
           "| kernel                   | to IR    | kernel   | gradient | together |\n|---|---|---|---|---|\n");
    for (unsigned k = 0; good && k < 2; k++) {
        problem_recurrence(&p, k ? "products" : "sines", 4096, 64, SPREAD_RAGGED);
        good &= compile_row(s, &p, &worst);
        problem_free(&p);
    }
    for (unsigned k = 0; good && k < PROBLEMS; k++) {
        problem_make(&p, k, 1.0 / 256);
        good &= compile_row(s, &p, &worst);
        problem_free(&p);
    }
    printf("slowest: %.0f ms\n", worst);
    rg_queue_destroy(warm);
    return good;
}
