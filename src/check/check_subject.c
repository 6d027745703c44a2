/* See check_subject.h. SPDX-License-Identifier: Apache-2.0 */
#include "check/check_subject.h"

#include <float.h>
#include <math.h>

/* -- random numbers ---------------------------------------------------------------------------- */

uint64_t
check_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* [0, 1) */
static double
random_unit(uint64_t *seed)
{
    return (double)(check_random(seed) >> 11) * 0x1p-53;
}

void
check_put(rg_dtype dtype, void *data, size_t i, double v)
{
    uint64_t bits = ir_float_bits(dtype, v);
    memcpy((char *)data + i * ir_bytes(dtype), &bits, ir_bytes(dtype));
}

double
check_get(rg_dtype dtype, const void *data, size_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + i * ir_bytes(dtype), ir_bytes(dtype));
    if (ir_is_float(dtype))
        return ir_bits_float(dtype, bits);
    bits = ir_wrap(dtype, bits);
    return ir_is_signed(dtype) ? (double)(int64_t)bits : (double)bits;
}

void
check_fill(rg_dtype dtype, void *data, size_t count, uint64_t below, bool signs, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        if (ir_is_float(dtype)) {
            double v = 0.25 + random_unit(seed);
            check_put(dtype, data, i, signs && check_random(seed) & 1 ? -v : v);
            continue;
        }
        uint64_t v = check_random(seed) % (dtype == RG_BOOL ? 2 : below ? below : 1);
        memcpy((char *)data + i * ir_bytes(dtype), &v, ir_bytes(dtype)); /* little-endian */
    }
}

/* -- the subject ------------------------------------------------------------------------------- */

ir_type
check_type(const subject *s, uint32_t i)
{
    return s->fn->body->params[i]->type;
}

size_t
check_count(const subject *s, uint32_t i)
{
    if (i >= s->given || check_type(s, i).kind != IR_BUFFER)
        return 1;
    size_t n = 1;
    for (uint32_t k = 0; k < s->values[i].rank; k++)
        n *= (size_t)s->values[i].shape[k];
    return n;
}

bool
check_is_real(const subject *s, uint32_t i)
{
    return ir_is_float((rg_dtype)check_type(s, i).dtype);
}

bool
check_is_buffer(const subject *s, uint32_t i)
{
    return check_type(s, i).kind == IR_BUFFER;
}

/* -- memory ------------------------------------------------------------------------------------ */

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

memory
check_memory(const subject *s)
{
    memory m = {arena_new_n(s->arena, rt_arg, s->n + 1), arena_new_n(s->arena, size_t, s->n + 1)};
    for (uint32_t i = 0; i < s->n; i++) {
        rg_dtype to = (rg_dtype)check_type(s, i).dtype, old = (rg_dtype)check_type(s->from, i).dtype;
        size_t count = check_count(s, i), size = ir_bytes(to);
        const check_value *v = i < s->given ? &s->values[i] : NULL;
        rt_arg *arg = &m.args[i];
        m.bytes[i] = count * size;
        for (unsigned p = 0; p < CHECK_PLANES; p++)
            if (p == 0 ? check_is_buffer(s, i) : check_is_real(s, i))
                arg->plane[p] = arena_alloc(s->arena, count * size + 16);
        if (v && !check_is_buffer(s, i))
            arg->bits = to == old ? v->bits : ir_float_bits(to, ir_bits_float(old, v->bits));
        if (!v || !check_is_buffer(s, i))
            continue;
        point_at(arg, v, s->fn->params[i].flat, check_type(s, i).rank, count);
        if (to == old)
            memcpy(arg->plane[0], v->data, count * size);
        else
            for (size_t k = 0; k < count; k++)
                check_put(to, arg->plane[0], k, check_get(old, v->data, k));
    }
    return m;
}

void
check_randomize(const subject *s, memory m, unsigned plane, uint64_t seed)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; m.args[i].plane[plane] && k < check_count(s, i); k++)
            check_put((rg_dtype)check_type(s, i).dtype, m.args[i].plane[plane], k, 2 * random_unit(&seed) - 1);
}

/* -- findings ---------------------------------------------------------------------------------- */

static const char *
kept_text(subject *s, const char *text)
{
    return text ? arena_str(s->report->arena, rg_str_of(text)) : NULL;
}

static double
badness(const check_finding *f)
{
    return f->tolerance > 0 ? f->error / f->tolerance : 0;
}

static void
merge(check_finding *into, const check_finding *f)
{
    uint64_t compared = into->compared + f->compared, unshown = into->unshown + f->unshown;
    const char *note = into->note ? into->note : f->note;
    unsigned code = into->code ? into->code : f->code;
    if (f->outcome > into->outcome || (f->outcome == into->outcome && badness(f) > badness(into)))
        *into = *f;
    into->compared = compared;
    into->unshown = unshown;
    into->note = note;
    into->code = code;
}

void
check_add(subject *s, check_finding f)
{
    check_report *r = s->report;
    if (!(f.error <= f.tolerance))
        f.outcome = CHECK_FAILED;
    else if (f.unshown && f.outcome < CHECK_NOT_SHOWN)
        f.outcome = CHECK_NOT_SHOWN;
    r->failed |= f.outcome == CHECK_FAILED;
    r->not_shown |= f.outcome == CHECK_NOT_SHOWN;
    f.test = kept_text(s, f.test);
    f.note = kept_text(s, f.note);
    for (size_t i = 0; i < r->findings.n; i++)
        if (strcmp(r->findings.at[i].test, f.test) == 0) {
            merge(&r->findings.at[i], &f);
            return;
        }
    vec_push(&r->findings, f);
}

void
check_note(subject *s, const char *test, check_outcome outcome, const char *note)
{
    check_finding f = {.test = test, .outcome = outcome, .note = note};
    f.error = outcome == CHECK_FAILED ? INFINITY : 0;
    check_add(s, f);
}

const char *
check_test_name(const subject *s, const char *format, const check_device *on)
{
    char text[96];
    snprintf(text, sizeof(text), format, check_device_name(on));
    return arena_str(s->arena, rg_str_of(text));
}

void
check_element_name(const subject *s, uint32_t i, size_t k, char *out, size_t room)
{
    if (check_is_buffer(s, i) && i < s->given)
        snprintf(out, room, "%s[%zu]", s->fn->params[i].name, k);
    else
        snprintf(out, room, "%s", s->fn->params[i].name);
}

double
check_difference(double found, double expected)
{
    if (found == expected || (isnan(found) && isnan(expected)))
        return 0;
    double d = fabs(found - expected);
    return isfinite(d) ? d : INFINITY;
}

/* What the kernel has not touched is as it was given, whatever that is. */
static bool
untouched(const subject *s, uint32_t i, unsigned plane, size_t k, double now)
{
    if (plane != RG_PRIMAL || i >= s->given)
        return false;
    double then = check_get((rg_dtype)check_type(s->from, i).dtype, s->values[i].data, k);
    return now == then || (isnan(now) && isnan(then));
}

/* How far sums over all of memory, formed in different orders, may be apart, which is no part of what is left where they
 * cancel. At most CANCELS times the tolerance is granted for that: large numbers elsewhere must not hide an error. */
enum { CANCELS = 100 };

static double
rounding(const subject *s, memory m, unsigned plane)
{
    double squares = 0, count = 0, unit = s->narrowest == RG_F16 ? 0x1p-11 : s->narrowest == RG_F32 ? 0x1p-24 : 0x1p-53;
    for (uint32_t i = 0; i < s->n; i++)
        for (size_t k = 0; check_is_real(s, i) && m.args[i].plane[plane] && k < check_count(s, i); k++) {
            double v = check_get((rg_dtype)check_type(s, i).dtype, m.args[i].plane[plane], k);
            squares += isfinite(v) ? v * v : 0;
            count++;
        }
    return unit * sqrt(count * squares);
}

void
check_compare(subject *s, const char *test, memory found, memory expected, unsigned plane, double tolerance_f64,
              double tolerance_f32)
{
    check_finding f = {.test = test, .tolerance = tolerance_f64};
    double slack = rounding(s, expected, plane);
    for (uint32_t i = 0; i < s->n; i++) {
        rg_dtype d = (rg_dtype)check_type(s, i).dtype;
        const void *a = found.args[i].plane[plane], *b = expected.args[i].plane[plane];
        double largest = 0, tolerance = !ir_is_float(d)          ? tolerance_f64
                                        : s->narrowest == RG_F16 ? tolerance_f32 * 8192
                                        : s->narrowest == RG_F32 ? tolerance_f32
                                                                 : tolerance_f64;
        for (size_t k = 0; b && k < check_count(s, i); k++)
            if (isfinite(check_get(d, b, k)))
                largest = fmax(largest, fabs(check_get(d, b, k)));
        for (size_t k = 0; b && k < check_count(s, i); k++) {
            double x = check_get(d, a, k), y = check_get(d, b, k), e = check_difference(x, y);
            f.compared++;
            f.unshown += e == 0 && !isfinite(y) && !untouched(s, i, plane, k, y);
            if (e > 0)
                e = ir_is_float(d) ? fmax(0, e - fmin(slack, CANCELS * tolerance * largest)) / fmax(largest, DBL_MIN) : INFINITY;
            if (e / tolerance <= f.error / f.tolerance)
                continue;
            char name[64];
            check_element_name(s, i, k, name, sizeof(name));
            snprintf(f.where, sizeof(f.where), "%s is %.9g, should be %.9g", name, x, y);
            f.error = e;
            f.tolerance = tolerance;
        }
    }
    check_add(s, f);
}

/* -- launches ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    check_outcome refused; /* there is another way to a gradient than a split launch, and who needs no second order ... */
} forms[RG_FORM_COUNT] = {
    [RG_FORWARD] = {"forward", CHECK_FAILED},
    [RG_VJP] = {"split gradient", CHECK_LEFT_OUT},
    [RG_FORWARD_VJP] = {"gradient", CHECK_NOT_SHOWN},
    [RG_JVP] = {"tangents", CHECK_NOT_SHOWN},
    [RG_JVP_VJP] = {"split second order", CHECK_LEFT_OUT},
    [RG_JVP_FORWARD_VJP] = {"second order", CHECK_LEFT_OUT},
};

/* 0: there is none */
static unsigned
number_of(const char *text)
{
    const char *number = strstr(text, "error[E");
    return number ? (unsigned)atoi(number + 7) : 0;
}

/* The first error, on one line. Forms that are refused for one reason are one finding. An error that is no refusal of a derivative
 * is a fault of ours. */
static void
note_refusal(subject *s, check_device *on, rg_form form, const diag_list *said)
{
    const char *text = said->text.ptr ? said->text.ptr : "it does not compile";
    bool refused = said->kinds == DIAG_REFUSALS;
    char note[400];
    snprintf(note, sizeof(note), "%s%.*s", refused ? "refused: " : "", (int)strcspn(text, "\n"), text);
    on->refused[form] = true;
    for (size_t i = 0; i < s->report->findings.n; i++) {
        const char *had = s->report->findings.at[i].note;
        if (had && strcmp(had, note) == 0)
            return;
    }
    check_finding f = {.test = forms[form].name, .outcome = refused ? forms[form].refused : CHECK_FAILED, .note = note};
    f.code = number_of(text);
    f.error = f.outcome == CHECK_FAILED ? INFINITY : 0;
    check_add(s, f);
}

/* What a derivative's refusal says becomes a finding; everything else is an error of the whole check. */
static rg_status
settle_status(subject *s, check_device *on, rg_form form, const diag_list *said, rg_status status)
{
    if (status == RG_COMPILE && form != RG_FORWARD) {
        note_refusal(s, on, form, said);
        return RG_OK;
    }
    diag_join(s->diags, said);
    return status;
}

rg_status
check_launch(subject *s, check_device *on, rg_form form, memory m, bool *ran)
{
    *ran = false;
    if (on->refused[form])
        return RG_OK;
    diag_list said = {.text.in = mem_scratch()};
    rg_status found = check_device_run(on, s->fn, form, s->contraction, m.args, m.bytes, &said);
    *ran = found == RG_OK;
    return settle_status(s, on, form, &said, found);
}

rg_status
check_compile(subject *s, check_device *on, rg_form form, const ir_fn **made)
{
    *made = NULL;
    if (on->refused[form])
        return RG_OK;
    diag_list said = {.text.in = mem_scratch()};
    rg_status status = check_device_compile(on, s->fn, form, s->contraction, &said, made);
    return settle_status(s, on, form, &said, status);
}
