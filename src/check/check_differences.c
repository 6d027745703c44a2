/* Gradient and tangents against central differences, in f64. SPDX-License-Identifier: Apache-2.0
 *
 * One component of the inputs is moved at a time. What all of memory is then, weighted, is held against the gradient's component;
 * element by element against what a jvp leaves for that component alone. */
#include "check/check_subject.h"

#include "rt/interp/interp.h"

#include <float.h>
#include <math.h>

typedef struct sample {
    uint32_t param;
    size_t element;
} sample;

/* A comparison that grows: absolute errors, judged by the largest number that was expected. */
typedef struct tally {
    check_finding f;
    double largest, error;
} tally;

typedef struct differences {
    subject *s;
    const ir_fn *forward, *jvp; /* as the interpreter runs them; jvp NULL: refused */
    memory w, gradient;         /* gradient: its adjoints */
    bool has_gradient;
    tally vjp_tally, jvp_tally;
    uint32_t tried, left_out; /* components; those where a branch or a count changes */
} differences;

static size_t
components(const subject *s)
{
    size_t total = 0;
    for (uint32_t i = 0; i < s->given; i++)
        total += check_is_real(s, i) ? check_count(s, i) : 0;
    return total;
}

static sample
component(const subject *s, size_t k)
{
    uint32_t i = 0;
    for (;; i++) {
        size_t count = check_is_real(s, i) ? check_count(s, i) : 0;
        if (k < count)
            return (sample){i, k};
        k -= count;
    }
}

static double
start_value(const subject *s, memory m, sample at)
{
    const rt_arg *arg = &m.args[at.param];
    return check_is_buffer(s, at.param) ? check_get(RG_F64, arg->plane[0], at.element)
                                        : ir_bits_float(RG_F64, arg->bits);
}

/* The kernel with one component moved by h; *steps tells whether the same path was taken. */
static bool
run_moved(const subject *s, const ir_fn *forward, sample at, double h, memory *m, uint64_t *steps)
{
    *m = check_memory(s);
    rt_arg *arg = &m->args[at.param];
    double x = start_value(s, *m, at) + h;
    if (check_is_buffer(s, at.param))
        check_put(RG_F64, arg->plane[0], at.element, x);
    else
        arg->bits = ir_float_bits(RG_F64, x);
    interp_options options = {.sink = check_no_prints};
    interp_report report = {0};
    rt_fault fault = interp_run(forward, m->args, &options, &report);
    *steps = report.steps;
    return fault == RT_OK;
}

/* <w, memory after> */
static double
weighted(const subject *s, memory w, memory m)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; check_is_real(s, i) && check_is_buffer(s, i) && k < check_count(s, i); k++)
            sum += check_get(RG_F64, w.args[i].plane[RG_ADJOINT], k) * check_get(RG_F64, m.args[i].plane[0], k);
    return sum;
}

/* `noise`: how far what is expected may be off */
static void
compare(const subject *s, tally *t, double found, double expected, double noise, sample by, uint32_t of, size_t element)
{
    t->f.compared++;
    if (!isfinite(expected) || !isfinite(noise)) {
        t->f.unshown++;
        return;
    }
    t->largest = fmax(t->largest, fmax(fabs(expected), isfinite(found) ? fabs(found) : 0));
    double error = fmax(0, check_difference(found, expected) - noise);
    if (error <= t->error)
        return;
    char input[64], output[64] = "";
    check_element_name(s, by.param, by.element, input, sizeof(input));
    if (of < s->n)
        check_element_name(s, of, element, output, sizeof(output));
    snprintf(t->f.where, sizeof(t->f.where), "d%s/d%s is %.9g, should be %.9g", output, input, found, expected);
    t->error = error;
}

/* Memory after the kernel with a component moved up and down, by h times each of `parts`; where it is not. */
enum { STEPS = 3 };
static const double parts[STEPS] = {1, 0.5, 8};
typedef struct moved {
    double h;
    memory up[STEPS], down[STEPS], middle;
} moved;

/* The slope, extrapolated from two quotients, and how far it may be off: a few times what the two differ by, twice what they
 * differ from the quotient of a longer step (where a kernel subtracts a large number from its input all steps are rounded,
 * and that one is least), and what rounding of the result does. */
static double
slope(const double up[STEPS], const double down[STEPS], double middle, double h, double *noise)
{
    double of[STEPS];
    for (unsigned k = 0; k < STEPS; k++)
        of[k] = (up[k] - down[k]) / (2 * h * parts[k]);
    *noise = 4 * fabs(of[1] - of[0]) + 2 * fabs(of[2] - of[1]) + fabs(middle) * DBL_EPSILON * 48 / h;
    return of[1] + (of[1] - of[0]) / 3;
}

static void
compare_gradient(differences *d, sample at, const moved *m)
{
    const subject *s = d->s;
    double found = check_get(RG_F64, d->gradient.args[at.param].plane[RG_ADJOINT], at.element), up[STEPS], down[STEPS], noise;
    for (unsigned k = 0; k < STEPS; k++) {
        up[k] = weighted(s, d->w, m->up[k]);
        down[k] = weighted(s, d->w, m->down[k]);
    }
    double expected = slope(up, down, weighted(s, d->w, m->middle), m->h, &noise);
    if (!check_is_buffer(s, at.param)) /* a scalar is part of memory too: it stays what it was */
        expected += check_get(RG_F64, d->w.args[at.param].plane[RG_ADJOINT], 0);
    compare(s, &d->vjp_tally, found, expected, noise, at, s->n, 0);
}

static void
compare_tangents(differences *d, sample at, const moved *m)
{
    const subject *s = d->s;
    memory jvp = check_memory(s);
    check_put(RG_F64, jvp.args[at.param].plane[RG_TANGENT], at.element, 1);
    if (interp_run(d->jvp, jvp.args, &(interp_options){.sink = check_no_prints}, NULL) != RT_OK)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; check_is_real(s, i) && check_is_buffer(s, i) && k < check_count(s, i); k++) {
            double up[STEPS], down[STEPS], noise;
            for (unsigned n = 0; n < STEPS; n++) {
                up[n] = check_get(RG_F64, m->up[n].args[i].plane[0], k);
                down[n] = check_get(RG_F64, m->down[n].args[i].plane[0], k);
            }
            double expected = slope(up, down, check_get(RG_F64, m->middle.args[i].plane[0], k), m->h, &noise);
            compare(s, &d->jvp_tally, check_get(RG_F64, jvp.args[i].plane[RG_TANGENT], k), expected, noise, at, i, k);
        }
}

/* false: a count or a branch changes on the way: no derivative to compare with */
static bool
move_sample(const subject *s, const ir_fn *forward, sample at, double x, moved *m)
{
    uint64_t middle, steps;
    m->h = 2 * cbrt(DBL_EPSILON) * fmax(1, fabs(x));
    if (!run_moved(s, forward, at, 0, &m->middle, &middle))
        return false;
    for (unsigned k = 0; k < STEPS; k++) {
        double h = m->h * parts[k];
        if (!run_moved(s, forward, at, h, &m->up[k], &steps) || steps != middle ||
            !run_moved(s, forward, at, -h, &m->down[k], &steps) || steps != middle)
            return false;
    }
    return true;
}

static void
compare_at(differences *d, sample at)
{
    moved m;
    d->tried++;
    if (!move_sample(d->s, d->forward, at, start_value(d->s, d->w, at), &m)) {
        d->left_out++;
        return;
    }
    if (d->has_gradient)
        compare_gradient(d, at, &m);
    if (d->jvp)
        compare_tangents(d, at, &m);
}

static void
add_tally(differences *d, tally *t, const char *test)
{
    check_finding f = t->f;
    char note[96];
    f.test = test;
    f.tolerance = 1e-6;
    f.error = t->error / fmax(t->largest, DBL_MIN);
    if (d->left_out) {
        snprintf(note, sizeof(note), "%u of %u components left out: a branch or a count changes there", d->left_out, d->tried);
        f.note = note;
    }
    if (d->left_out == d->tried && d->tried)
        f.outcome = CHECK_NOT_SHOWN;
    check_add(d->s, f);
}

/* The gradient for the adjoints w. */
static rg_status
prepare_differences(differences *d)
{
    subject *s = d->s;
    rg_status status = check_compile(s, s->interp, RG_FORWARD, &d->forward);
    if (!status)
        status = check_compile(s, s->interp, RG_JVP, &d->jvp);
    d->w = check_memory(s);
    d->gradient = check_memory(s);
    check_randomize(s, d->w, RG_ADJOINT, s->seed);
    check_randomize(s, d->gradient, RG_ADJOINT, s->seed);
    return status ? status : check_launch(s, s->interp, RG_FORWARD_VJP, d->gradient, &d->has_gradient);
}

rg_status
check_differences(subject *s, uint32_t samples, uint32_t parts)
{
    differences d = {.s = s};
    TRY(prepare_differences(&d));
    size_t total = components(s);
    bool all = total <= samples;
    uint64_t seed = s->seed + 2;
    for (size_t n = 0; n < (all ? total : (samples + parts - 1) / parts); n++) {
        arena_mark mark = arena_here(s->arena);
        compare_at(&d, component(s, all ? n : check_random(&seed) % total));
        arena_release(s->arena, mark);
    }
    if (d.has_gradient)
        add_tally(&d, &d.vjp_tally, "gradient against central differences");
    if (d.jvp)
        add_tally(&d, &d.jvp_tally, "jvp against central differences");
    return RG_OK;
}
