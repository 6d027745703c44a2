/* run_cases [--device NAME] [--native|--directions|--deterministic|--against NAME] FILE.c|FOLDER...: runs case files (case.h), those
 * of folders too, on the interpreter and a device: the one named, or by RG_TEST_DEVICE, or the CPU.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For each case: the forward kernel is the same bits on both devices and, with --native and without contraction, as
 * the C compiler has it; the combined gradient agrees on both; the split one equals it or is
 * refused; in f64 (f32 and f16 sources are read as f64 for this) vjp and jvp are adjoint to 1e-12
 * and central differences agree to 1e-6, those of gradients with the Hessian's product to 1e-5;
 * what the file expects holds. With --directions instead: each form with several directions in one
 * launch agrees with as many launches. With --deterministic: deterministic code gives the same bits
 * on all queues of ways.h, gradient and forward derivative of it too; with --against on the device and on that one. One line for
 * each failure. */
#include "case.h"
#include "devices.h"
#include "directions.h"
#include "native.h"
#include "ways.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct setting {
    rg_queue *devices[2]; /* interpreter, another (NULL: the interpreter alone) */
    const char *name;       /* of that device */
    rg_queue *exact;      /* without contraction, to compare with C */
    void *library;
    bool directions, deterministic, native;
    const char *against; /* deterministic code is compared on this device */
    uint32_t ways; /* queues of one device */
    rg_queue *way[WAYS_MOST];
} setting;

/* -- a kernel's inputs from a case
 * ------------------------------------------------------------------ */

static bool
fill(input *p, const case_value *v, report *r)
{
    char text[64];
    for (size_t i = 0; i < p->count; i++) {
        if (!case_element(v, i, text, sizeof text))
            return complain(r, "args: %s has no values", p->name);
        input_set_text(p, i, text);
    }
    return true;
}

static const case_value *
find_value(const test_case *c, case_line line, const char *name)
{
    for (unsigned k = 0; k < c->count; k++)
        if (c->values[k].line == line && strcmp(c->values[k].name, name) == 0)
            return &c->values[k];
    return NULL;
}

static bool
set_seeds(inputs *in, const test_case *c, report *r)
{
    char text[64];
    for (uint32_t k = 0; c->has_seeds && k < in->count; k++) {
        input *p = &in->at[k];
        const case_value *v = find_value(c, CASE_SEED, p->name);
        for (size_t i = 0; p->seed && i < p->count; i++) {
            p->seed[i] = 0.0;
            if (v && !case_element(v, i, text, sizeof text))
                return complain(r, "seed: %s has no values", p->name);
            if (v)
                p->seed[i] = strtod(text, NULL);
        }
    }
    return true;
}

static bool
make_inputs(inputs *in, const rg_kernel *kernel, const test_case *c, report *r)
{
    if (inputs_describe(in, kernel))
        return complain(r, "parameters: %s", rg_error_message());
    for (unsigned k = 0; k < c->count; k++)
        if (!inputs_find(in, c->values[k].name))
            return complain(r, "the kernel has no parameter %s", c->values[k].name);
    for (uint32_t k = 0; k < in->count; k++) {
        input *p = &in->at[k];
        const case_value *v = find_value(c, CASE_ARGS, p->name);
        if (!v && !p->param.result)
            return complain(r, "args: no value for %s", p->name);
        inputs_shape(p, v ? v->rank : 0, v ? v->shape : NULL);
        if (v && !fill(p, v, r))
            return false;
    }
    return set_seeds(in, c, r);
}

/* -- checks
 * ---------------------------------------------------------------------------------------- */

static bool
expected(const inputs *in, const subject *s, const test_case *c, case_line line, unsigned plane,
         report *r)
{
    for (unsigned k = 0; k < c->count; k++) {
        const case_value *v = &c->values[k];
        if (v->line != line)
            continue;
        uint32_t number = 0;
        while (strcmp(in->at[number].name, v->name) != 0)
            number++;
        const input *p = &in->at[number];
        double *now = calloc(p->count + 1, sizeof(double));
        bool good = subject_read(s, in, number, plane, now);
        for (size_t i = 0; i < p->count && good; i++) {
            char text[64] = "";
            good = case_element(v, i, text, sizeof text);
            double want = strtod(text, NULL), got = now[i];
            double limit = c->tolerance * fmax(1.0, fabs(want));
            if (p->param.dtype == RG_F32)
                limit = fmax(limit, 1e-5 * fmax(1.0, fabs(want)));
            good = good && (isnan(want) ? isnan(got) : want == got || fabs(want - got) <= limit);
            if (!good)
                complain(r, "%s: %s, element %zu is %.17g, not %s",
                         line == CASE_GRAD ? "gradient" : "value", v->name, i, got, text);
        }
        free(now);
        if (!good)
            return false;
    }
    return true;
}

static bool
run(subject *s, const inputs *in, form form, const char *what, report *r)
{
    if (subject_reset(s, in) || subject_run(s, form))
        return complain(r, "%s: %s", what, rg_error_message());
    return true;
}

/* The same bits on both devices, but for sums over threads. */
static bool
same_values(const test_case *c, const inputs *in, const subject *s, const char *what, report *r)
{
    return c->skip_bits ? check_planes_near(in, &s[0], &s[1], RG_PRIMAL, what, r)
                        : check_planes(in, &s[0], &s[1], RG_PRIMAL, 0.0, what, r);
}

/* "forward, cpu": so much of it */
enum { SHOWN = 96 };
#define ON(what, t) on((what), (t)->name, (char[SHOWN]){0})
static const char *
on(const char *what, const char *device, char *text)
{
    snprintf(text, SHOWN, "%s, %s", what, device);
    return text;
}

static bool
check_forward(const setting *t, const test_case *c, const inputs *in, subject *s, subject *exact,
              report *r)
{
    for (unsigned d = 0; d < 2; d++)
        if (t->devices[d] && (!run(&s[d], in, FORWARD, d ? ON("forward", t) : "forward", r) ||
                              !expected(in, &s[d], c, CASE_EXPECT, RG_PRIMAL, r)))
            return false;
    if (t->devices[1] && !same_values(c, in, s, ON("values, interpreter and device", t), r))
        return false;
    if (!t->library || c->skip_gcc)
        return true;
    if (native_run(exact, in))
        return complain(r, "forward without contraction: %s", rg_error_message());
    /* sums over threads have C's order on the CPU, where there is one thread */
    bool ordered = t->devices[1] && devices_share_memory(t->devices[1]);
    return native_compare(t->library, c->kernel, in, exact, c->skip_bits || !ordered, r);
}

static bool
check_split(const test_case *c, const inputs *in, subject *s, double tolerance, report *r)
{
    kept combined;
    kept_take(&combined, in, s, RG_ADJOINT);
    rg_status status = subject_reset(s, in);
    if (!status)
        status = subject_run(s, FORWARD);
    if (!status)
        status = subject_run(s, VJP);
    bool good = true;
    if (status == RG_COMPILE && c->split != SPLIT_EQUAL)
        good = true;
    else if (status)
        good = complain(r, "split: %s", rg_error_message());
    else if (c->split == SPLIT_REFUSED)
        good = complain(r, "split: not refused");
    else
        good =
            check_kept(in, s, RG_ADJOINT, &combined, tolerance, "combined and split gradient", r);
    kept_free(&combined);
    return good;
}

/* f32 and f16 are compared loosely: where sums are rounded, and what is contracted to fma, differs */
static double
tolerance_of(const inputs *in)
{
    double tolerance = 1e-12;
    for (uint32_t k = 0; k < in->count; k++)
        if (in->at[k].param.dtype == RG_F32)
            tolerance = fmax(tolerance, 1e-5);
        else if (in->at[k].param.dtype == RG_F16)
            tolerance = fmax(tolerance, 1e-2);
    return tolerance;
}

static bool
check_gradient(const setting *t, const test_case *c, const inputs *in, subject *s, report *r)
{
    bool any = false;
    for (uint32_t k = 0; k < in->count; k++)
        any |= in->at[k].seed != NULL;
    double tolerance = tolerance_of(in);
    if (!any)
        return true;
    for (unsigned d = 0; d < 2; d++)
        if (t->devices[d] &&
            (!run(&s[d], in, FORWARD_VJP, d ? ON("gradient", t) : "gradient", r) ||
             !expected(in, &s[d], c, CASE_EXPECT, RG_PRIMAL, r) ||
             !expected(in, &s[d], c, CASE_GRAD, RG_ADJOINT, r)))
            return false;
    if (t->devices[1] &&
        (!same_values(c, in, s, ON("combined, interpreter and device", t), r) ||
         !check_planes(in, &s[0], &s[1], RG_ADJOINT, tolerance, ON("gradient, interpreter and device", t),
                       r)))
        return false;
    return check_split(c, in, &s[t->devices[1] ? 1 : 0], tolerance, r);
}

/* -- derivatives, in f64
 * -------------------------------------------------------------------- */

static bool
check_derivatives(const test_case *c, inputs *in, subject *s, report *r)
{
    bool active = false;
    for (uint32_t k = 0; k < in->count; k++)
        active |= in->at[k].seed != NULL;
    if (!active)
        return true;
    return (c->skip_duality || check_duality(in, s, 1e-12, NULL, r)) &&
           (c->skip_fd || (check_differences(in, s, 1e-6, r) && (c->skip_second || check_second(in, s, 1e-5, r))));
}

/* of f32 and f16 sources */
static bool
check_widened(const setting *t, const test_case *c, const char *path, report *r)
{
    rg_queue *queue = t->devices[1] && devices_has_doubles(t->name) ? t->devices[1] : t->devices[0];
    rg_module *module;
    rg_kernel *kernel;
    inputs in = {0};
    subject s = {0};
    if (subject_load(path, NULL, CODE_WIDE, &module))
        return complain(r, "in f64: %s", rg_error_message());
    bool good = !rg_module_get_kernel(module, rg_str_of(c->kernel), &kernel);
    if (!good)
        complain(r, "in f64: %s", rg_error_message());
    good = good && make_inputs(&in, kernel, c, r);
    if (good && subject_open(&s, queue, module, c->kernel, &in))
        good = complain(r, "in f64: %s", rg_error_message());
    good = good && check_derivatives(c, &in, &s, r);
    subject_close(&s);
    inputs_free(&in);
    rg_module_destroy(module);
    return good;
}

/* -- several directions
 * ------------------------------------------------------------------------------ */

static bool
check_several(const setting *t, const test_case *c, inputs *in, subject *s, rg_module *const *modules,
              report *r)
{
    double tolerance = tolerance_of(in);
    bool good = true;
    for (unsigned d = 0; d < 2 && good; d++) {
        subject several;
        if (!t->devices[d])
            continue;
        if (subject_open(&several, t->devices[d], modules[d], c->kernel, in))
            return complain(r, "directions: %s", rg_error_message());
        good = check_directions(in, &s[0], &several, d == 0, tolerance, r);
        subject_close(&several);
    }
    return good;
}

/* -- the same bits in every run
 * ------------------------------------------------------------------------------ */

static bool
check_ways(const setting *t, const test_case *c, const char *path, report *r)
{
    static const form forms[] = {FORWARD_VJP, JVP_FORWARD_VJP};
    rg_module *module;
    rg_kernel *kernel;
    inputs in = {0};
    subject s[WAYS_MOST + 1] = {{0}}; /* the last one again in the first way: a second run */
    if (subject_load(path, NULL, CODE_DETERMINISTIC, &module))
        return complain(r, "%s", rg_error_message());
    bool good = rg_module_get_kernel(module, rg_str_of(c->kernel), &kernel) ? complain(r, "%s", rg_error_message())
                                                                           : make_inputs(&in, kernel, c, r);
    bool active = false;
    for (uint32_t k = 0; good && k < in.count; k++)
        active |= in.at[k].seed != NULL;
    for (uint32_t i = 0; i <= t->ways && good; i++)
        if (subject_open(&s[i], t->way[i % t->ways], module, c->kernel, &in) || (active && subject_require_second(&s[i], &in)))
            good = complain(r, "%s", rg_error_message());
    for (uint32_t i = 1; i <= t->ways && good; i++)
        for (unsigned f = 0; f < (active && !c->skip_second ? 2 : 1) && good; f++) {
            char what[SHOWN];
            snprintf(what, SHOWN, "%s, %s, way %u", f ? "gradient's derivative" : "gradient", t->name, i % t->ways);
            good = run(&s[0], &in, active ? forms[f] : FORWARD, what, r) && run(&s[i], &in, active ? forms[f] : FORWARD, what, r);
            for (unsigned plane = 0; plane < (f ? RG_PLANE_COUNT : 2) && good; plane++)
                good = check_planes(&in, &s[0], &s[i], plane, 0.0, what, r);
        }
    for (uint32_t i = 0; i <= t->ways; i++)
        subject_close(&s[i]);
    inputs_free(&in);
    rg_module_destroy(module);
    return good;
}

static rg_status
open_more_ways(setting *t, const char *name, uint32_t count)
{
    rg_device *device;
    rg_device_desc desc = RG_DESC(rg_device_desc, .name = rg_str_of(name));
    rg_status status = rg_device_open(&desc, &device);
    for (uint32_t i = 0; i < count && !status; i++, t->ways++)
        status = ways_open(device, name, i, &t->way[t->ways]);
    rg_device_destroy(device);
    return status;
}

static bool
open_ways(setting *t)
{
    if (!t->against)
        return !open_more_ways(t, t->name, ways_count(t->name));
    return !open_more_ways(t, t->name, 1) && !open_more_ways(t, t->against, 1);
}

/* -- cases
 * ------------------------------------------------------------------------------------------- */

static bool
run_case(const setting *t, const test_case *c, const char *path, bool narrow, report *r)
{
    if (t->deterministic)
        return check_ways(t, c, path, r);
    rg_queue *queues[3] = {t->devices[0], t->devices[1], t->exact};
    static const unsigned code[3] = {CODE_CHECKED, 0, CODE_EXACT}; /* races of threads are faults */
    rg_module *modules[3] = {0};
    subject s[3] = {{0}};
    inputs in = {0};
    rg_kernel *kernel;
    bool good = true;
    for (unsigned d = 0; d < 3 && good; d++)
        if (queues[d] && subject_load(path, NULL, code[d], &modules[d]))
            good = complain(r, "%s", rg_error_message());
    if (good && rg_module_get_kernel(modules[0], rg_str_of(c->kernel), &kernel))
        good = complain(r, "%s", rg_error_message());
    good = good && make_inputs(&in, kernel, c, r);
    for (unsigned d = 0; d < 3 && good; d++)
        if (queues[d] && subject_open(&s[d], queues[d], modules[d], c->kernel, &in))
            good = complain(r, "%s", rg_error_message());
    if (t->directions)
        good = good && (c->skip_directions || check_several(t, c, &in, s, modules, r));
    else
        good = good && check_forward(t, c, &in, s, &s[2], r) && check_gradient(t, c, &in, s, r) &&
               (narrow || !queues[1] || !devices_has_doubles(t->name) ? check_widened(t, c, path, r) : check_derivatives(c, &in, &s[1], r));
    for (unsigned d = 0; d < 3; d++) {
        subject_close(&s[d]);
        rg_module_destroy(modules[d]);
    }
    inputs_free(&in);
    return good;
}

static char *
read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, capacity = 0;
    if (!file)
        return NULL;
    do {
        capacity += 1 << 14;
        text = realloc(text, capacity + 1);
        size += fread(text + size, 1, capacity - size, file);
    } while (size == capacity);
    text[size] = 0;
    fclose(file);
    return text;
}

static void
run_file(const setting *t, const char *path, unsigned *passed, unsigned *failed)
{
    char *text = read_file(path);
    const char *at = text;
    unsigned before = *passed + *failed;
    bool narrow = text && source_is_narrow(text);
    test_case c;
    while (text && case_next(&c, path, &at)) {
        report r = {""};
        bool good = run_case(t, &c, path, narrow, &r);
        if (!good)
            printf("FAIL %s: %s: %s\n", path, c.kernel, r.text);
        good ? ++*passed : ++*failed;
        fflush(stdout);
    }
    if (*passed + *failed == before) {
        printf("FAIL %s: no case in it\n", path);
        ++*failed;
    }
    free(text);
}

static bool
open_setting(setting *t, const char *device, char *const *files, int count)
{
    devices_desc desc = {.device = RG_STR("interp")};
    t->name = device ? device : "cpu";
    if (t->deterministic)
        return open_ways(t);
    if (devices_open(&desc, &t->devices[0]))
        return false;
    if (strcmp(t->name, "interp") != 0) {
        desc.device = rg_str_of(t->name);
        rg_status status = devices_open(&desc, &t->exact);
        if (status && device)
            return false;
        if (!status && devices_open(&desc, &t->devices[1]))
            return false;
    }
    desc.device = RG_STR("interp");
    if (!t->exact && devices_open(&desc, &t->exact))
        return false;
    if (t->native)
        t->library = native_load(files, count);
    return t->library || !t->native;
}

/* Files as they are, folders as the C and C++ files in them. */
static void
collect(int count, char **arguments, glob_t *files)
{
    *files = (glob_t){0};
    for (int i = 0; i < count; i++) {
        size_t length = strlen(arguments[i]);
        bool file = strstr(arguments[i], ".c") != NULL;
        char *pattern = malloc(length + 6);
        sprintf(pattern, file ? "%s" : "%s/*.c*", arguments[i]);
        glob(pattern, GLOB_NOCHECK | (i ? GLOB_APPEND : 0), NULL, files);
        free(pattern);
    }
}

int
main(int argc, char **argv)
{
    setting t = {0};
    glob_t files;
    const char *device = devices_named(NULL);
    unsigned passed = 0, failed = 0;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--device") == 0) {
        device = argv[2];
        first = 3;
    }
    t.directions = first < argc && strcmp(argv[first], "--directions") == 0;
    t.deterministic = first < argc && strcmp(argv[first], "--deterministic") == 0;
    t.native = first < argc && strcmp(argv[first], "--native") == 0;
    if (first + 1 < argc && strcmp(argv[first], "--against") == 0) {
        t.deterministic = true;
        t.against = argv[++first];
    }
    first += t.directions || t.deterministic || t.native;
    if (first >= argc || argv[first][0] == '-') {
        fprintf(stderr, "usage: run_cases [--device NAME] [--native|--directions|--deterministic|--against NAME] FILE.c|FOLDER...\n");
        return 2;
    }
    if (t.deterministic && !t.against && ways_count(device ? device : "cpu") < 2) {
        fprintf(stderr, "run_cases: device \"%s\" has one way only to run deterministic code (tests/ways.c)\n", device);
        return 2;
    }
    collect(argc - first, argv + first, &files);
    if (!open_setting(&t, device, files.gl_pathv, (int)files.gl_pathc)) {
        fprintf(stderr, "run_cases: %s\n", *rg_error_message() ? rg_error_message() : "the C compiler does not build the cases");
        return 2;
    }
    for (size_t i = 0; i < files.gl_pathc; i++)
        run_file(&t, files.gl_pathv[i], &passed, &failed);
    globfree(&files);
    for (uint32_t i = 0; i < t.ways; i++)
        rg_queue_destroy(t.way[i]);
    rg_queue_destroy(t.devices[0]);
    rg_queue_destroy(t.devices[1]);
    rg_queue_destroy(t.exact);
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}
