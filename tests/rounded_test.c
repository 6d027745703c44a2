/* Quotients and roots of f32 are rounded correctly, several in straight code too: they have a fast way there on GPUs.
 * Operands of all kinds, pairs whose quotients come near the middle of two neighbours, and on a GPU, or with the argument
 * `all`, each significand. Functions with such a way are the interpreter's. Where a device takes numbers below the normal range for 0,
 * as some of device vulkan and metal do, results may be those of 0. SPDX-License-Identifier: Apache-2.0 */
#include "retrograd/retrograd.h"

#include "base/base.h"
#include "devices.h"
#include "near_middles.h"

#include <math.h>

enum { RESULTS = 11, BATCH = 1 << 14, LARGE_BATCH = 1 << 20 };

/* a store ends what is computed the fast way together */
static const char source[] =
    "kernel @rounded(%n: i64, %x: buf<f32,1>, %y: buf<f32,1>, %r: buf<f32,2>) {\n"
    "  %0: i64 = const 0  %1: i64 = const 1  %2: i64 = const 2  %3: i64 = const 3  %4: i64 = const 4  %5: i64 = const 5  %6: i64 = const 6  %7: i64 = const 7  %8: i64 = const 8  %9: i64 = const 9  %10: i64 = const 10\n"
    "  %one: f32 = const 1  %three: f32 = const 3  %minus: f32 = const -5.5  %half: f32 = const 0.5\n"
    "  parallel (%i: i64) = (%0) to (%n) {\n"
    "    %a: f32 = load %x[%i]  %b: f32 = load %y[%i]\n"
    "    %r0: f32 = div %a, %b  %r1: f32 = div %a, %three  store %r[%0, %i], %r0  store %r[%1, %i], %r1\n"
    "    %r2: f32 = div %one, %b  %r3: f32 = div %minus, %b  store %r[%2, %i], %r2  store %r[%3, %i], %r3\n"
    "    %r4: f32 = sqrt %a  %r5: f32 = rsqrt %b  store %r[%4, %i], %r4  store %r[%5, %i], %r5\n"
    "    %r6: f32 = div %r4, %r5  %r7: f32 = div %b, %a  store %r[%6, %i], %r6  store %r[%7, %i], %r7\n"
    "    %h: f32 = mul %a, %half  %c: f32 = sub %a, %b\n"
    "    %q: f32 = div %h, %b  %r8: f32 = zero_guard %a, %q  %k: f32 = add %a, %one  %p: f32 = div %k, %b  %r9: f32 = zero_guard %c, %p  %r10: f32 = div %c, %b\n"
    "    store %r[%8, %i], %r8  store %r[%9, %i], %r9  store %r[%10, %i], %r10\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @functions(%n: i64, %x: buf<f32,1>, %r: buf<f32,2>) {\n"
    "  %0: i64 = const 0  %1: i64 = const 1  %2: i64 = const 2  %3: i64 = const 3  %4: i64 = const 4\n"
    "  parallel (%i: i64) = (%0) to (%n) {\n"
    "    %a: f32 = load %x[%i]\n"
    "    %r0: f32 = tanh %a  %r1: f32 = sinh %r0  store %r[%0, %i], %r0  store %r[%1, %i], %r1\n"
    "    %r2: f32 = cosh %a  %r3: f32 = sinh %a  store %r[%2, %i], %r2  store %r[%3, %i], %r3\n"
    "    %q: f32 = abs %a  %r4: f32 = log %q  %r5: f32 = log2 %r2  %r6: f32 = add %r4, %r5  store %r[%4, %i], %r6\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

typedef struct setup {
    rg_queue *context;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *x, *y, *r;
    uint32_t batch, n;
    float *a, *b, *found;
    uint64_t tried, failed, excused;
    bool flushes; /* the device takes numbers below the normal range for 0 */
} setup;

static void
must(rg_status status)
{
    if (!status)
        return;
    printf("rounded_test: %s\n", rg_error_message());
    exit(1);
}

static rg_array *
make(setup *s, uint32_t rows)
{
    rg_array *a;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = rows > 1 ? 2 : 1, .shape = {rows > 1 ? rows : s->batch, s->batch});
    must(rg_array_create(s->context, &desc, &a));
    return a;
}

static void
set_up(setup *s, const char *device, uint32_t batch)
{
    *s = (setup){.batch = batch};
    must(devices_open(&(devices_desc){.device = rg_str_of(device)}, &s->context));
    must(rg_module_from_ir(rg_str_of(source), NULL, &s->module));
    must(rg_module_get_kernel(s->module, RG_STR("rounded"), &s->kernel));
    must(rg_args_create(s->context, s->kernel, &s->args));
    s->x = make(s, 1);
    s->y = make(s, 1);
    s->r = make(s, RESULTS);
    must(rg_args_set_int(s->args, RG_STR("n"), batch));
    must(rg_args_set_array(s->args, RG_STR("x"), s->x));
    must(rg_args_set_array(s->args, RG_STR("y"), s->y));
    must(rg_args_set_array(s->args, RG_STR("r"), s->r));
    s->a = mem_zalloc((size_t)batch * (2 + RESULTS) * sizeof(float));
    s->b = s->a + batch;
    s->found = s->b + batch;
}

static void
tear_down(setup *s)
{
    mem_free(s->a);
    rg_array_destroy(s->x);
    rg_array_destroy(s->y);
    rg_array_destroy(s->r);
    rg_args_destroy(s->args);
    rg_module_destroy(s->module);
    rg_queue_destroy(s->context);
}

static bool
same(float x, float y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

static bool
is_small(float v)
{
    return v != 0 && fabsf(v) < 0x1p-126f;
}

/* whether the k-th result compares a small number, and is what comes of 0 in its place */
static bool
is_of_zero(uint32_t k, float a, float b, float found)
{
    return (k == 8 ? is_small(a) : k == 9 && is_small(a - b)) && found == 0;
}

static void
compare(setup *s, uint32_t i)
{
    static const char *const names[RESULTS] = {"a / b", "a / 3", "1 / b", "-5.5 / b", "sqrt a", "1 / sqrt b", "sqrt a / (1 / sqrt b)", "b / a", "a ? a / 2 / b : 0", "a - b ? (a + 1) / b : 0", "(a - b) / b"};
    float a = s->a[i], b = s->b[i], root = sqrtf(a), by_root = 1 / sqrtf(b);
    float expected[RESULTS] = {a / b, a / 3.0f, 1 / b, -5.5f / b, root, by_root, root / by_root, b / a, a == 0 ? 0 : a * 0.5f / b, a - b == 0 ? 0 : (a + 1) / b, (a - b) / b};
    for (uint32_t k = 0; k < RESULTS; k++) {
        float found = s->found[(size_t)k * s->batch + i];
        s->tried++;
        if (same(found, expected[k]))
            continue;
        if (s->flushes && is_of_zero(k, a, b, found))
            s->excused++;
        else if (s->failed++ < 20)
            printf("%s of a = %a, b = %a: %a, expected %a\n", names[k], (double)a, (double)b, (double)found, (double)expected[k]);
    }
}

/* sees it in half of a small number, a ? a / 2 / b : 0 */
static void
look_for_flushes(setup *s, const char *device)
{
    bool may = strncmp(device, "vulkan", 6) == 0 || strncmp(device, "metal", 5) == 0;
    size_t bytes = s->batch * sizeof(float);
    s->a[0] = 0x1p-120f, s->b[0] = 1;
    s->a[1] = 0x1p-130f, s->b[1] = 0x1p-20f;
    must(rg_array_write(s->context, s->x, RG_PRIMAL, s->a, bytes));
    must(rg_array_write(s->context, s->y, RG_PRIMAL, s->b, bytes));
    must(rg_launch(s->context, s->args, RG_FORWARD));
    must(rg_array_read(s->context, s->r, RG_PRIMAL, s->found, RESULTS * bytes));
    const float *halves = s->found + (size_t)8 * s->batch;
    s->flushes = may && halves[0] == 0x1p-121f && halves[1] == 0;
}

static void
flush(setup *s)
{
    size_t bytes = s->batch * sizeof(float);
    must(rg_array_write(s->context, s->x, RG_PRIMAL, s->a, bytes));
    must(rg_array_write(s->context, s->y, RG_PRIMAL, s->b, bytes));
    must(rg_launch(s->context, s->args, RG_FORWARD));
    must(rg_array_read(s->context, s->r, RG_PRIMAL, s->found, RESULTS * bytes));
    for (uint32_t i = 0; i < s->n; i++)
        compare(s, i);
    s->n = 0;
}

static void
try_pair(setup *s, float a, float b)
{
    s->a[s->n] = a;
    s->b[s->n] = b;
    if (++s->n == s->batch)
        flush(s);
}

static uint32_t
random_bits(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static float
of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static float
random_float(int exponent)
{
    return ldexpf((float)(random_bits() >> 8 | 1u << 23), exponent - 23) * (random_bits() & 1 ? 1.0f : -1.0f);
}

static void
try_edges(setup *s)
{
    static const float edges[] = {0,          0x1p-149f, 0x1.8p-140f,     0x1.fffffcp-127f, 0x1p-126f, 0x1p-125f, 0x1p-102f, 0x1.fffffep-102f, 0x1p-101f, 0x1p-81f,
                                  0x1.8p-80f, 0x1p-80f,  0x1p-79f,        0x1p-45f,         0x1p-44f,  0.1f,      1,         0x1.fffffep0f,    3,         0x1p43f,
                                  0x1p44f,    0x1p45f,   0x1.fffffep123f, 0x1p124f,         0x1p125f,  0x1p126f,  0x1p127f,  0x1.fffffep127f,  INFINITY,  NAN};
    for (size_t i = 0; i < countof(edges); i++)
        for (size_t j = 0; j < countof(edges); j++)
            for (uint32_t signs = 0; signs < 4; signs++)
                try_pair(s, signs & 1 ? -edges[i] : edges[i], signs & 2 ? -edges[j] : edges[j]);
    for (uint32_t i = 0; i < 20000; i++)
        try_pair(s, of_bits(random_bits()), of_bits(random_bits()));
    for (int i = -148; i <= 127; i++) /* quotients of these exponents, those of denominators likewise */
        for (int j = -148; j <= 127; j += 2)
            if (i + j >= -149 && i + j <= 127)
                try_pair(s, random_float(i + j), random_float(j));
}

/* -- functions ------------------------------------------------------------------------------------------------- */

enum { FUNCTIONS = 5 };

static void
run_functions(const char *device, const float x[BATCH], float found[FUNCTIONS * BATCH])
{
    rg_queue *context;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *in, *out;
    must(devices_open(&(devices_desc){.device = rg_str_of(device)}, &context));
    must(rg_module_from_ir(rg_str_of(source), NULL, &module));
    must(rg_module_get_kernel(module, RG_STR("functions"), &kernel));
    must(rg_args_create(context, kernel, &args));
    must(rg_array_create(context, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {BATCH}), &in));
    must(rg_array_create(context, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 2, .shape = {FUNCTIONS, BATCH}), &out));
    must(rg_args_set_int(args, RG_STR("n"), BATCH));
    must(rg_args_set_array(args, RG_STR("x"), in));
    must(rg_args_set_array(args, RG_STR("r"), out));
    must(rg_array_write(context, in, RG_PRIMAL, x, BATCH * sizeof(float)));
    must(rg_launch(context, args, RG_FORWARD));
    must(rg_array_read(context, out, RG_PRIMAL, found, FUNCTIONS * BATCH * sizeof(float)));
    rg_array_destroy(in);
    rg_array_destroy(out);
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_queue_destroy(context);
}

static uint64_t
test_functions(const char *device, bool flushes)
{
    static float x[BATCH], expected[FUNCTIONS * BATCH], found[FUNCTIONS * BATCH];
    uint64_t failed = 0;
    for (uint32_t i = 0; i < BATCH; i++)
        x[i] = i % 4 ? random_float((int)(random_bits() % 24) - 16) : of_bits(random_bits());
    enum { ZERO, MINUS_ZERO };
    x[ZERO] = 0, x[MINUS_ZERO] = -0.0f, x[2] = INFINITY, x[3] = -INFINITY, x[4] = NAN, x[5] = 0x1p-149f;
    run_functions("interp", x, expected);
    run_functions(device, x, found);
    for (uint32_t i = 0; i < FUNCTIONS * BATCH; i++) {
        float at = x[i % BATCH], of_zero = expected[i - i % BATCH + (signbit(at) ? MINUS_ZERO : ZERO)];
        bool good = same(found[i], expected[i]) || (flushes && is_small(at) && same(found[i], of_zero));
        if (!good && failed++ < 10)
            printf("function %u of %a: %a, expected %a\n", i / BATCH, (double)at, (double)found[i], (double)expected[i]);
    }
    return failed;
}

/* -- quotients and roots ------------------------------------------------------------------------------------------ */

static float
scaled(uint32_t significand)
{
    int exponent = random_bits() % 4 ? (int)(random_bits() % 60) - 53 : (int)(random_bits() % 220) - 143;
    return ldexpf((float)significand, exponent) * (random_bits() & 1 ? 1.0f : -1.0f);
}

static void
try_scaled(void *user, uint32_t a, uint32_t b)
{
    try_pair(user, scaled(a), scaled(b));
}

/* significands from the first on, every step-th */
static void
try_significands(setup *s, uint32_t first, uint32_t step)
{
    for (uint32_t b = (1u << 23) + first; b < 1u << 24; b += step) {
        near_middles(b, try_scaled, s);
        try_pair(s, ldexpf((float)b, 1), ldexpf((float)b, -1)); /* roots of both parities */
        try_pair(s, ldexpf((float)b, 20), ldexpf((float)b, -60));
    }
}

int
main(int argc, char **argv)
{
    const char *device = devices_named("simt");
    bool all = devices_is_gpu(device) || (argc > 1 && strcmp(argv[1], "all") == 0);
    setup s;
    set_up(&s, device, all ? LARGE_BATCH : BATCH);
    look_for_flushes(&s, device);
    try_edges(&s);
    try_significands(&s, all ? 0 : random_bits() % 2048, all ? 1 : 2048);
    flush(&s);
    printf("rounded: %llu results on %s, %llu wrong\n", (unsigned long long)s.tried, device, (unsigned long long)s.failed);
    if (s.flushes)
        printf("numbers below the normal range are 0 there: so are %llu results\n", (unsigned long long)s.excused);
    uint64_t failed = s.failed + test_functions(device, s.flushes);
    tear_down(&s);
    return failed != 0;
}
