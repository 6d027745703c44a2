/* gen_run FIRST COUNT [--out FOLDER] [--device NAME] [--keep] [--gcc] [--plans] [--directions]
 * [--threads N] [--lanes] [--against NAME]: runs generated programs. SPDX-License-Identifier: Apache-2.0
 *
 * Each program: the combined gradient on the interpreter and on a device, the CPU if none is named (values bit
 * by bit, but for sums over threads), vjp against jvp on the interpreter in f64, now and then the forward kernel by
 * itself, the split gradient and the symmetry of second derivatives; with --threads, on arrays so
 * long that several threads run; with --gcc, each forward kernel against the C compiler's; with
 * --plans, gradients under every plan that can be forced against those of the default one; with
 * --directions, launches of three directions against three launches; with --lanes, programs with what
 * lanes find hard, for about as many threads as there are lanes, with 1, 8, 16 and 32 of them, and in warps on the
 * interpreter, against the interpreter (--device interp: which then runs the lowered programs itself, so that many can be
 * tried); with --against, deterministic code, the gradient and its derivative have the same bits on the device and on that one.
 * Programs run in child processes, so that a crash or an endless loop is one more finding. A failing program
 * is shrunk by dropping statements as long as it fails in the same way, and written to
 * FOLDER/gen-SEED.c (--keep: as generated). */
#include "gen.h"

#include "../devices.h"
#include "../directions.h"
#include "../native.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct setting {
    const char *device;          /* NULL: the CPU where this build has it */
    rg_queue *interp, *other;  /* other NULL: none */
    const char *against;         /* another device */
    rg_queue *beside;            /* ... for deterministic code */
    rg_queue *exact;             /* for code without contraction; NULL: no comparison with the C compiler */
    bool gpu;                    /* arrays in memory of its own, threads in no order */
    bool native;                 /* compare with the C compiler */
    const char *out;
    bool keep, plans, directions, lanes;
    uint32_t threads; /* more than 1: long arrays */
} setting;

/* -- one program
 * ------------------------------------------------------------------------------------- */

/* Numbers of threads: less than a group, as many, a little more, several groups. */
static int64_t
thread_count(const setting *t, uint64_t seed)
{
    static const int64_t around[] = {37, 17, 9, 16, 35, 8, 19, 7, 15, 1, 33, 70, 32};
    if (t->threads > 1 || (t->gpu && seed % 16 == 7))
        return 1500 + (int64_t)(seed % 700);
    return t->lanes || t->gpu ? around[seed % countof(around)] : 1 + (int64_t)(seed % 5);
}

static bool
make_inputs(inputs *in, const rg_kernel *kernel, const setting *t, uint64_t seed, report *r)
{
    static const int64_t columns[] = {3, 9, 1, 8, 17, 5, 16};
    int64_t n = thread_count(t, seed), n2 = columns[seed % countof(columns)];
    if (inputs_describe(in, kernel))
        return complain(r, "parameters: %s", rg_error_message());
    for (uint32_t k = 0; k < in->count; k++) {
        input *p = &in->at[k];
        int64_t shape[2] = {n, 3};
        if (strcmp(p->name, "w") == 0)
            shape[0] = 5;
        else if (strcmp(p->name, "acc") == 0)
            shape[0] = 3;
        else if (strcmp(p->name, "best") == 0)
            shape[0] = 2;
        else if (strcmp(p->name, "bins") == 0 || strcmp(p->name, "tickets") == 0 || strcmp(p->name, "once") == 0)
            shape[0] = 6;
        else if (strcmp(p->name, "grid") == 0)
            shape[1] = n2;
        inputs_shape(p, p->param.rank, shape);
        for (size_t i = 0; i < p->count; i++)
            if (p->seed)
                input_set(p, i, hash_unit(p->name, i, 7 + (unsigned)seed));
            else if (strcmp(p->name, "n") == 0)
                input_set(p, i, (double)n);
            else if (strcmp(p->name, "n2") == 0)
                input_set(p, i, (double)n2);
            else
                input_set(p, i, floor(5.0 + 5.0 * hash_unit(p->name, i, 9 + (unsigned)seed)));
    }
    return true;
}

/* Arrays whose last bits depend on the order of threads, and nothing else does. */
static bool
is_loose(const input *p)
{
    return strcmp(p->name, "acc") == 0 || strcmp(p->name, "loose") == 0;
}

/* A minimum of -0 and 0 that threads take in any order is either. */
static void
forget_sign_of_zero(const input *p, double *values)
{
    for (size_t i = 0; strcmp(p->name, "best") == 0 && p->param.dtype == RG_F64 && i < p->count; i++)
        values[i] += 0.0;
}

static bool
check_values(const inputs *in, const subject *a, const subject *b, const char *what, report *r)
{
    bool good = true;
    for (uint32_t k = 0; k < in->count && good; k++) {
        const input *p = &in->at[k];
        double *x = calloc(p->count + 1, 8), *y = calloc(p->count + 1, 8);
        bool both = p->param.array && subject_read_raw(a, in, k, RG_PRIMAL, x) &&
                    subject_read_raw(b, in, k, RG_PRIMAL, y);
        forget_sign_of_zero(p, x);
        forget_sign_of_zero(p, y);
        if (both && !is_loose(p))
            good = check_bits(p, x, y, what, r);
        for (size_t i = 0; both && is_loose(p) && i < p->count && good; i++)
            if (!(fabs(x[i] - y[i]) <= 1e-12 * fmax(1.0, fabs(x[i]))))
                good = complain(r, "%s: %s, element %zu: %.17g and %.17g", what, p->name, i, x[i],
                                y[i]);
        free(x);
        free(y);
    }
    return good;
}

static bool
run(subject *s, const inputs *in, form form, const char *what, report *r)
{
    if (subject_reset(s, in) || subject_run(s, form))
        return complain(r, "%s: %s", what, rg_error_message());
    return true;
}

static bool
check_split(const inputs *in, subject *s, double tolerance, report *r)
{
    kept combined;
    if (!run(s, in, FORWARD_VJP, "combined", r))
        return false;
    kept_take(&combined, in, s, RG_ADJOINT);
    bool good = run(s, in, FORWARD, "forward", r);
    rg_status status = good ? subject_run(s, VJP) : RG_OK;
    if (status && status != RG_COMPILE)
        good = complain(r, "split: %s", rg_error_message());
    else if (good && !status)
        good = check_kept(in, s, RG_ADJOINT, &combined, tolerance, "combined and split", r);
    kept_free(&combined);
    return good;
}

static bool
check_devices(const inputs *in, subject *interp, subject *other, uint64_t seed, double tolerance,
              report *r)
{
    return run(interp, in, FORWARD_VJP, "gradient", r) &&
           run(other, in, FORWARD_VJP, "gradient on the device", r) &&
           check_values(in, interp, other, "values", r) &&
           check_planes(in, interp, other, RG_ADJOINT, tolerance, "gradients", r) &&
           (seed % 8 != 0 || (run(interp, in, FORWARD, "forward", r) &&
                              run(other, in, FORWARD, "forward on the device", r) &&
                              check_values(in, interp, other, "forward values", r)));
}

/* Opens the source on one device and calls on. */
static bool
open_on(const setting *t, rg_queue *queue, const char *source, bool wide, rg_module **module,
        subject *s, inputs *in, uint64_t seed, report *r)
{
    unsigned code = (wide ? CODE_WIDE : 0) | (queue == t->interp ? CODE_CHECKED : 0) | (queue == t->exact ? CODE_EXACT : 0);
    rg_kernel *kernel;
    if (subject_load(NULL, source, code, module) ||
        rg_module_get_kernel(*module, RG_STR("generated"), &kernel))
        return complain(r, "compile: %s", rg_error_message());
    if (in->count == 0 && !make_inputs(in, kernel, t, seed, r))
        return false;
    if (subject_open(s, queue, *module, "generated", in))
        return complain(r, "arguments: %s", rg_error_message());
    return true;
}

/* The forward kernel without contraction against the C compiler's. */
static bool
check_native(const setting *t, const char *source, uint64_t seed, report *r)
{
    char path[64];
    char *files[1] = {path};
    rg_module *module = NULL;
    subject s = {0};
    inputs in = {0};
    snprintf(path, sizeof path, "/tmp/rg-generated-%ld.c", (long)getpid());
    if (file_write(path, source, strlen(source)))
        return complain(r, "cannot write %s", path);
    void *library = native_load(files, 1);
    unlink(path);
    bool good = library || complain(r, "the C compiler refuses it");
    good = good && open_on(t, t->exact, source, false, &module, &s, &in, seed, r) &&
           (!native_run(&s, &in) || complain(r, "forward without contraction: %s", rg_error_message())) &&
           native_compare(library, "generated", &in, &s, true, r);
    native_close(library);
    subject_close(&s);
    rg_module_destroy(module);
    inputs_free(&in);
    return good;
}

/* -- forced plans ------------------------------------------------------------------------------ */
static const char *const plans[] = {
    "record", "recompute", "block=2", "block=3", "block=8", "record,block=4", "recompute,block=2",
    "drop=1", "drop=50", "record,drop=200", "block=2,drop=30",
};

/* The gradient and, where it is asked for, its own derivative and the split gradient. */
typedef struct derivatives {
    kept gradient, second, split;
    bool with_second, with_split, split_refused;
} derivatives;

static bool
take_split(derivatives *d, const inputs *in, subject *s, const char *what, report *r)
{
    if (!run(s, in, FORWARD, what, r))
        return false;
    rg_status status = subject_run(s, VJP);
    d->split_refused = status == RG_COMPILE;
    if (!status)
        kept_take(&d->split, in, s, RG_ADJOINT);
    return !status || d->split_refused || complain(r, "%s: split: %s", what, rg_error_message());
}

static bool
take_derivatives(derivatives *d, const inputs *in, subject *s, const char *what, report *r)
{
    if (!run(s, in, FORWARD_VJP, what, r))
        return false;
    kept_take(&d->gradient, in, s, RG_ADJOINT);
    if (d->with_split && !take_split(d, in, s, what, r))
        return false;
    if (!d->with_second)
        return true;
    if (subject_require_second(s, in) || !run(s, in, JVP_FORWARD_VJP, what, r))
        return complain(r, "%s: second: %s", what, rg_error_message());
    kept_take(&d->second, in, s, RG_ADJOINT | RG_TANGENT);
    return true;
}

static void
free_derivatives(derivatives *d)
{
    kept_free(&d->gradient);
    kept_free(&d->second);
    kept_free(&d->split);
}

static bool
same_kept(const inputs *in, const kept *a, const kept *b, double tolerance, const char *what,
          report *r)
{
    for (uint32_t k = 0; k < in->count; k++) {
        double largest = 1.0;
        for (size_t i = 0; a->at[k] && i < in->at[k].count; i++)
            largest = fmax(largest, fabs(a->at[k][i]));
        for (size_t i = 0; a->at[k] && b->at[k] && i < in->at[k].count; i++) {
            double x = a->at[k][i], y = b->at[k][i];
            if (isfinite(x) && !(fabs(x - y) <= tolerance * largest))
                return complain(r, "%s: %s, element %zu: %.17g and %.17g", what, in->at[k].name, i,
                                x, y);
        }
    }
    return true;
}

static bool
check_plan(const setting *t, rg_queue *queue, const char *source, bool wide, const char *plan,
           derivatives *want, inputs *in, uint64_t seed, double tolerance, report *r)
{
    rg_module *module = NULL;
    subject s = {0};
    char what[64];
    derivatives got = {.with_second = want->with_second, .with_split = want->with_split};
    snprintf(what, sizeof what, "plan %s", plan);
    setenv("RG_PLAN", plan, 1);
    bool good = open_on(t, queue, source, wide, &module, &s, in, seed, r) &&
                take_derivatives(&got, in, &s, what, r) &&
                same_kept(in, &want->gradient, &got.gradient, tolerance, what, r) &&
                same_kept(in, &want->split, &got.split, tolerance, what, r) &&
                same_kept(in, &want->second, &got.second, 10 * tolerance, what, r);
    unsetenv("RG_PLAN");
    free_derivatives(&got);
    subject_close(&s);
    rg_module_destroy(module);
    return good;
}

/* All plans on the interpreter, in f64; one of them on the device too. */
static bool
check_plans(const setting *t, const char *source, uint64_t seed, bool wide, report *r)
{
    rg_module *module = NULL;
    subject s = {0};
    inputs in = {0};
    derivatives want = {.with_second = seed % 4 == 2, .with_split = seed % 4 == 1};
    double tolerance = t->threads > 1 || t->gpu ? 1e-10 : 1e-12;
    bool good = open_on(t, t->interp, source, wide, &module, &s, &in, seed, r) &&
                take_derivatives(&want, &in, &s, "default plan", r);
    for (size_t k = 0; good && k < sizeof plans / sizeof plans[0]; k++) {
        good = check_plan(t, t->interp, source, wide, plans[k], &want, &in, seed, tolerance, r);
        if (good && t->other && seed % (sizeof plans / sizeof plans[0]) == k)
            good = check_plan(t, t->other, source, wide, plans[k], &want, &in, seed, tolerance, r);
    }
    free_derivatives(&want);
    subject_close(&s);
    rg_module_destroy(module);
    inputs_free(&in);
    return good;
}

/* -- several directions ------------------------------------------------------------------------ */

static bool
check_several(const setting *t, const char *source, uint64_t seed, bool wide, report *r)
{
    rg_module *modules[2] = {0};
    subject one = {0}, several = {0}, other = {0};
    inputs in = {0};
    double tolerance = t->threads > 1 || t->gpu ? 1e-10 : 1e-12;
    bool good = open_on(t, t->interp, source, wide, &modules[0], &one, &in, seed, r);
    if (good && subject_open(&several, t->interp, modules[0], "generated", &in))
        good = complain(r, "arguments: %s", rg_error_message());
    good = good && check_directions(&in, &one, &several, true, tolerance, r);
    if (good && t->other)
        good = open_on(t, t->other, source, wide, &modules[1], &other, &in, seed, r) &&
               check_directions(&in, &one, &other, false, tolerance, r);
    subject_close(&one);
    subject_close(&several);
    subject_close(&other);
    rg_module_destroy(modules[0]);
    rg_module_destroy(modules[1]);
    inputs_free(&in);
    return good;
}

/* -- deterministic code on two devices --------------------------------------------------------- */

static bool
check_against(const setting *t, const char *source, uint64_t seed, report *r)
{
    static const char *const names[] = {"gradient", "its derivative"};
    rg_queue *queues[2] = {t->other, t->beside};
    rg_module *module;
    rg_kernel *kernel;
    subject s[2] = {{0}};
    inputs in = {0};
    if (subject_load(NULL, source, CODE_DETERMINISTIC, &module))
        return complain(r, "compile: %s", rg_error_message());
    bool good = rg_module_get_kernel(module, RG_STR("generated"), &kernel) ? complain(r, "compile: %s", rg_error_message())
                                                                           : make_inputs(&in, kernel, t, seed, r);
    for (int i = 0; i < 2 && good; i++)
        if (subject_open(&s[i], queues[i], module, "generated", &in) || subject_require_second(&s[i], &in))
            good = complain(r, "arguments: %s", rg_error_message());
    for (int f = 0; f < 2 && good; f++) {
        char what[64];
        snprintf(what, sizeof what, "%s, %s and %s", names[f], t->device, t->against);
        for (int i = 0; i < 2 && good; i++)
            good = run(&s[i], &in, f ? JVP_FORWARD_VJP : FORWARD_VJP, what, r);
        for (unsigned plane = 0; plane < (f ? RG_PLANE_COUNT : 2) && good; plane++)
            good = check_planes(&in, &s[0], &s[1], plane, 0.0, what, r);
    }
    for (int i = 0; i < 2; i++)
        subject_close(&s[i]);
    inputs_free(&in);
    rg_module_destroy(module);
    return good;
}

/* -- lanes ------------------------------------------------------------------------------------- */

enum { WIDTHS = 5 };
static const char *const lanes[WIDTHS] = {"1", "8", "16", "32", "warp"}; /* the last one on the interpreter alone, or on a GPU */

/* Returns what was forced before, to be freed. */
static char *
force(const char *variable, const char *value)
{
    char *was = getenv(variable);
    was = was ? strdup(was) : NULL;
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
    return was;
}

typedef struct widths {
    rg_module *modules[WIDTHS];
    subject at[WIDTHS];
} widths;

static bool
run_width(const setting *t, const char *source, uint64_t seed, widths *w, unsigned k, inputs *in, form form,
          report *r)
{
    subject *s = &w->at[k];
    char what[32];
    snprintf(what, sizeof what, "%s lanes", lanes[k]);
    char *was = force("RG_LANES", lanes[k]), *stage = force("RG_INTERP", "slots");
    rg_queue *on = t->other && (t->gpu || k + 1 < WIDTHS) ? t->other : t->interp;
    bool good = (w->modules[k] || open_on(t, on, source, false, &w->modules[k], s, in, seed, r)) &&
                (form != JVP_FORWARD_VJP || !subject_require_second(s, in) || complain(r, "no memory")) &&
                run(s, in, form, what, r);
    free(force("RG_LANES", was));
    free(force("RG_INTERP", stage));
    free(was);
    free(stage);
    return good;
}

/* One form on the interpreter and with each width. */
static bool
check_form(const setting *t, const char *source, uint64_t seed, widths *w, subject *interp, inputs *in, form form,
           double tolerance, report *r)
{
    static const char *const names[FORM_COUNT] = {"forward", "vjp", "gradient", "jvp", "second"};
    if (form == JVP_FORWARD_VJP && subject_require_second(interp, in))
        return complain(r, "no memory");
    bool good = run(interp, in, form, names[form], r);
    for (unsigned k = t->gpu ? WIDTHS - 1 : 0; good && k < WIDTHS; k++) { /* GPUs have one width */
        char what[32];
        subject *s = &w->at[k];
        snprintf(what, sizeof what, "%s, %s lanes", names[form], lanes[k]);
        good = run_width(t, source, seed, w, k, in, form, r) && check_values(in, interp, s, what, r) &&
               (form == FORWARD || form == JVP || check_planes(in, interp, s, RG_ADJOINT, tolerance, what, r)) &&
               (form < JVP || check_planes(in, interp, s, RG_TANGENT, tolerance, what, r)) &&
               (form != JVP_FORWARD_VJP ||
                check_planes(in, interp, s, RG_ADJOINT | RG_TANGENT, 10 * tolerance, what, r));
    }
    return good;
}

static bool
check_lanes(const setting *t, const char *source, uint64_t seed, subject *interp, inputs *in, double tolerance,
            report *r)
{
    widths w = {0};
    bool good = check_form(t, source, seed, &w, interp, in, FORWARD_VJP, tolerance, r) &&
                (seed % 4 != 0 || check_form(t, source, seed, &w, interp, in, FORWARD, tolerance, r)) &&
                (seed % 8 != 1 || check_form(t, source, seed, &w, interp, in, JVP, tolerance, r)) &&
                (seed % 8 != 2 || check_form(t, source, seed, &w, interp, in, JVP_FORWARD_VJP, tolerance, r));
    for (unsigned k = 0; k < WIDTHS; k++) {
        if (good && seed % 8 == 5 && w.modules[k]) {
            char *was = force("RG_LANES", lanes[k]), *stage = force("RG_INTERP", "slots");
            good = check_split(in, &w.at[k], tolerance, r);
            free(force("RG_LANES", was));
            free(force("RG_INTERP", stage));
            free(was);
            free(stage);
        }
        subject_close(&w.at[k]);
        rg_module_destroy(w.modules[k]);
    }
    return good;
}

static bool
check_program(const setting *t, const char *source, uint64_t seed, bool mixed, report *r)
{
    rg_module *modules[3] = {0};
    subject interp = {0}, other = {0}, wide = {0};
    inputs in = {0}, in_wide = {0};
    double tolerance = mixed ? 1e-5 : t->threads > 1 || t->gpu ? 1e-10 : 1e-12;
    bool good = open_on(t, t->interp, source, false, &modules[0], &interp, &in, seed, r);
    if (good && t->lanes)
        good = check_lanes(t, source, seed, &interp, &in, tolerance, r);
    else if (good && t->other)
        good = open_on(t, t->other, source, false, &modules[1], &other, &in, seed, r) &&
               check_devices(&in, &interp, &other, seed, tolerance, r);
    if (good && mixed)
        good = open_on(t, t->interp, source, true, &modules[2], &wide, &in_wide, seed, r) &&
               check_duality(&in_wide, &wide, 1e-12, NULL, r);
    else if (good)
        good = check_duality(&in, &interp, 1e-12, NULL, r);
    if (good && seed % 8 == 2)
        good = check_symmetry(mixed ? &in_wide : &in, mixed ? &wide : &interp, 1e-11, r);
    if (good && seed % 4 == 1)
        good = check_split(&in, &interp, tolerance, r);
    if (good && t->beside)
        good = check_against(t, source, seed, r);
    if (good && t->exact)
        good = check_native(t, source, seed, r);
    if (good && t->plans)
        good = check_plans(t, source, seed, mixed, r);
    if (good && t->directions)
        good = check_several(t, source, seed, mixed, r);
    subject_close(&interp);
    subject_close(&other);
    subject_close(&wide);
    for (unsigned k = 0; k < 3; k++)
        rg_module_destroy(modules[k]);
    inputs_free(&in);
    inputs_free(&in_wide);
    return good;
}

/* -- child processes
 * ---------------------------------------------------------------------------------- */

typedef struct verdict {
    uint64_t seed;
    int32_t good;
    report report;
} verdict;

enum { SECONDS = 60, CANNOT_OPEN = 4 };

static void
send(int to, const verdict *v)
{
    const char *at = (const char *)v;
    size_t left = sizeof *v;
    while (left) {
        ssize_t n = write(to, at, left);
        if (n <= 0)
            _exit(3);
        at += n;
        left -= (size_t)n;
    }
}

static bool
receive(int from, verdict *v)
{
    char *at = (char *)v;
    size_t left = sizeof *v;
    while (left) {
        ssize_t n = read(from, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        left -= (size_t)n;
    }
    return true;
}

/* Forks. In the parent: the end of the pipe to read from; in the child: -1 - the end to write to.
 */
static int
start_child(pid_t *child)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends))
        exit(2);
    *child = fork();
    if (*child < 0)
        exit(2);
    if (*child > 0) {
        close(ends[1]);
        return ends[0];
    }
    close(ends[0]);
    return -1 - ends[1];
}

static const char *
end_child(pid_t child, int from)
{
    int status = 0;
    close(from);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_OPEN)
        exit(2);
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGALRM ? "endless" : strsignal(WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : "exit";
}

/* Contexts belong to the process that made them. */
static void
open_contexts(setting *t)
{
    devices_desc desc = {.device = RG_STR("interp"), .num_threads = t->threads};
    bool good = !devices_open(&desc, &t->interp);
    good = good && (!t->native || !devices_open(&desc, &t->exact));
    desc.device = t->device ? rg_str_of(t->device) : RG_STR("cpu");
    bool wanted = !t->device || strcmp(t->device, "interp") != 0;
    if (good && wanted && devices_open(&desc, &t->other))
        good = !t->device;
    desc.device = t->against ? rg_str_of(t->against) : RG_STR("interp");
    if (good && t->against)
        good = t->other && !devices_open(&desc, &t->beside);
    if (good)
        return;
    fprintf(stderr, "gen_run: %s\n", rg_error_message());
    _exit(CANNOT_OPEN);
}

static bool
check_in_child(const setting *t, const gen_program *p, uint64_t seed, report *r)
{
    pid_t child;
    verdict v = {.seed = seed};
    int end = start_child(&child);
    if (end < 0) {
        str source = {0};
        setting own = *t;
        open_contexts(&own);
        alarm(SECONDS);
        gen_print_program(p, &source);
        v.good = check_program(&own, source.ptr, seed, p->mixed, &v.report);
        send(-end - 1, &v);
        _exit(0); /* with the contexts */
    }
    bool answered = receive(end, &v);
    const char *crash = end_child(child, end);
    if (answered) {
        *r = v.report;
        return v.good;
    }
    return complain(r, "crash: %s", crash ? crash : "no answer");
}

/* -- shrinking
 * ------------------------------------------------------------------------------------------ */

/* Failures are of one kind if their texts agree up to the first colon, or, for compile errors, up
 * to the error's number. */
static bool
same_kind(const report *a, const report *b)
{
    const char *number = strstr(a->text, "[E");
    if (number && !(strstr(b->text, "[E") && strncmp(number, strstr(b->text, "[E"), 6) == 0))
        return false;
    size_t n = strcspn(a->text, ":");
    return strncmp(a->text, b->text, n + 1) == 0;
}

static bool
still_fails(const setting *t, const gen_program *p, uint64_t seed, const report *was)
{
    report now = {""};
    return !check_in_child(t, p, seed, &now) && same_kind(was, &now);
}

static bool
shrink_node(const setting *t, const gen_program *p, gen_node *node, uint64_t seed,
            const report *was)
{
    if (node->off)
        return false;
    node->off = true;
    if (still_fails(t, p, seed, was))
        return true;
    node->off = false;
    if (node->open)
        return false;
    for (unsigned k = 0; k < node->count && (node->tail || node->count > 1); k++) {
        node->open = (int)k + 1;
        if (node->parts[k].first && still_fails(t, p, seed, was))
            return true;
    }
    node->open = -1;
    if (node->simple && still_fails(t, p, seed, was))
        return true;
    node->open = 0;
    return false;
}

static void
shrink(const setting *t, gen_program *p, uint64_t seed, const report *was)
{
    bool progress = true;
    for (unsigned round = 0; round < 6 && progress; round++) {
        progress = false;
        for (size_t k = 0; k < p->nodes.n; k++)
            progress |= shrink_node(t, p, p->nodes.at[k], seed, was);
    }
}

static gen_options
options_of(const setting *t)
{
    return (gen_options){.lanes = t->lanes, .unordered = t->threads > 1 || t->gpu};
}

static void
report_failure(const setting *t, uint64_t seed, const report *r)
{
    gen_program p;
    gen_options options = options_of(t);
    str text = {0}, path = {0};
    gen_make(&p, seed, &options);
    if (!t->keep)
        shrink(t, &p, seed, r);
    str_addf(&text, "// seed %llu: ", (unsigned long long)seed);
    for (const char *at = r->text; *at; at++)
        str_addz(&text, *at == '\n' ? "\n// " : (char[2]){*at, 0});
    str_addc(&text, '\n');
    gen_print_program(&p, &text);
    printf("FAIL seed %llu: %.*s\n", (unsigned long long)seed, (int)strcspn(r->text, "\n"),
           r->text);
    fflush(stdout);
    if (t->out) {
        str_addf(&path, "%s/gen-%llu.c", t->out, (unsigned long long)seed);
        if (file_write(path.ptr, text.ptr, text.len))
            printf("cannot write %s\n", path.ptr);
    }
    str_free(&path);
    str_free(&text);
    gen_free(&p);
}

/* -- many programs
 * --------------------------------------------------------------------------------------- */

enum { BATCH = 64 };

static void
run_batch(const setting *t, uint64_t first, uint64_t count, int to)
{
    gen_options options = options_of(t);
    setting own = *t;
    open_contexts(&own);
    for (uint64_t seed = first; seed < first + count; seed++) {
        gen_program p;
        str source = {0};
        verdict v = {.seed = seed};
        alarm(SECONDS);
        gen_make(&p, seed, &options);
        gen_print_program(&p, &source);
        v.good = check_program(&own, source.ptr, seed, p.mixed, &v.report);
        str_free(&source);
        gen_free(&p);
        send(to, &v);
    }
    _exit(0);
}

/* Runs seeds from `first` in one child; returns how many were run, a crashed one included. */
static uint64_t
run_some(const setting *t, uint64_t first, uint64_t count, uint64_t *failed)
{
    pid_t child;
    uint64_t done = 0;
    verdict v;
    int end = start_child(&child);
    if (end < 0)
        run_batch(t, first, count, -end - 1);
    vec(verdict) bad = {0};
    while (done < count && receive(end, &v)) {
        if (!v.good)
            vec_push(&bad, v);
        done++;
    }
    const char *crash = end_child(child, end);
    if (done < count) {
        verdict crashed = {.seed = first + done++};
        complain(&crashed.report, "crash: %s", crash ? crash : "no answer");
        vec_push(&bad, crashed);
    }
    for (size_t k = 0; k < bad.n; k++)
        report_failure(t, bad.at[k].seed, &bad.at[k].report);
    *failed += bad.n;
    vec_free(&bad);
    return done;
}

int
main(int argc, char **argv)
{
    setting t = {.threads = 1, .device = devices_named(NULL)};
    uint64_t failed = 0;
    bool usage = argc < 3;
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--out") == 0 && i + 1 < argc)
            t.out = argv[++i];
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            t.device = argv[++i];
        else if (strcmp(argv[i], "--against") == 0 && i + 1 < argc)
            t.against = argv[++i];
        else if (strcmp(argv[i], "--keep") == 0)
            t.keep = true;
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            t.threads = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--gcc") == 0)
            t.native = true;
        else if (strcmp(argv[i], "--plans") == 0)
            t.plans = true;
        else if (strcmp(argv[i], "--lanes") == 0)
            t.lanes = true;
        else if (strcmp(argv[i], "--directions") == 0)
            t.directions = true;
        else
            usage = true;
    }
    if (usage) {
        fprintf(stderr,
                "usage: gen_run FIRST COUNT [--out FOLDER] [--device NAME] [--keep] [--gcc] "
                "[--plans] [--directions] [--threads N] [--lanes] [--against NAME]\n");
        return 2;
    }
    t.gpu = t.device && devices_has_warps(t.device);
    uint64_t first = strtoull(argv[1], NULL, 0), count = strtoull(argv[2], NULL, 0);
    for (uint64_t done = 0, told = 0; done < count;) {
        done += run_some(&t, first + done, count - done < BATCH ? count - done : BATCH, &failed);
        if (done - told >= 1000 && done < count) {
            told = done;
            printf("seeds %llu to %llu: %llu failed\n", (unsigned long long)first,
                   (unsigned long long)(first + done - 1), (unsigned long long)failed);
            fflush(stdout);
        }
    }
    printf("%llu passed, %llu failed\n", (unsigned long long)(count - failed),
           (unsigned long long)failed);
    return failed > 0;
}
