/* See whole_judge.h. SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter is judged by dual numbers, all other devices by the interpreter. Floats narrower than double are
 * judged twice: the program with double in their place by dual numbers, and the program itself, on every device, by the
 * interpreter; where they round so much that this shows nothing, the one with double on every device instead. */
#include "whole_judge.h"

#include "../devices.h"
#include "../directions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Decisions that are closer than `tie`, beside their size, may go either way; `unit`: what one rounding moves. */
enum { EXACT, SINGLE, HALF };
static const double tie[] = {1e-7, 1e-3, 3e-2}, tolerances[] = {1e-8, 2e-3, 1e-1},
                    unit[] = {0x1p-53, 0x1p-24, 0x1p-11};

/* Roundings that the oracle tries are larger than those of devices, since it tries few of the ways that there are. */
enum { MORE_THAN_UNIT = 8 };

static const char *const form_names[FORM_COUNT] = {"forward", "split", "combined", "jvp", "second"};
static const mode form_modes[FORM_COUNT] = {MODE_FORWARD, MODE_SPLIT, MODE_COMBINED, MODE_JVP, MODE_SECOND};

/* -- running --------------------------------------------------------------------------------------------------------
 */

bool
bench_open(bench *b)
{
    devices_desc desc = {.device = RG_STR("interp"), .num_threads = 1};
    bool good = !devices_open(&desc, &b->interp);
    if (b->lowered || (b->device && strcmp(b->device, "interp") == 0))
        return good;
    if (b->device) {
        desc.device = rg_str_of(b->device);
        return good && !devices_open(&desc, &b->other);
    }
    desc.device = RG_STR("simt");
    good = good && !devices_open(&desc, &b->other);
    desc.device = RG_STR("segments");
    good = good && !devices_open(&desc, &b->cut);
    desc.device = RG_STR("cpu");
    good = good && !devices_open(&desc, &b->cpu);
    desc.num_threads = 3;
    good = good && !devices_open(&desc, &b->threads);
    desc.tape_budget = 20000;
    return good && !devices_open(&desc, &b->tight);
}

/* The number in "error[E0511]"; 0: none. */
static int
error_number(void)
{
    const char *at = strstr(rg_error_message(), "[E");
    return at ? atoi(at + 2) : 0;
}

/* false: the program has failed. *refused receives the number if it may not run like that. */
static bool
allowed(rg_status status, mode m, const char *where, verdict *v, bool *refused)
{
    enum { FIRST_OWN = 200, LAST_OWN = 399, CLANG = 400 };
    int number = error_number();
    *refused = status != RG_OK;
    if (!status)
        return true;
    bool own = number == 0 || (number >= FIRST_OWN && number <= LAST_OWN) || number == CLANG;
    if (status == RG_BUDGET || (status == RG_COMPILE && !own)) {
        v->refused[m] = status == RG_BUDGET ? -1 : number;
        snprintf(v->why[m], sizeof v->why[m], "%s", rg_error_message());
        return true;
    }
    str text = {0};
    for (const char *at = rg_error_message(); *at; at++)
        str_addc(&text, *at == '\n' ? ' ' : *at);
    complain(&v->report, "%s: %.600s", where, text.ptr ? text.ptr : "no message");
    str_free(&text);
    return false;
}

/* -- inputs ----------------------------------------------------------------------------------------------------------
 */

static void
fill_whole(input *in, const whole_param *p, uint64_t seed, int64_t n)
{
    for (size_t i = 0; i < in->count; i++) {
        double v = 0.0, h = hash_unit(p->name, i, 9 + (unsigned)seed);
        switch (p->content) {
        case WHOLE_SIZE:
            v = (double)p->value;
            break;
        case WHOLE_INDEX:
            v = fmin(floor((0.5 + 0.5 * h) * (double)n), (double)n - 1.0);
            break;
        case WHOLE_PERM: /* a step through all of them, from anywhere */
            v = (double)(((int64_t)i * (n % 2 && n % 3 && n > 4 ? 3
                                        : n - 1 > 0             ? n - 1
                                                                : 1) +
                          (int64_t)(seed % (uint64_t)n)) %
                         n);
            break;
        case WHOLE_COUNTS:
            v = floor(2.0 + 1.99 * h);
            break;
        default:
            break;
        }
        input_set(in, i, v);
    }
}

static bool
make_inputs(inputs *in, const rg_kernel *kernel, const whole_program *p, verdict *v)
{
    if (inputs_describe(in, kernel))
        return complain(&v->report, "parameters: %s", rg_error_message());
    for (uint32_t k = 0; k < in->count; k++) {
        input *q = &in->at[k];
        const whole_param *made = NULL;
        q->param.name = rg_str_of(q->name); /* that of the kernel ends with it */
        for (uint32_t j = 0; j < p->count; j++)
            if (strcmp(p->params[j].name, q->name) == 0)
                made = &p->params[j];
        if (!made)
            return complain(&v->report, "parameters: nobody knows %s", q->name);
        inputs_shape(q, made->rank, made->shape);
        if (!q->seed)
            fill_whole(q, made, p->seed, p->params[0].value);
        for (size_t i = 0; q->seed && i < q->count; i++)
            input_set(q, i, made->content == WHOLE_RESULT ? 0.0 : hash_unit(q->name, i, 7 + (unsigned)p->seed));
        if (q->seed && made->constant) {
            free(q->seed);
            free(q->tangent);
            q->seed = q->tangent = NULL;
        }
    }
    return true;
}

static bool
is_loose(const whole_program *p, const input *q)
{
    for (uint32_t j = 0; j < p->count; j++)
        if (strcmp(p->params[j].name, q->name) == 0)
            return p->params[j].loose;
    return false;
}

/* -- subjects --------------------------------------------------------------------------------------------------------
 */

typedef struct trial {
    rg_module *module;
    subject s;
} trial;

static bool
open_trial(trial *t, rg_queue *queue, const whole_program *p, const char *source, bool wide, inputs *in, verdict *v,
           bool *refused)
{
    rg_kernel *kernel = NULL;
    rg_status status = subject_load(NULL, source, wide ? CODE_WIDE : 0, &t->module);
    if (!status)
        status = rg_module_get_kernel(t->module, RG_STR("kern"), &kernel);
    if (!allowed(status, MODE_FRONT, "front end", v, refused) || *refused)
        return !v->report.text[0];
    if (in->count == 0 && !make_inputs(in, kernel, p, v))
        return false;
    if (subject_open(&t->s, queue, t->module, "kern", in))
        return complain(&v->report, "arguments: %s", rg_error_message());
    for (uint32_t k = 0; k < in->count; k++)
        if (dtype_is_float(in->at[k].param.dtype) && !in->at[k].seed &&
            (rg_array_attach(t->s.arrays[k], RG_ADJOINT, NULL) || rg_array_attach(t->s.arrays[k], RG_TANGENT, NULL)))
            return complain(&v->report, "companions: %s", rg_error_message());
    return true;
}

static void
close_trial(trial *t)
{
    subject_close(&t->s);
    rg_module_destroy(t->module);
    *t = (trial){0};
}

/* Values of all parameters: those that a form leaves. */
typedef struct left {
    bool ran;
    kept planes[4];
} left;

static bool
has_plane(form f, unsigned plane)
{
    switch (plane) {
    case RG_PRIMAL:
        return f != VJP;
    case RG_ADJOINT:
        return f == VJP || f == FORWARD_VJP || f == JVP_FORWARD_VJP;
    case RG_TANGENT:
        return f == JVP || f == JVP_FORWARD_VJP;
    default:
        return f == JVP_FORWARD_VJP;
    }
}

static void
free_left(left *l)
{
    for (unsigned plane = 0; plane < 4; plane++)
        kept_free(&l->planes[plane]);
    *l = (left){0};
}

/* Runs a form; false: failed. l->ran: not refused. */
static bool
run_form(trial *t, const inputs *in, form f, const char *where, verdict *v, left *l)
{
    char what[96];
    bool refused = false;
    rg_status status = subject_reset(&t->s, in);
    snprintf(what, sizeof what, "%s %s", where, form_names[f]);
    if (!status && f == JVP_FORWARD_VJP)
        status = subject_require_second(&t->s, in);
    if (!status && f == JVP_FORWARD_VJP)
        status = subject_reset(&t->s, in);
    if (!status && f == VJP)
        status = subject_run(&t->s, FORWARD);
    if (!status)
        status = subject_run(&t->s, f);
    if (!allowed(status, form_modes[f], what, v, &refused))
        return false;
    l->ran = !refused;
    for (unsigned plane = 0; l->ran && plane < 4; plane++)
        if (has_plane(f, plane))
            kept_take(&l->planes[plane], in, &t->s, plane);
    return true;
}

/* -- comparisons ------------------------------------------------------------------------------------------------------
 */

static const char *const plane_names[] = {"value", "adjoint", "tangent", "adjoint's tangent"};

static bool
close_to(double a, double b, double limit)
{
    return a == b || fabs(a - b) <= limit; /* infinities are equal */
}

static bool
same_left(const whole_program *p, const inputs *in, form f, const left *want, const left *got, double tolerance,
          const char *where, verdict *v)
{
    for (unsigned plane = 0; plane < 4; plane++)
        for (uint32_t k = 0; k < in->count; k++) {
            const double *a = want->planes[plane].at[k], *b = got->planes[plane].at[k];
            double largest = 1.0;
            if (!a || !b || is_loose(p, &in->at[k]))
                continue;
            for (size_t i = 0; i < in->at[k].count; i++)
                largest = fmax(largest, fabs(a[i]));
            for (size_t i = 0; i < in->at[k].count; i++)
                if (!close_to(a[i], b[i], (plane == 3 ? 100.0 : 1.0) * tolerance * largest))
                    return complain(&v->report, "%s %s: %s of %s: element %zu is %.12g, interpreter %.12g", where,
                                    form_names[f], plane_names[plane], in->at[k].name, i, b[i], a[i]);
        }
    return true;
}

static bool
as_oracle(const oracle *o, const whole_program *p, inputs *in, form f, const left *l, verdict *v)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const whole_param *q = &p->params[k];
        const input *at = inputs_find(in, q->name);
        if (!at || q->loose)
            continue;
        const double *value = l->planes[RG_PRIMAL].at[at - in->at], *tangent = l->planes[RG_TANGENT].at[at - in->at];
        double largest = 1.0, steepest = 1.0;
        for (size_t i = 0; o->at[k].value && i < at->count; i++) {
            largest = fmax(largest, fabs(o->at[k].value[i]));
            steepest = fmax(steepest, fabs(o->at[k].tangent[i]));
        }
        for (size_t i = 0; value && i < at->count; i++) {
            double want = o->at[k].value ? o->at[k].value[i] : o->at[k].whole[i];
            if (!close_to(value[i], want, 1e-8 * largest))
                return complain(&v->report, "interp %s: value of %s: element %zu is %.12g, dual numbers %.12g",
                                form_names[f], q->name, i, value[i], want);
        }
        for (size_t i = 0; f == JVP && tangent && i < at->count; i++)
            if (!close_to(tangent[i], o->at[k].tangent[i], 1e-8 * steepest))
                return complain(&v->report, "interp %s: tangent of %s: element %zu is %.12g, dual numbers %.12g",
                                form_names[f], q->name, i, tangent[i], o->at[k].tangent[i]);
    }
    return true;
}

/* <adjoints, u> = <w, T u> for each direction u. */
static bool
transposed(const oracle *o, const whole_program *p, inputs *in, form f, const left *l, const char *where, verdict *v)
{
    for (unsigned d = 0; d < ORACLE_DIRECTIONS; d++) {
        double size, right = oracle_product(o, p, in, d, &size), sum = 0.0;
        for (uint32_t k = 0; k < in->count; k++)
            for (size_t i = 0; in->at[k].seed && l->planes[RG_ADJOINT].at[k] && i < in->at[k].count; i++) {
                double term = l->planes[RG_ADJOINT].at[k][i] * oracle_direction(&in->at[k], i, d);
                sum += term;
                size += fabs(term);
            }
        if (!close_to(sum, right, 1e-8 * fmax(size, 1.0)))
            return complain(&v->report, "%s %s: gradient: <gradient, u%u> = %.12g, dual numbers %.12g", where,
                            form_names[f], d, sum, right);
    }
    return true;
}

/* <w, T u> along u0, as a central difference. false: the program goes other ways there, or cannot be run. */
static bool
slopes(void *library, const whole_program *p, inputs *in, double h, double slope[ORACLE_DIRECTIONS],
       double size[ORACLE_DIRECTIONS])
{
    oracle before, after;
    double other;
    bool good = oracle_run(library, p, in, -h, 0.0, &before);
    good = oracle_run(library, p, in, h, 0.0, &after) && good;
    good = good && before.finite && after.finite && before.gap > 1e-3 && after.gap > 1e-3;
    for (unsigned d = 0; good && d < ORACLE_DIRECTIONS; d++)
        slope[d] = (oracle_product(&after, p, in, d, &size[d]) - oracle_product(&before, p, in, d, &other)) / (2.0 * h);
    oracle_free(&before);
    oracle_free(&after);
    return good;
}

/* <H u0, u> against differences, whose own error two steps tell. */
static bool
second_as_oracle(void *library, const whole_program *p, inputs *in, const left *l, verdict *v)
{
    double slope[ORACLE_DIRECTIONS], coarse[ORACLE_DIRECTIONS], size[ORACLE_DIRECTIONS];
    if (!slopes(library, p, in, 4e-5, coarse, size) || !slopes(library, p, in, 1e-5, slope, size))
        return true;
    for (unsigned d = 0; d < ORACLE_DIRECTIONS; d++) {
        double sum = 0.0, all = size[d];
        for (uint32_t k = 0; k < in->count; k++)
            for (size_t i = 0; l->planes[3].at[k] && i < in->at[k].count; i++) {
                double term = l->planes[3].at[k][i] * oracle_direction(&in->at[k], i, d);
                sum += term;
                all += fabs(term);
            }
        /* differences of a function as steep as that are no measure */
        if (all > 1e6 || fabs(slope[d] - coarse[d]) > 0.01 * all)
            continue;
        if (!close_to(sum, slope[d], 1e-5 * all + 1e-6 + 10.0 * fabs(slope[d] - coarse[d])))
            return complain(&v->report, "interp second: <H u0, u%u> = %.12g, difference of dual numbers %.12g", d, sum,
                            slope[d]);
    }
    return true;
}

/* -- one program ------------------------------------------------------------------------------------------------------
 */

/* What the interpreter left of a program. */
typedef struct answer {
    const whole_program *p;
    const char *source;
    bool wide; /* double in place of narrower floats */
    inputs *in;
    const left *want;
    double tolerance;
} answer;

/* All forms that are wanted, on one device, against the interpreter's. */
static bool
check_device(rg_queue *queue, const char *where, const answer *a, unsigned forms, verdict *v)
{
    trial t = {0};
    verdict other = {0}; /* a refusal here is one of the interpreter's, or for lack of room */
    bool refused, good = open_trial(&t, queue, a->p, a->source, a->wide, a->in, &other, &refused);
    for (form f = 0; good && !refused && f < FORM_COUNT; f++) {
        left got = {0};
        if (!(forms & 1u << f) || !a->want[f].ran)
            continue;
        other.refused[form_modes[f]] = 0;
        good = run_form(&t, a->in, f, where, &other, &got);
        if (good && !got.ran && other.refused[form_modes[f]] > 0)
            good = complain(&other.report, "%s %s: E%04d, though not in the interpreter", where, form_names[f],
                            other.refused[form_modes[f]]);
        good = good && (!got.ran || same_left(a->p, a->in, f, &a->want[f], &got, a->tolerance, where, &other));
        free_left(&got);
    }
    if (!good)
        v->report = other.report;
    close_trial(&t);
    return good;
}

static const unsigned every_form = (1u << FORM_COUNT) - 1;

static void
set(const char *variable, const char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

/* With so many lanes; slots: the interpreter runs what lowering makes of the program, which takes no code generator. */
static bool
check_width(const bench *b, const char *lanes, bool slots, const answer *a, unsigned forms, verdict *v)
{
    static const char *const plans[] = {"record", "recompute", "block=2", "drop=1", "recompute,block=2", "drop=50"};
    char where[64];
    uint64_t k = a->p->seed;
    bool tight = !slots && k % 16 == 5;
    const char *plan = k % 8 == 3 ? plans[k / 8 % countof(plans)] : NULL;
    rg_queue *queue = slots ? b->interp : tight ? b->tight : k % 3 == 0 ? b->threads : b->cpu;
    snprintf(where, sizeof where, "%s in %s lanes%s%s%s", slots ? "lowered" : "cpu", lanes ? lanes : "own",
             tight ? ", tight" : "", plan ? ", plan " : "", plan ? plan : "");
    set("RG_LANES", lanes);
    set("RG_INTERP", slots ? "slots" : NULL);
    set("RG_PLAN", plan);
    bool good = check_device(queue, where, a, forms, v);
    set("RG_LANES", NULL);
    set("RG_INTERP", NULL);
    set("RG_PLAN", NULL);
    return good;
}

static const unsigned gradient = 1u << FORWARD_VJP, tangents = 1u << JVP;

/* One width, and one or two forms, of which the next programs have others. */
/* a GPU that is played, in one of two ways */
static bool
check_played(const bench *b, const answer *a, unsigned forms, verdict *v)
{
    bool cut = a->p->seed / 32 % 2;
    return check_device(cut ? b->cut : b->other, cut ? "segments" : "simt", a, forms, v);
}

static bool
check_quickly(const bench *b, const answer *a, verdict *v)
{
    static const char *const widths[] = {"8", NULL, "16", "1"}, *const lowered[] = {"8", "warp", "16", "1"};
    static const unsigned forms[] = {gradient, gradient,  tangents, gradient,
                                     gradient, 1u << VJP, gradient, gradient | tangents};
    uint64_t k = a->p->seed;
    if (!check_width(b, lowered[k / 2 % 4], true, a, every_form, v))
        return false;
    return b->lowered ||
           (check_width(b, widths[k % 4], false, a, k % 64 == 40 ? every_form : forms[k / 4 % 8], v) &&
            (k % 32 != 9 || check_played(b, a, gradient, v)));
}

static bool
check_devices(const bench *b, const answer *a, verdict *v)
{
    static const char *const widths[] = {"8", "16", NULL, "1"}, *const lowered[] = {"8", "warp", "1"};
    uint64_t k = a->p->seed;
    if (b->device)
        return !b->other || check_device(b->other, b->device, a, every_form, v);
    if (b->quick || b->lowered)
        return check_quickly(b, a, v);
    for (unsigned w = 0; w < countof(lowered); w++)
        if (!check_width(b, lowered[w], true, a, every_form, v))
            return false;
    for (unsigned w = 0; w < countof(widths); w++)
        if (!check_width(b, widths[w], false, a, w == k % 4 ? every_form : gradient | tangents, v))
            return false;
    return check_played(b, a, gradient | (k % 4 == 0 ? every_form : 0), v);
}

/* Three directions in a launch as in three launches; leaves other seeds in the inputs. */
static bool
check_several(const bench *b, const whole_program *p, const char *source, inputs *in, verdict *v)
{
    trial one = {0}, several = {0};
    bool refused;
    bool good = open_trial(&one, b->interp, p, source, p->narrow, in, v, &refused) &&
                open_trial(&several, b->interp, p, source, p->narrow, in, v, &refused) &&
                check_directions(in, &one.s, &several.s, false, tolerances[EXACT], &v->report);
    close_trial(&one);
    close_trial(&several);
    return good;
}

/* Runs every form on the interpreter. */
static bool
interpret(const bench *b, trial *t, inputs *in, const whole_program *p, left *want, verdict *v)
{
    for (form f = 0; f < FORM_COUNT; f++)
        if ((f != JVP_FORWARD_VJP || !b->quick || p->seed % 4 == 0) && !run_form(t, in, f, "interp", v, &want[f]))
            return false;
    return true;
}

/* whether what a right compiler may leave lies together, with such floats */
static bool
tells(void *library, const whole_program *p, inputs *in, const oracle *o, int floats)
{
    return o->gap > tie[floats] &&
           oracle_moved_by(library, p, in, o, MORE_THAN_UNIT * unit[floats]) < tolerances[floats];
}

/* false: failed */
static bool
judge_exact(const bench *b, void *library, const whole_program *p, const char *source, left *want, inputs *in,
            oracle *o, verdict *v)
{
    trial t = {0};
    bool refused, good = open_trial(&t, b->interp, p, source, p->narrow, in, v, &refused);
    if (good && !refused) {
        bool asked = oracle_run(library, p, in, 0.0, 0.0, o);
        if (!asked)
            good = complain(&v->report, "dual numbers: the program is missing");
        else if (!o->finite)
            v->kind = TOO_LARGE;
        else if (o->gap < tie[EXACT])
            v->kind = NEAR_TIE;
        else if (!tells(library, p, in, o, EXACT))
            v->kind = ILL_CONDITIONED;
        bool sound = good && v->kind == PASSED;
        good = good && (!sound || interpret(b, &t, in, p, want, v));
        for (form f = 0; good && sound && f < FORM_COUNT; f++)
            if (want[f].ran)
                good = as_oracle(o, p, in, f, &want[f], v) &&
                       (!(f == VJP || f == FORWARD_VJP || f == JVP_FORWARD_VJP) ||
                        transposed(o, p, in, f, &want[f], "interp", v)) &&
                       (f != JVP_FORWARD_VJP || second_as_oracle(library, p, in, &want[f], v));
    }
    close_trial(&t);
    return good;
}

static int
floats_of(const whole_program *p)
{
    return p->half ? HALF : p->narrow ? SINGLE : EXACT;
}

static bool
judge_narrow(const bench *b, const whole_program *p, const char *source, verdict *v)
{
    trial t = {0};
    inputs in = {0};
    left want[FORM_COUNT] = {0};
    verdict own = {0};
    bool refused, good = open_trial(&t, b->interp, p, source, false, &in, v, &refused);
    good = good && (refused || interpret(b, &t, &in, p, want, &own));
    close_trial(&t);
    good = good && (refused || check_devices(b, &(answer){p, source, false, &in, want, tolerances[floats_of(p)]}, v));
    if (own.report.text[0])
        v->report = own.report;
    for (form f = 0; f < FORM_COUNT; f++)
        free_left(&want[f]);
    inputs_free(&in);
    return good;
}

void
judge(const bench *b, void *library, const whole_program *p, const bool *off, verdict *v)
{
    str source = {0};
    inputs in = {0};
    oracle o = {0};
    left want[FORM_COUNT] = {0};
    *v = (verdict){.seed = p->seed};
    whole_print_c(p, off, &source);
    bool good = judge_exact(b, library, p, source.ptr, want, &in, &o, v);
    if (good && v->kind == PASSED && in.count) {
        v->widened = p->narrow && !tells(library, p, &in, &o, floats_of(p));
        good = p->narrow && !v->widened
                   ? judge_narrow(b, p, source.ptr, v)
                   : check_devices(b, &(answer){p, source.ptr, p->narrow, &in, want, tolerances[EXACT]}, v);
    }
    if (good && v->kind == PASSED && p->seed % 32 == 12 && want[FORWARD_VJP].ran && want[JVP].ran &&
        want[JVP_FORWARD_VJP].ran && want[VJP].ran)
        good = check_several(b, p, source.ptr, &in, v);
    for (mode m = 0; good && b->never && m < MODE_COUNT; m++)
        if (v->refused[m] == b->never)
            good = complain(&v->report, "%s", v->why[m]);
    if (!good)
        v->kind = FAILED;
    for (form f = 0; f < FORM_COUNT; f++)
        free_left(&want[f]);
    oracle_free(&o);
    inputs_free(&in);
    str_free(&source);
}
