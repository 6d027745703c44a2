/* Sums over threads: digits of many small terms, and adjoints that share memory. SPDX-License-Identifier: Apache-2.0
 *
 *   sums_test [--narrow] [KERNEL]...     only these; all. --narrow: without f64 */
#include "retrograd/retrograd.h"

#include "base/base.h"
#include "devices.h"

#include <math.h>

static unsigned checks, failures;

static void
check(bool ok, const char *what, double found, double expected)
{
    checks++;
    if (ok)
        return;
    failures++;
    printf("%s: %.10g, expected %.10g (last message: %s)\n", what, found, expected, rg_error_message());
}

static void
must(rg_status status, const char *what)
{
    check(status == RG_OK, what, status, RG_OK);
}

#define MUST(call) must((call), #call)

/* y[i] = x[i] * (w[0] + ... + w[m - 1] + k), with element type T; then the same with a temporary copy
 * of w, and in a loop of many small tasks */
static const char source[] =
    "kernel @dense(%n: i64, %m: i64, %k: T, %x: buf<T,1>, %w: buf<T,1>, %y: buf<T,1>) {\n"
    "  %lo: i64 = const 0\n"
    "  %zero: T = const 0\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %v: T = load %x[%i]\n"
    "    %s: T = for %j: i64 = %lo to %m step 1 (%t: T = %k) {\n"
    "      %a: T = load %w[%j]  %u: T = add %t, %a\n"
    "      yield %u\n"
    "    }\n"
    "    %r: T = mul %v, %s\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @copied(%n: i64, %m: i64, %k: T, %x: buf<T,1>, %w: buf<T,1>, %y: buf<T,1>) {\n"
    "  %lo: i64 = const 0\n"
    "  %c: buf<T,1> = temp %m\n"
    "  for %j0: i64 = %lo to %m step 1 {\n"
    "    %a0: T = load %w[%j0]  store %c[%j0], %a0\n"
    "    yield\n"
    "  }\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %v: T = load %x[%i]\n"
    "    %s: T = for %j: i64 = %lo to %m step 1 (%t: T = %k) {\n"
    "      %a: T = load %c[%j]  %u: T = add %t, %a\n"
    "      yield %u\n"
    "    }\n"
    "    %r: T = mul %v, %s\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @often(%n: i64, %m: i64, %k: T, %x: buf<T,1>, %w: buf<T,1>, %y: buf<T,1>) {\n"
    "  %lo: i64 = const 0\n"
    "  %four: i64 = const 4\n"
    "  %blocks: i64 = div %n, %four\n"
    "  for %b: i64 = %lo to %blocks step 1 {\n"
    "    %first: i64 = mul %b, %four\n"
    "    %end: i64 = add %first, %four\n"
    "    parallel (%i: i64) = (%first) to (%end) {\n"
    "      %v: T = load %x[%i]\n"
    "      %s: T = for %j: i64 = %lo to %m step 1 (%t: T = %k) {\n"
    "        %a: T = load %w[%j]  %u: T = add %t, %a\n"
    "        yield %u\n"
    "      }\n"
    "      %r: T = mul %v, %s\n"
    "      store %y[%i], %r\n"
    "      yield\n"
    "    }\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    /* y[i] = x[i] * (w[i % m] + k): each thread of a warp adds to another element */
    "kernel @scattered(%n: i64, %m: i64, %k: T, %x: buf<T,1>, %w: buf<T,1>, %y: buf<T,1>) {\n"
    "  %lo: i64 = const 0\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %j: i64 = rem %i, %m\n"
    "    %v: T = load %x[%i]  %a: T = load %w[%j]  %s: T = add %k, %a\n"
    "    %r: T = mul %v, %s\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    /* threads have elements of their own in each of the three */
    "kernel @three(%n: i64, %k: T, %l: T, %x: buf<T,1>, %w: buf<T,1>, %y: buf<T,1>) {\n"
    "  %lo: i64 = const 0\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %e: i64 = sub %i, %lo\n"
    "    %v: T = load %x[%i]  %a: T = load %w[%e]  %s: T = mul %v, %a\n"
    "    %t: T = mul %s, %k  %r: T = mul %t, %l\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

typedef struct device {
    const char *name;
    uint32_t threads;
} device;

typedef struct setup {
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
} setup;

static void
with_type(str *out, const char *type)
{
    for (const char *p = source; *p; p++) {
        bool alone = *p == 'T' && !(p[1] >= 'a' && p[1] <= 'z');
        if (alone)
            str_addz(out, type);
        else
            str_addc(out, *p);
    }
}

static void
set_up(setup *s, const device *d, const char *type, const char *kernel)
{
    *s = (setup){0};
    str text = {0};
    with_type(&text, type);
    MUST(devices_open(&(devices_desc){.device = rg_str_of(d->name), .num_threads = d->threads},
                      &s->queue));
    MUST(rg_module_from_ir(str_view(&text), NULL, &s->module));
    MUST(rg_module_get_kernel(s->module, rg_str_of(kernel), &s->kernel));
    MUST(rg_args_create(s->queue, s->kernel, &s->args));
    str_free(&text);
}

static void
tear_down(setup *s)
{
    rg_args_destroy(s->args);
    rg_module_destroy(s->module);
    rg_queue_destroy(s->queue);
}

static rg_array *
make(const setup *s, rg_dtype dtype, int64_t n, double value)
{
    rg_array *a;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = dtype, .rank = n != 1, .shape = {n}, .adjoint = true);
    MUST(rg_array_create(s->queue, &desc, &a));
    MUST(rg_array_fill(s->queue, a, RG_PRIMAL, value));
    return a;
}

static double
read_adjoint(rg_queue *queue, rg_array *a, rg_dtype dtype, int64_t n, int64_t at)
{
    char *copy = mem_alloc((size_t)n * rg_dtype_size(dtype));
    MUST(rg_array_read(queue, a, RG_ADJOINT, copy, (size_t)n * rg_dtype_size(dtype)));
    double v = dtype == RG_F64   ? ((double *)copy)[at]
               : dtype == RG_F32 ? ((float *)copy)[at]
                                 : float_of_half(((uint16_t *)copy)[at]);
    mem_free(copy);
    return v;
}

/* all terms are one number, which n of them make nothing but longer */
static void
test_digits(const device *d, const char *kernel, rg_dtype dtype, int64_t n, int64_t m, double term,
            double tolerance)
{
    setup s;
    set_up(&s, d, dtype == RG_F16 ? "f16" : dtype == RG_F32 ? "f32" : "f64", kernel);
    rg_array *x = make(&s, dtype, n, term), *w = make(&s, dtype, m + 1, 0.5), *y = make(&s, dtype, n, 0),
             *k = make(&s, dtype, 1, 0);
    MUST(rg_array_fill(s.queue, y, RG_ADJOINT, 1));
    MUST(rg_args_set_int(s.args, RG_STR("n"), n));
    MUST(rg_args_set_int(s.args, RG_STR("m"), m));
    MUST(rg_args_set_float(s.args, RG_STR("k"), 0.25));
    MUST(rg_args_set_companion(s.args, RG_STR("k"), k));
    MUST(rg_args_set_array(s.args, RG_STR("x"), x));
    MUST(rg_args_set_array(s.args, RG_STR("w"), w));
    MUST(rg_args_set_array(s.args, RG_STR("y"), y));
    MUST(rg_launch(s.queue, s.args, RG_FORWARD_VJP));
    double rounded = dtype == RG_F64 ? term : dtype == RG_F32 ? (double)(float)term : float_of_half(half_of_float((float)term));
    double expected = rounded * (double)n;
    char what[160];
    for (int64_t j = 0; j <= m; j += m) {
        double share = strcmp(kernel, "scattered") == 0 ? (double)((n + m - 1) / m) / (double)n : 1;
        double found = read_adjoint(s.queue, w, dtype, m + 1, j), want = j < m ? share * expected : 0;
        snprintf(what, sizeof what, "%s on %s, %u threads, %s: w[%lld]", kernel, d->name, d->threads,
                 rg_dtype_name(dtype), (long long)j);
        check(fabs(found - want) <= tolerance * expected, what, found, want);
    }
    double found = read_adjoint(s.queue, k, dtype, 1, 0);
    snprintf(what, sizeof what, "%s on %s, %u threads, %s: k", kernel, d->name, d->threads,
             rg_dtype_name(dtype));
    check(fabs(found - expected) <= tolerance * expected, what, found, expected);
    rg_array_destroy(x);
    rg_array_destroy(w);
    rg_array_destroy(y);
    rg_array_destroy(k);
    tear_down(&s);
}

/* -- adjoints that share memory -------------------------------------------------------------------- */

/* how x, w and the scalars' adjoints lie */
typedef enum sharing { APART, ONE_ARRAY, ATTACHED, PARTLY, COMPANIONS, COMPANION_IN_ARRAY, SHARINGS } sharing;

static void
test_sharing(const device *d, sharing how)
{
    enum { N = 30000 }; /* enough work for several workers */
    setup s;
    set_up(&s, d, "f64", "three");
    rg_array *memory = make(&s, RG_F64, 2 * N, 0);
    double *address = devices_address(memory);
    rg_array *x = make(&s, RG_F64, N, 2), *w = make(&s, RG_F64, N, 3), *y = make(&s, RG_F64, N, 0);
    rg_array *k = make(&s, RG_F64, 1, 0), *l = make(&s, RG_F64, 1, 0);
    double scale = how == ONE_ARRAY ? 2 : 3; /* w's values */
    int64_t shift = how == PARTLY ? N / 2 : 0;
    if (how == ATTACHED || how == PARTLY) {
        MUST(rg_array_attach(x, RG_ADJOINT, address));
        MUST(rg_array_attach(w, RG_ADJOINT, address + shift));
    } else if (how == COMPANION_IN_ARRAY) {
        MUST(rg_array_attach(x, RG_ADJOINT, address));
        MUST(rg_array_attach(k, RG_ADJOINT, address + 5));
    }
    MUST(rg_array_fill(s.queue, y, RG_ADJOINT, 1));
    MUST(rg_args_set_int(s.args, RG_STR("n"), N));
    MUST(rg_args_set_float(s.args, RG_STR("k"), 0.5));
    MUST(rg_args_set_float(s.args, RG_STR("l"), 0.25));
    MUST(rg_args_set_companion(s.args, RG_STR("k"), k));
    MUST(rg_args_set_companion(s.args, RG_STR("l"), how == COMPANIONS ? k : l));
    MUST(rg_args_set_array(s.args, RG_STR("x"), x));
    MUST(rg_args_set_array(s.args, RG_STR("w"), how == ONE_ARRAY ? x : w));
    MUST(rg_args_set_array(s.args, RG_STR("y"), y));
    MUST(rg_launch(s.queue, s.args, RG_VJP));
    double of_x = scale / 8, of_w = 2.0 / 8, of_k = 2 * scale * N / 4, of_l = 2 * scale * N / 2;
    char what[120];
    static double of_memory[2 * N];
    if (how == APART || how == ONE_ARRAY || how == COMPANIONS)
        MUST(rg_array_read(s.queue, x, RG_ADJOINT, of_memory, N * sizeof(double)));
    else
        MUST(rg_array_read(s.queue, memory, RG_PRIMAL, of_memory, sizeof of_memory));
    for (int64_t i = 5; i < N; i += 997) {
        bool both = how == ONE_ARRAY || how == ATTACHED || (how == PARTLY && i >= shift);
        double want = of_x + (both ? of_w : 0) + (how == COMPANION_IN_ARRAY && i == 5 ? of_k : 0);
        double found = of_memory[i];
        snprintf(what, sizeof what, "sharing %d on %s, %u threads: x[%lld]", (int)how, d->name, d->threads,
                 (long long)i);
        check(found == want, what, found, want);
    }
    if (how != COMPANION_IN_ARRAY) {
        double want = of_k + (how == COMPANIONS ? of_l : 0), found = read_adjoint(s.queue, k, RG_F64, 1, 0);
        check(fabs(found - want) < 1e-9 * want, "a scalar's adjoint", found, want);
    }
    rg_array_destroy(x);
    rg_array_destroy(w);
    rg_array_destroy(y);
    rg_array_destroy(k);
    rg_array_destroy(l);
    rg_array_destroy(memory);
    tear_down(&s);
}

static char **only; /* up to NULL; none: all */
static bool narrow;

static bool
is_asked(const char *kernel)
{
    bool asked = !*only;
    for (char **k = only; *k; k++)
        asked |= strcmp(*k, kernel) == 0;
    return asked;
}

static void
test_device(const device *d)
{
    static const char *const kernels[] = {"dense", "copied", "scattered", "often"};
    bool quick = strcmp(d->name, "cpu") == 0 || devices_is_gpu(d->name);
    for (size_t k = 0; k < countof(kernels); k++) {
        if (!is_asked(kernels[k]))
            continue;
        bool often = strcmp(kernels[k], "often") == 0; /* sums of four: each is rounded */
        bool scattered = strcmp(kernels[k], "scattered") == 0; /* formed in f32 where there are no atomics of 64 bits */
        int64_t n = quick && !often ? 1000000 : 40000;
        test_digits(d, kernels[k], RG_F32, n, 3, 0.1, often || (narrow && scattered) ? 1e-4 : 6e-8);
        if (!narrow)
            test_digits(d, kernels[k], RG_F64, n, 3, 0.1, 1e-9);
        if (!often)
            test_digits(d, kernels[k], RG_F16, quick ? 100000 : 20000, 3, 0.00048828125, 1e-3);
    }
    for (int how = APART; how < SHARINGS && is_asked("three"); how++)
        test_sharing(d, (sharing)how);
}

int
main(int argc, char **argv)
{
    narrow = argc > 1 && strcmp(argv[1], "--narrow") == 0;
    only = argv + (argc > 0) + narrow;
    for (const char *const *name = devices_to_test(); *name; name++) {
        uint32_t most = strcmp(*name, "cpu") == 0 ? 3 : 1;
        for (uint32_t threads = 1; threads <= most; threads++)
            test_device(&(device){*name, threads});
    }
    printf("%u checks, %u failed\n", checks, failures);
    return failures || !checks;
}
