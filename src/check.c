/* Checks of one kernel against itself. SPDX-License-Identifier: Apache-2.0
 *
 * Forward and gradient are compared between devices in the kernel's own types. Derivatives are
 * judged in f64, to which the kernel is promoted in the IR: <vjp(w), u> = <w, jvp(u)> for random w
 * and u over all memory, and central differences of <w, f(x)> at some components of x. */
#include "check.h"
#include "check_device.h"

#include "pass/promote.h"
#include "retrograd/retrograd.h"
#include "rt/interp/interp.h"

#include <float.h>
#include <math.h>

enum { PLANES = 4, DEFAULT_SAMPLES = 24 };

/* -- random numbers: splitmix64 ---------------------------------------------------------------- */

static uint64_t
next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double
next_unit(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) * 0x1p-53;
}

static void
put(rg_dtype dtype, void *data, size_t i, double v)
{
    uint64_t bits = ir_float_bits(dtype, v);
    memcpy((char *)data + i * ir_bytes(dtype), &bits, ir_bytes(dtype));
}

static double
get(rg_dtype dtype, const void *data, size_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + i * ir_bytes(dtype), ir_bytes(dtype));
    if (ir_is_float(dtype))
        return ir_bits_float(dtype, bits);
    bits = ir_wrap(dtype, bits);
    return ir_is_signed(dtype) ? (double)(int64_t)bits : (double)bits;
}

void
check_fill(rg_dtype dtype, void *data, size_t count, uint64_t below, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        if (ir_is_float(dtype)) {
            put(dtype, data, i, 0.25 + next_unit(seed));
            continue;
        }
        uint64_t v =
            dtype == RG_BOOL ? next_random(seed) & 1 : next_random(seed) % (below ? below : 1);
        memcpy((char *)data + i * ir_bytes(dtype), &v, ir_bytes(dtype)); /* little-endian */
    }
}

/* -- the subject: a kernel and what it starts from --------------------------------------------- */

typedef struct subject {
    arena *arena;
    ir_module *module;
    const ir_fn *fn; /* results are outputs */
    const ir_fn *forward; /* fn as the interpreter runs it, while differences are taken */
    uint32_t n, given;
    const check_value *values;
    uint64_t seed;
    bool contraction;
    const check_device *interp, *other; /* other: NULL: the interpreter alone */
    check_report *report;
    diag_list *diags;
} subject;

static ir_type
type_of(const subject *s, uint32_t i)
{
    return s->fn->body->params[i]->type;
}

static size_t
count_of(const subject *s, uint32_t i)
{
    if (i >= s->given || type_of(s, i).kind != IR_BUFFER)
        return 1;
    size_t n = 1;
    for (uint32_t k = 0; k < s->values[i].rank; k++)
        n *= (size_t)s->values[i].shape[k];
    return n;
}

static bool
is_real(const subject *s, uint32_t i)
{
    return ir_is_float((rg_dtype)type_of(s, i).dtype);
}

static bool
is_buffer(const subject *s, uint32_t i)
{
    return type_of(s, i).kind == IR_BUFFER;
}

/* -- memory for one run: planes of every parameter --------------------------------------------- */

typedef struct memory {
    rt_arg *args;
    size_t *bytes; /* of each plane */
} memory;

static void
point_at(rt_arg *arg, const check_value *v, bool flat, uint32_t rank, size_t count)
{
    int64_t step = 1;
    for (uint32_t k = rank; k-- > 0;) {
        arg->extent[k] = flat ? (int64_t)count : v->shape[k];
        arg->stride[k] = step;
        step *= arg->extent[k];
    }
}

/* Everything as it is before the kernel; the planes above 0 are zero. `from` may be of a narrower
 * type. */
static memory
memory_new(const subject *s, const subject *from)
{
    memory m = {arena_new_n(s->arena, rt_arg, s->n + 1), arena_new_n(s->arena, size_t, s->n + 1)};
    for (uint32_t i = 0; i < s->n; i++) {
        rg_dtype to = (rg_dtype)type_of(s, i).dtype, old = (rg_dtype)type_of(from, i).dtype;
        size_t count = count_of(s, i), size = ir_bytes(to);
        const check_value *v = i < s->given ? &s->values[i] : NULL;
        rt_arg *arg = &m.args[i];
        m.bytes[i] = count * size;
        for (unsigned p = 0; p < PLANES; p++)
            if (p == 0 ? is_buffer(s, i) : is_real(s, i))
                arg->plane[p] = arena_alloc(s->arena, count * size + 16);
        if (v && !is_buffer(s, i))
            arg->bits = to == old ? v->bits : ir_float_bits(to, ir_bits_float(old, v->bits));
        if (!v || !is_buffer(s, i))
            continue;
        point_at(arg, v, s->fn->params[i].flat, type_of(s, i).rank, count);
        if (to == old)
            memcpy(arg->plane[0], v->data, count * size);
        else
            for (size_t k = 0; k < count; k++)
                put(to, arg->plane[0], k, get(old, v->data, k));
    }
    return m;
}

static void
randomize(const subject *s, memory m, unsigned plane, uint64_t seed)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; m.args[i].plane[plane] && k < count_of(s, i); k++)
            put((rg_dtype)type_of(s, i).dtype, m.args[i].plane[plane], k, 2 * next_unit(&seed) - 1);
}

/* Compiles, runs, frees. */
static rg_status
run_once(const subject *s, const check_device *on, pipeline_form form, memory memory, diag_list *diags)
{
    return check_device_run(on, s->fn, form, s->contraction, memory.args, memory.bytes, diags);
}

/* -- findings ---------------------------------------------------------------------------------- */

static void
add_finding(subject *s, check_finding f)
{
    f.failed = !f.skipped && !(f.error <= f.tolerance);
    s->report->failed = s->report->failed || f.failed;
    char *name = mem_alloc(strlen(f.test) + 1);
    f.test = strcpy(name, f.test);
    vec_push(&s->report->findings, f);
}

static void
skip(subject *s, const char *test, const char *why)
{
    add_finding(s, (check_finding){.test = test, .skipped = why});
}

static void
name_element(const subject *s, uint32_t i, size_t k, char *out, size_t room)
{
    if (is_buffer(s, i) && i < s->given)
        snprintf(out, room, "%s[%zu]", s->fn->params[i].name, k);
    else
        snprintf(out, room, "%s", s->fn->params[i].name);
}

static double
difference(double found, double expected)
{
    if (found == expected || (isnan(found) && isnan(expected)))
        return 0;
    double d = fabs(found - expected);
    return isfinite(d) ? d : INFINITY;
}

/* The worst difference between a plane of two memories, relative to the array's largest element;
 * integers must be equal. */
static void
compare_plane(subject *s, const char *test, memory found, memory expected, unsigned plane,
              double tolerance_f64, double tolerance_f32)
{
    check_finding f = {.test = test, .tolerance = tolerance_f64};
    for (uint32_t i = 0; i < s->n; i++) {
        rg_dtype d = (rg_dtype)type_of(s, i).dtype;
        const void *a = found.args[i].plane[plane], *b = expected.args[i].plane[plane];
        double largest = 0, tolerance = d == RG_F64   ? tolerance_f64
                                        : d == RG_F32 ? tolerance_f32
                                                      : tolerance_f32 * 8192;
        for (size_t k = 0; b && k < count_of(s, i); k++)
            if (isfinite(get(d, b, k)))
                largest = fmax(largest, fabs(get(d, b, k)));
        for (size_t k = 0; b && k < count_of(s, i); k++) {
            double x = get(d, a, k), y = get(d, b, k), e = difference(x, y);
            if (e > 0)
                e = ir_is_float(d) ? e / fmax(largest, DBL_MIN) : INFINITY;
            if (e / tolerance <= f.error / f.tolerance)
                continue;
            char name[64];
            name_element(s, i, k, name, sizeof(name));
            snprintf(f.where, sizeof(f.where), "%s is %.9g, should be %.9g", name, x, y);
            f.error = e;
            f.tolerance = tolerance;
        }
    }
    add_finding(s, f);
}

/* -- device against device --------------------------------------------------------------------- */

/* "gradient, cpu against interpreter": `format` takes the device's name */
static const char *
test_name(const subject *s, const char *format, const check_device *on)
{
    char text[96];
    snprintf(text, sizeof(text), format, check_device_name(on));
    return arena_str(s->arena, rg_str_of(text));
}

/* The form on both; what the other device left is *found. */
static rg_status
run_both(const subject *s, pipeline_form form, memory found, memory expected)
{
    rg_status status = run_once(s, s->interp, form, expected, s->diags);
    return status ? status : run_once(s, s->other, form, found, s->diags);
}

static rg_status
compare_devices(subject *s)
{
    if (!s->other)
        return RG_OK;
    memory a = memory_new(s, s), b = memory_new(s, s);
    rg_status status = run_both(s, PIPELINE_FORWARD, a, b);
    if (status)
        return status;
    compare_plane(s, test_name(s, "forward, %s against interpreter", s->other), a, b, RG_PRIMAL, 1e-12, 1e-5);
    a = memory_new(s, s);
    b = memory_new(s, s);
    randomize(s, a, RG_ADJOINT, s->seed);
    randomize(s, b, RG_ADJOINT, s->seed);
    status = run_both(s, PIPELINE_FORWARD_VJP, a, b);
    if (status)
        return status;
    compare_plane(s, test_name(s, "gradient, %s against interpreter", s->other), a, b, RG_ADJOINT, 1e-10, 1e-4);
    compare_plane(s, "arrays after the gradient", a, b, RG_PRIMAL, 1e-12, 1e-5);
    return RG_OK;
}

/* -- vjp against jvp --------------------------------------------------------------------------- */

/* Sums over all memory; *norms: the product of both norms, to which an error is relative. */
static double
inner(const subject *s, memory a, unsigned plane_a, memory b, unsigned plane_b, double *norms)
{
    double sum = 0, aa = 0, bb = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; is_real(s, i) && k < count_of(s, i); k++) {
            rg_dtype d = (rg_dtype)type_of(s, i).dtype;
            double x = get(d, a.args[i].plane[plane_a], k), y = get(d, b.args[i].plane[plane_b], k);
            sum += x * y;
            aa += x * x;
            bb += y * y;
        }
    *norms = sqrt(aa) * sqrt(bb);
    return sum;
}

/* The adjoints that a gradient launch leaves for the adjoints w. */
static rg_status
adjoints(subject *s, const subject *narrow, const check_device *device, bool split, memory *m,
         diag_list *diags)
{
    *m = memory_new(s, narrow);
    rg_status status = RG_OK;
    if (split)
        status = run_once(s, device, PIPELINE_FORWARD, *m, diags);
    randomize(s, *m, RG_ADJOINT, s->seed);
    if (!status)
        status = run_once(s, device, split ? PIPELINE_VJP : PIPELINE_FORWARD_VJP, *m, diags);
    return status;
}

static rg_status
duality(subject *s, const subject *narrow, const check_device *device, bool split, const char *format)
{
    const char *test = test_name(s, format, device);
    memory reverse, forward = memory_new(s, narrow);
    memory u = memory_new(s, narrow), w = memory_new(s, narrow);
    randomize(s, u, RG_TANGENT, s->seed + 1);
    randomize(s, forward, RG_TANGENT, s->seed + 1);
    randomize(s, w, RG_ADJOINT, s->seed);
    diag_list refusal = {0};
    rg_status status = adjoints(s, narrow, device, split, &reverse, split ? &refusal : s->diags);
    diag_free(&refusal);
    if (split && status == RG_COMPILE) {
        skip(s, test, "a split launch is refused for this kernel");
        return RG_OK;
    }
    if (!status)
        status = run_once(s, device, PIPELINE_JVP, forward, s->diags);
    if (status)
        return status;
    double scale, other;
    double left = inner(s, reverse, RG_ADJOINT, u, RG_TANGENT, &scale);
    double right = inner(s, w, RG_ADJOINT, forward, RG_TANGENT, &other);
    check_finding f = {.test = test, .tolerance = 1e-12};
    f.error = difference(left, right);
    if (f.error > 0)
        f.error /= fmax(scale, DBL_MIN);
    snprintf(f.where, sizeof(f.where), "<vjp(w), u> is %.17g, <w, jvp(u)> is %.17g", left, right);
    add_finding(s, f);
    return RG_OK;
}

/* -- second order ------------------------------------------------------------------------------- */

/* The Hessian of <w, f> is symmetric: <H u, v> = <H v, u>. H u is what the jvp of the gradient leaves
 * in the adjoints' tangents. */
static rg_status
hessian_along(subject *s, const subject *narrow, const check_device *device, uint64_t direction, memory *m)
{
    *m = memory_new(s, narrow);
    randomize(s, *m, RG_ADJOINT, s->seed);
    randomize(s, *m, RG_TANGENT, direction);
    return run_once(s, device, PIPELINE_JVP_FORWARD_VJP, *m, s->diags);
}

static rg_status
symmetry(subject *s, const subject *narrow, const check_device *device)
{
    const char *test = test_name(s, "symmetry of the Hessian, %s", device);
    memory hu, hv, u = memory_new(s, narrow), v = memory_new(s, narrow);
    randomize(s, u, RG_TANGENT, s->seed + 3);
    randomize(s, v, RG_TANGENT, s->seed + 4);
    rg_status status = hessian_along(s, narrow, device, s->seed + 3, &hu);
    if (!status)
        status = hessian_along(s, narrow, device, s->seed + 4, &hv);
    if (status)
        return status;
    /* a Hessian that cancels is zero up to the rounding of the gradient */
    double scale_u, scale_v, gradient;
    inner(s, hu, RG_ADJOINT, v, RG_TANGENT, &gradient);
    double left = inner(s, hu, RG_ADJOINT | RG_TANGENT, v, RG_TANGENT, &scale_u);
    double right = inner(s, hv, RG_ADJOINT | RG_TANGENT, u, RG_TANGENT, &scale_v);
    check_finding f = {.test = test, .tolerance = 1e-11};
    f.error = difference(left, right);
    if (f.error > 0)
        f.error /= fmax(fmax(scale_u, scale_v), gradient);
    snprintf(f.where, sizeof(f.where), "<H u, v> is %.17g, <u, H v> is %.17g", left, right);
    add_finding(s, f);
    return RG_OK;
}

/* -- central differences ----------------------------------------------------------------------- */

typedef struct sample {
    uint32_t param;
    size_t element;
} sample;

static bool
pick_sample(const subject *s, uint64_t *seed, sample *out)
{
    size_t total = 0;
    for (uint32_t i = 0; i < s->given; i++)
        total += is_real(s, i) ? count_of(s, i) : 0;
    if (!total)
        return false;
    size_t k = next_random(seed) % total;
    for (uint32_t i = 0; i < s->given; i++) {
        size_t count = is_real(s, i) ? count_of(s, i) : 0;
        if (k < count) {
            *out = (sample){i, k};
            return true;
        }
        k -= count;
    }
    return false;
}

/* <w, f(x)> with component `at` of x moved by h; *steps tells whether the same path was taken. */
static rg_status
value_at(const subject *s, const subject *narrow, memory w, sample at, double h, double *sum,
         uint64_t *steps)
{
    memory m = memory_new(s, narrow);
    rt_arg *arg = &m.args[at.param];
    if (is_buffer(s, at.param))
        put(RG_F64, arg->plane[0], at.element, get(RG_F64, arg->plane[0], at.element) + h);
    else
        arg->bits = ir_float_bits(RG_F64, ir_bits_float(RG_F64, arg->bits) + h);
    interp_report report = {0};
    if (interp_run(s->forward, m.args, NULL, &report) != RT_OK)
        return RG_ASSERT;
    *steps = report.steps;
    *sum = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; is_real(s, i) && is_buffer(s, i) && k < count_of(s, i); k++)
            *sum +=
                get(RG_F64, w.args[i].plane[RG_ADJOINT], k) * get(RG_F64, m.args[i].plane[0], k);
    if (!is_buffer(s, at.param)) /* a scalar is part of memory too: it stays what it was */
        *sum += h * get(RG_F64, w.args[at.param].plane[RG_ADJOINT], 0);
    return RG_OK;
}

static double
start_value(const subject *s, memory m, sample at)
{
    const rt_arg *arg = &m.args[at.param];
    return is_buffer(s, at.param) ? get(RG_F64, arg->plane[0], at.element)
                                  : ir_bits_float(RG_F64, arg->bits);
}

static const char differences_test[] = "gradient against central differences";

static rg_status
compare_differences(subject *s, const subject *narrow, uint32_t samples)
{
    memory gradient, w = memory_new(s, narrow);
    rg_status status = adjoints(s, narrow, s->interp, false, &gradient, s->diags);
    if (status)
        return status;
    randomize(s, w, RG_ADJOINT, s->seed);
    double largest = 0;
    for (uint32_t i = 0; i < s->given; i++)
        for (size_t k = 0; is_real(s, i) && k < count_of(s, i); k++)
            largest = fmax(largest, fabs(get(RG_F64, gradient.args[i].plane[RG_ADJOINT], k)));
    check_finding f = {.test = differences_test, .tolerance = 1e-6};
    uint64_t seed = s->seed + 2;
    uint32_t compared = 0;
    for (uint32_t n = 0; n < samples; n++) {
        sample at;
        if (!pick_sample(s, &seed, &at))
            break;
        arena_mark mark = arena_here(s->arena);
        double x = start_value(s, w, at), h = cbrt(DBL_EPSILON) * fmax(1, fabs(x));
        double up, down, middle,
            found = get(RG_F64, gradient.args[at.param].plane[RG_ADJOINT], at.element);
        uint64_t steps[3];
        bool ran = !value_at(s, narrow, w, at, h, &up, &steps[0]) &&
                   !value_at(s, narrow, w, at, -h, &down, &steps[1]) &&
                   !value_at(s, narrow, w, at, 0, &middle, &steps[2]);
        arena_release(s->arena, mark);
        /* a count or a branch changes between the two points: no derivative to compare with */
        if (!ran || steps[0] != steps[2] || steps[1] != steps[2] || !isfinite(up - down))
            continue;
        compared++;
        double expected = (up - down) / (2 * h);
        /* what rounding of the sums alone may do to the quotient */
        double noise = fabs(middle) * DBL_EPSILON * 16 / h;
        double error = fmax(0, difference(found, expected) - noise) / fmax(largest, DBL_MIN);
        if (error <= f.error)
            continue;
        char name[64];
        name_element(s, at.param, at.element, name, sizeof(name));
        snprintf(f.where, sizeof(f.where), "d/d%s is %.9g, should be %.9g", name, found, expected);
        f.error = error;
    }
    if (compared)
        add_finding(s, f);
    else
        skip(s, differences_test, "a branch or a count changes at every point tried");
    return RG_OK;
}

static void
release_module(void *m)
{
    ir_module_free(m);
}

static rg_status
central_differences(subject *s, const subject *narrow, uint32_t samples)
{
    ir_fn *forward;
    pipeline_options options = {.contraction = s->contraction,
                                .stage = s->interp->table->stage};
    ir_module *m = pipeline_run(s->fn, &options, s->diags, &forward);
    if (!m)
        return RG_COMPILE;
    mem_owner owns;
    mem_own(&owns, release_module, m);
    s->forward = forward;
    rg_status status = compare_differences(s, narrow, samples);
    s->forward = NULL;
    mem_disown(&owns);
    ir_module_free(m);
    return status;
}

/* -- all of it --------------------------------------------------------------------------------- */

static bool
has_real_input(const subject *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (is_real(s, i))
            return true;
    return false;
}

static rg_status
check_derivatives(subject *wide, const subject *narrow, uint32_t samples)
{
    rg_status status = RG_OK;
    const check_device *const devices[] = {wide->interp, wide->other};
    for (size_t i = 0; i < countof(devices) && devices[i] && !status; i++) {
        status = duality(wide, narrow, devices[i], false, "vjp against jvp, %s");
        if (!status)
            status = duality(wide, narrow, devices[i], true, "split vjp against jvp, %s");
    }
    for (size_t i = 0; i < countof(devices) && devices[i] && !status; i++)
        status = symmetry(wide, narrow, devices[i]);
    if (!status)
        status = central_differences(wide, narrow, samples);
    return status;
}

static void
subject_free(void *p)
{
    subject *s = p;
    ir_module_free(s->module);
}

static rg_status
check_both(subject *narrow, subject *wide, const ir_fn *kernel, const check_options *o)
{
    pipeline_options options = {0};
    narrow->module = pipeline_source(kernel, &options, narrow->diags);
    if (!narrow->module)
        return RG_COMPILE;
    wide->module = pipeline_source(kernel, &options, wide->diags);
    if (!wide->module)
        return RG_COMPILE;
    narrow->fn = narrow->module->first;
    narrow->n = narrow->fn->body->nparams;
    wide->fn = wide->module->first;
    wide->n = narrow->n;
    rg_status status = compare_devices(narrow);
    if (status || !has_real_input(narrow))
        return status;
    if (!ir_promote(wide->module)) {
        skip(wide, "derivatives in f64", "the kernel looks at the bits of a narrow float");
        return RG_OK;
    }
    return check_derivatives(wide, narrow, o->samples ? o->samples : DEFAULT_SAMPLES);
}

/* Which device besides the interpreter: the one asked for, else the CPU where this build has it. */
static rg_status
open_devices(subject *s, const char *asked, check_device devices[2])
{
    rg_status status = check_device_open(&devices[0], "interp", s->diags);
    s->interp = &devices[0];
    if (!asked && !rt_device_find(RG_STR("cpu"))) {
        skip(s, "cpu against interpreter", "this build has no device cpu");
        return status;
    }
    if (status || (asked && strcmp(asked, "interp") == 0))
        return status;
    s->other = &devices[1];
    return check_device_open(&devices[1], asked ? asked : "cpu", s->diags);
}

typedef struct check_work {
    subject narrow, wide;
    check_device devices[2];
} check_work;

static void
work_free(void *work)
{
    check_work *w = work;
    subject_free(&w->wide);
    subject_free(&w->narrow);
    check_device_close(&w->devices[1]);
    check_device_close(&w->devices[0]);
    arena_free(w->narrow.arena);
}

rg_status
check_kernel(const ir_fn *kernel, const check_value *values, const check_options *o,
             check_report *report, diag_list *diags)
{
    check_work w = {.narrow = {
                        .arena = arena_new(),
                        .given = kernel->body->nparams,
                        .values = values,
                        .seed = o->seed,
                        .contraction = o->contraction,
                        .report = report,
                        .diags = diags,
                    }};
    mem_owner owns;
    mem_own(&owns, work_free, &w);
    rg_status status = open_devices(&w.narrow, o->device, w.devices);
    w.wide = w.narrow;
    if (!status)
        status = check_both(&w.narrow, &w.wide, kernel, o);
    mem_disown(&owns);
    work_free(&w);
    return status;
}

void
check_report_free(check_report *report)
{
    for (size_t i = 0; i < report->findings.n; i++)
        mem_free((void *)(uintptr_t)report->findings.at[i].test);
    vec_free(&report->findings);
}
