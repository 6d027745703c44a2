/* Checks of one kernel against itself. SPDX-License-Identifier: Apache-2.0
 *
 * Every launch is made on each device, in the kernel's own types and once more in f64, to which the kernel is promoted
 * in the IR. Compared are forward, gradient and tangents between devices; the arrays that a derivative's launch leaves with
 * those of the forward launch; a split gradient with the combined one. In f64 derivatives are judged: <vjp(w), u> = <w, jvp(u)>
 * for random w and u over all memory, and central differences. What cannot be compared is no agreement, and is said. */
#include "check/check_subject.h"

#include "diff/activity.h"
#include "opt/promote.h"
#include "retrograd/retrograd.h"
#include "rt/interp/interp.h"

#include <float.h>
#include <math.h>

enum { DEFAULT_SAMPLES = 24, DEVICES = 2 };

/* -- the start: forward, and whether threads race ------------------------------------------------ */

static bool
all_finite(const subject *s, memory m)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; check_is_real(s, i) && check_is_buffer(s, i) && k < check_count(s, i); k++)
            if (!isfinite(check_get((rg_dtype)check_type(s, i).dtype, m.args[i].plane[0], k)))
                return false;
    return true;
}

static const char races_test[] = "races of threads";

static void
note_race(subject *s, const interp_report *report)
{
    char note[400];
    snprintf(note, sizeof(note), "%s:%u:%u: %s; make both atomic, or give arrays of integers that keep threads apart",
             report->path ? report->path : "kernel", report->loc.line, report->loc.col, report->message);
    check_note(s, races_test, CHECK_FAILED, note);
}

/* Runs forward in the interpreter. *use: the start is one to go on with. *steps: what a run takes, and then the most that
 * another start may take. */
static rg_status
try_start(subject *s, const char *optional, uint64_t *steps, bool *use)
{
    const ir_fn *fn;
    rg_status status = check_compile(s, s->interp, RG_FORWARD, &fn);
    *use = false;
    if (status)
        return status;
    memory m = check_memory(s);
    interp_options options = {.races = true, .step_limit = *steps, .sink = check_no_prints};
    interp_report report;
    rt_fault fault = interp_run(fn, m.args, &options, &report);
    if (!optional && report.out_of_steps) {
        diag_add(s->diags, DIAG_ERROR, 0, (diag_place){0},
                 "kernel `%s` does not end within %llu operations of the interpreter\ngive it arguments for which it takes fewer",
                 s->fn->name, (unsigned long long)*steps);
        return RG_BUDGET;
    }
    /* a NaN on the way may be dropped by a comparison, but 0 times it is a NaN in a gradient, too */
    *use = !optional || (fault == RT_OK && !report.nans && all_finite(s, m));
    if (!*use) {
        char note[360];
        const char *why = fault == RT_OK ? "what the kernel computes there is not finite, or a NaN on the way" : "the kernel fails there: ";
        snprintf(note, sizeof(note), "%s%s", why, report.message);
        check_note(s, optional, CHECK_LEFT_OUT, note);
    } else if (report.race)
        note_race(s, &report);
    else
        check_note(s, races_test, CHECK_OK, NULL);
    if (!optional)
        *steps = 100 * report.steps + 1000000;
    return RG_OK;
}

/* -- launches against each other ------------------------------------------------------------------ */

/* What each launch left on one device. */
typedef struct launches {
    check_device *on; /* NULL: there is none */
    memory forward, combined, split, jvp;
    bool has_combined, has_split, has_jvp;
} launches;

static const double after_f64 = 1e-12, after_f32 = 1e-5, derivative_f64 = 1e-10, derivative_f32 = 1e-4;

static rg_status
run_split(subject *s, launches *l)
{
    bool ran;
    l->split = check_memory(s);
    rg_status status = check_launch(s, l->on, RG_FORWARD, l->split, &ran);
    check_randomize(s, l->split, RG_ADJOINT, s->seed);
    return status ? status : check_launch(s, l->on, RG_VJP, l->split, &l->has_split);
}

static rg_status
run_jvp(subject *s, launches *l)
{
    l->jvp = check_memory(s);
    check_randomize(s, l->jvp, RG_TANGENT, s->seed + 1);
    return check_launch(s, l->on, RG_JVP, l->jvp, &l->has_jvp);
}

static rg_status
run_launches(subject *s, launches *l, bool derivatives)
{
    bool ran;
    l->forward = check_memory(s);
    rg_status status = check_launch(s, l->on, RG_FORWARD, l->forward, &ran);
    if (!status && derivatives) {
        /* The adjoints that a gradient leaves for the adjoints w; the tangents that a jvp leaves for the tangents u. */
        l->combined = check_memory(s);
        check_randomize(s, l->combined, RG_ADJOINT, s->seed);
        status = check_launch(s, l->on, RG_FORWARD_VJP, l->combined, &l->has_combined);
    }
    if (!status && derivatives)
        status = run_split(s, l);
    return status || !derivatives ? status : run_jvp(s, l);
}

/* A derivative's launch leaves the arrays that the forward launch leaves. */
static void
compare_arrays(subject *s, const launches *l)
{
    struct {
        bool ran;
        const memory *m;
        const char *test;
    } all[] = {{l->has_combined, &l->combined, "arrays after the gradient, %s"},
               {l->has_split, &l->split, "arrays after a split gradient, %s"},
               {l->has_jvp, &l->jvp, "arrays after the jvp, %s"}};
    for (size_t k = 0; k < countof(all); k++)
        if (all[k].ran)
            check_compare(s, check_test_name(s, all[k].test, l->on), *all[k].m, l->forward, RG_PRIMAL, after_f64,
                          after_f32);
}

static void
compare_with_interpreter(subject *s, const launches *l, const launches *interp)
{
    struct {
        bool ran;
        const memory *found, *expected;
        unsigned plane;
        const char *test;
    } all[] = {
        {true, &l->forward, &interp->forward, RG_PRIMAL, "forward, %s against interpreter"},
        {l->has_combined && interp->has_combined, &l->combined, &interp->combined, RG_ADJOINT, "gradient, %s against interpreter"},
        {l->has_jvp && interp->has_jvp, &l->jvp, &interp->jvp, RG_TANGENT, "tangents, %s against interpreter"}};
    for (size_t k = 0; k < countof(all); k++)
        if (all[k].ran)
            check_compare(s, check_test_name(s, all[k].test, l->on), *all[k].found, *all[k].expected, all[k].plane,
                          all[k].plane ? derivative_f64 : after_f64, all[k].plane ? derivative_f32 : after_f32);
}

static rg_status
compare_launches(subject *s, launches all[DEVICES], bool derivatives)
{
    rg_status status = RG_OK;
    for (unsigned d = 0; d < DEVICES && !status; d++) {
        all[d] = (launches){.on = d ? s->other : s->interp};
        if (all[d].on)
            status = run_launches(s, &all[d], derivatives);
    }
    if (status)
        return status;
    if (all[1].on)
        compare_with_interpreter(s, &all[1], &all[0]);
    for (unsigned d = 0; d < DEVICES && all[d].on; d++) {
        compare_arrays(s, &all[d]);
        if (all[d].has_combined && all[d].has_split)
            check_compare(s, check_test_name(s, "split gradient against combined, %s", all[d].on), all[d].split,
                          all[d].combined, RG_ADJOINT, derivative_f64, derivative_f32);
    }
    return RG_OK;
}

/* -- vjp against jvp --------------------------------------------------------------------------- */

/* Sums over all memory; *norms: the product of both norms, to which an error is relative. */
static double
inner(const subject *s, memory a, unsigned plane_a, memory b, unsigned plane_b, double *norms)
{
    double sum = 0, aa = 0, bb = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; check_is_real(s, i) && k < check_count(s, i); k++) {
            rg_dtype d = (rg_dtype)check_type(s, i).dtype;
            double x = check_get(d, a.args[i].plane[plane_a], k), y = check_get(d, b.args[i].plane[plane_b], k);
            sum += x * y;
            aa += x * x;
            bb += y * y;
        }
    *norms = sqrt(aa) * sqrt(bb);
    return sum;
}

/* Two sums that should be equal: `format` takes both. */
static void __attribute__((format(printf, 6, 0)))
add_sums(subject *s, const char *test, double left, double right, double scale, const char *format, double tolerance)
{
    check_finding f = {.test = test, .tolerance = tolerance, .compared = 1};
    f.error = check_difference(left, right);
    f.unshown = f.error == 0 && !isfinite(left);
    if (f.error > 0)
        f.error /= fmax(scale, DBL_MIN);
    snprintf(f.where, sizeof(f.where), format, left, right);
    check_add(s, f);
}

static void
duality(subject *s, const launches *l, memory reverse, const char *format)
{
    memory u = check_memory(s), w = check_memory(s);
    check_randomize(s, u, RG_TANGENT, s->seed + 1);
    check_randomize(s, w, RG_ADJOINT, s->seed);
    double scale, other;
    double left = inner(s, reverse, RG_ADJOINT, u, RG_TANGENT, &scale);
    double right = inner(s, w, RG_ADJOINT, l->jvp, RG_TANGENT, &other);
    add_sums(s, check_test_name(s, format, l->on), left, right, scale, "<vjp(w), u> is %.17g, <w, jvp(u)> is %.17g", 1e-12);
}

/* -- second order ------------------------------------------------------------------------------- */

/* The Hessian of <w, f> is symmetric: <H u, v> = <H v, u>. H u is what the jvp of the gradient leaves
 * in the adjoints' tangents. */
static rg_status
hessian_along(subject *s, check_device *device, uint64_t direction, memory *m, bool *ran)
{
    *m = check_memory(s);
    check_randomize(s, *m, RG_ADJOINT, s->seed);
    check_randomize(s, *m, RG_TANGENT, direction);
    return check_launch(s, device, RG_JVP_FORWARD_VJP, *m, ran);
}

static rg_status
symmetry(subject *s, const launches *l)
{
    memory hu, hv, u = check_memory(s), v = check_memory(s);
    bool ran;
    check_randomize(s, u, RG_TANGENT, s->seed + 3);
    check_randomize(s, v, RG_TANGENT, s->seed + 4);
    rg_status status = hessian_along(s, l->on, s->seed + 3, &hu, &ran);
    if (!status && ran)
        status = hessian_along(s, l->on, s->seed + 4, &hv, &ran);
    if (status || !ran)
        return status;
    /* a Hessian that cancels is zero up to the rounding of the gradient */
    double scale_u, scale_v, gradient;
    inner(s, hu, RG_ADJOINT, v, RG_TANGENT, &gradient);
    double left = inner(s, hu, RG_ADJOINT | RG_TANGENT, v, RG_TANGENT, &scale_u);
    double right = inner(s, hv, RG_ADJOINT | RG_TANGENT, u, RG_TANGENT, &scale_v);
    add_sums(s, check_test_name(s, "symmetry of the Hessian, %s", l->on), left, right, fmax(fmax(scale_u, scale_v), gradient),
             "<H u, v> is %.17g, <u, H v> is %.17g", 1e-11);
    check_compare(s, check_test_name(s, "arrays after second order, %s", l->on), hu, l->forward, RG_PRIMAL, after_f64, after_f32);
    return RG_OK;
}

/* -- all of it --------------------------------------------------------------------------------- */

typedef struct activity {
    ad_activity found;
    bool any;
} activity;

static bool
find_active(ir_op *op, void *user)
{
    activity *a = user;
    for (uint32_t k = 0; k < op->nargs; k++)
        if (op->args[k]->type.kind != IR_BUFFER && ad_is_active(&a->found, op->args[k]))
            a->any = true;
    /* what an element was before is an operand of its update */
    a->any |= op->code == RG_OP_RMW && ir_is_float((rg_dtype)op->args[0]->type.dtype);
    return !a->any;
}

static bool
has_real(const subject *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (check_is_real(s, i))
            return true;
    return false;
}

/* Whether derivatives pass through any value of the kernel. */
static bool
is_differentiable(const subject *s)
{
    activity a = {.any = false};
    ad_activity_find(&a.found, s->fn, NULL, NULL, true, mem_scratch());
    ir_walk(s->fn->body, find_active, &a);
    return a.any;
}

static rg_status
check_derivatives(subject *wide, uint32_t samples, uint32_t parts)
{
    launches all[DEVICES];
    rg_status status = compare_launches(wide, all, true);
    for (unsigned d = 0; d < DEVICES && all[d].on && !status; d++) {
        const launches *l = &all[d];
        if (l->has_combined && l->has_jvp)
            duality(wide, l, l->combined, "vjp against jvp, %s");
        if (l->has_split && l->has_jvp)
            duality(wide, l, l->split, "split vjp against jvp, %s");
        if (l->has_combined && l->has_jvp)
            status = symmetry(wide, l);
    }
    return status ? status : check_differences(wide, samples, parts);
}

static rg_status
check_from_start(subject *narrow, subject *wide, const check_start *start, bool derivatives, uint64_t *steps, uint32_t samples,
                 uint32_t parts)
{
    launches all[DEVICES];
    bool use;
    narrow->values = wide->values = start->values;
    rg_status status = try_start(narrow, start->optional, steps, &use);
    if (!status && use)
        status = compare_launches(narrow, all, derivatives);
    return status || !use || !wide->module ? status : check_derivatives(wide, samples, parts);
}

static void
subject_free(void *p)
{
    subject *s = p;
    ir_module_free(s->module);
}

static void
see_float(subject *s, ir_type type)
{
    if (ir_is_float((rg_dtype)type.dtype) && type.dtype < s->narrowest)
        s->narrowest = (rg_dtype)type.dtype;
}

static bool
see_floats(ir_op *op, void *user)
{
    for (uint32_t k = 0; k < op->nresults; k++)
        see_float(user, op->results[k]->type);
    return true;
}

static void
open_subject(subject *s, const ir_fn *kernel)
{
    s->module = pipeline_copy(kernel);
    s->fn = s->module->first;
    s->n = s->fn->body->nparams;
    s->narrowest = RG_F64;
    for (uint32_t i = 0; i < s->n; i++)
        see_float(s, check_type(s, i));
    ir_walk(s->fn->body, see_floats, s);
}

/* In f64; no module: derivatives cannot be judged. */
static void
open_wide(subject *wide, const subject *narrow, const ir_fn *kernel)
{
    *wide = *narrow;
    wide->from = narrow;
    if (narrow->narrowest == RG_F64 && !narrow->module->first->next) /* it is: each form is compiled once */
        return;
    wide->module = NULL;
    open_subject(wide, kernel);
    wide->narrowest = RG_F64;
    if (ir_promote(wide->module))
        return;
    ir_module_free(wide->module);
    wide->module = NULL;
    check_note(wide, "derivatives in f64", CHECK_NOT_SHOWN, "the kernel looks at the bits of a narrow float");
}

static bool
ignores_thread_order(ir_op *op, void *user)
{
    bool decides = op->rmw == RG_RMW_EXCHANGE || op->rmw == RG_RMW_CAS || op->nresults;
    return op->code != RG_OP_RMW || !op->atomic || op->plane || !decides;
}

/* The interpreter, and the device asked for. What an atomic returns depends on the order of threads, so such a kernel's
 * threads run in the interpreter's. */
static rg_status
open_devices(subject *s, const check_options *o, check_device devices[DEVICES])
{
    bool serial = !ir_walk(s->fn->body, ignores_thread_order, NULL), alone = o->device == &rt_device_interp;
    rg_status status = check_device_open(&devices[0], &rt_device_interp, alone ? o->ordinal : 0, serial, s->diags);
    s->interp = &devices[0];
    if (!o->device)
        check_note(s, "cpu against interpreter", CHECK_LEFT_OUT, "this build has no device cpu");
    if (status || alone || !o->device)
        return status;
    status = check_device_open(&devices[1], o->device, o->ordinal, serial, s->diags);
    devices[1].apart = o->apart;
    if (!status && serial && devices[1].table->memory) {
        check_note(s, check_test_name(s, "%s against interpreter", &devices[1]), CHECK_NOT_SHOWN,
                   "an atomic returns what the order of threads decides, which is the GPU's");
        return RG_OK;
    }
    s->other = &devices[1];
    return status;
}

typedef struct check_work {
    subject narrow, wide;
    check_device devices[DEVICES];
} check_work;

static void
work_free(void *work)
{
    check_work *w = work;
    check_device_close(&w->devices[1]);
    check_device_close(&w->devices[0]);
    if (w->wide.module != w->narrow.module)
        subject_free(&w->wide);
    subject_free(&w->narrow);
    arena_free(w->narrow.arena);
}

static rg_status
check_starts(check_work *w, const ir_fn *kernel, const check_start *starts, uint32_t nstarts, const check_options *o)
{
    open_subject(&w->narrow, kernel);
    bool derivatives = has_real(&w->narrow);
    rg_status status = open_devices(&w->narrow, o, w->devices);
    if (!status && derivatives)
        open_wide(&w->wide, &w->narrow, kernel);
    uint64_t steps = o->step_limit;
    for (uint32_t k = 0; k < nstarts && !status; k++) {
        arena_mark mark = arena_here(w->narrow.arena);
        status = check_from_start(&w->narrow, &w->wide, &starts[k], derivatives, &steps, o->samples ? o->samples : DEFAULT_SAMPLES,
                                  nstarts);
        arena_release(w->narrow.arena, mark);
        w->narrow.seed += 5; /* other directions */
        w->wide.seed += 5;
    }
    if (!status && !is_differentiable(&w->narrow))
        check_note(&w->narrow, "derivatives", CHECK_NOT_SHOWN,
                   "nothing to differentiate: no active input reaches an active output");
    return status;
}

rg_status
check_kernel(const ir_fn *kernel, const check_start *starts, uint32_t nstarts, const check_options *o,
             check_report *report, diag_list *diags)
{
    if (!report->arena)
        report->arena = arena_new();
    check_work w = {.narrow = {
                        .arena = arena_new(),
                        .given = kernel->body->nparams - o->results,
                        .seed = o->seed,
                        .contraction = o->contraction,
                        .report = report,
                        .diags = diags,
                    }};
    w.narrow.from = &w.narrow;
    mem_owner owns;
    mem_own(&owns, work_free, &w);
    rg_status status = check_starts(&w, kernel, starts, nstarts, o);
    mem_disown(&owns);
    work_free(&w);
    return status;
}

void
check_report_free(check_report *report)
{
    vec_free(&report->findings);
    arena_free(report->arena);
    report->arena = NULL;
}
