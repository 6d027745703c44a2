/* The math library in compiled code against the library itself, bit by bit: alone, and in groups of 8 and 16 threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Arguments: edges, and random ones of all sizes. The platform's functions, where they are asked for, are near. */
#include "base/base.h"
#include "math/rgm.h"
#include "../queue.h"

enum { COUNT = 4096 + 77 }; /* no whole number of groups */

static unsigned checks, failures;

static void
must(rg_status status, const char *what)
{
    checks++;
    if (status == RG_OK)
        return;
    failures++;
    printf("%s: %s\n", what, rg_error_message());
}

#define MUST(call) must((call), #call)

typedef struct operation {
    const char *name;
    bool narrow;
    float (*f1)(float), (*f2)(float, float);
    double (*d1)(double), (*d2)(double, double);
} operation;

static const operation operations[] = {
#define RGM1(NAME, name) {#name, true, .f1 = rgm_##name##f}, {#name, false, .d1 = rgm_##name},
#define RGM2(NAME, name) {#name, true, .f2 = rgm_##name##f}, {#name, false, .d2 = rgm_##name},
#define RGM_TWO(NAME, name)
#include "math/functions.def"
};

/* -- arguments ------------------------------------------------------------------------------------ */

static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double
argument(unsigned i, bool narrow, uint64_t *state)
{
    static const double edges[] = {0,    1,     2,     0.5,   3,      1e-3,     10,        89,        104,     709.8, 746,
                                   1e5,  1e10,  1e22,  1e38,  1e300,  0x1p-126, 0x1p-149,  0x1p-1022, 5e-324,  0x1p17, 0x1p24,
                                   1e-8, 0.785, 1.571, 3.142, 131073, 1.4142,   0.7071067, INFINITY,  NAN,     35,    171.7};
    enum { EDGES = 2 * sizeof edges / sizeof *edges };
    uint64_t r = next_random(state);
    double u = (double)(r >> 11) * 0x1p-53;
    if (i < EDGES)
        return i % 2 ? -edges[i / 2] : edges[i / 2];
    switch (i % 4) {
    case 0:
        return narrow ? (double)rgm_from_bitsf((uint32_t)r) : rgm_from_bits(r);
    case 1:
        return (u - 0.5) * 4;
    case 2:
        return (u - 0.5) * 200;
    }
    return exp2((u - 0.5) * 60) * (r & 1 ? 1 : -1);
}

/* -- kernels -------------------------------------------------------------------------------------- */

static const char *const template =
    "kernel @%s(%%n: i64, %%x: buf<%s,1>, %%y: buf<%s,1>, %%r: buf<%s,1>, %%c: buf<%s,1>) {\n"
    "  %%lo: i64 = const 0\n"
    "  parallel (%%i: i64) = (%%lo) to (%%n) {\n"
    "    %%v: %s = load %%x[%%i]\n"
    "    %%w: %s = load %%y[%%i]\n"
    "    %%a: %s = %s %s\n"
    "    store %%r[%%i], %%a\n"
    "    %s\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

typedef struct arrays {
    void *x, *y, *r, *c;
} arrays;

static void
run(rg_queue *queue, const char *kernel, const operation *op, bool pair, bool native, const arrays *a)
{
    rg_module_desc code = RG_DESC(rg_module_desc, .native_math = native);
    const char *t = op->narrow ? "f32" : "f64";
    str text = {0}, second = {0};
    if (pair)
        str_addf(&second, "%%b: %s = cos %%v  store %%c[%%i], %%b", t);
    str_addf(&text, template, kernel, t, t, t, t, t, t, t, op->name, op->f2 || op->d2 ? "%v, %w" : "%v",
             second.ptr ? second.ptr : "");
    rg_module *module = NULL;
    rg_kernel *k = NULL;
    rg_args *args = NULL;
    void *data[4] = {a->x, a->y, a->r, a->c};
    const char *const names[4] = {"x", "y", "r", "c"};
    rg_array *array[4] = {NULL};
    MUST(rg_module_from_ir((rg_str){text.ptr, text.len}, &code, &module));
    MUST(rg_module_get_kernel(module, rg_str_of(kernel), &k));
    MUST(rg_args_create(queue, k, &args));
    MUST(rg_args_set_int(args, RG_STR("n"), COUNT));
    for (unsigned i = 0; i < 4; i++) {
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = op->narrow ? RG_F32 : RG_F64, .rank = 1, .shape = {COUNT}, .data = data[i]);
        MUST(rg_array_create(queue, &desc, &array[i]));
        MUST(rg_args_set_array(args, rg_str_of(names[i]), array[i]));
    }
    MUST(rg_launch(queue, args, RG_FORWARD));
    rg_args_destroy(args);
    for (unsigned i = 0; i < 4; i++)
        rg_array_destroy(array[i]);
    rg_module_destroy(module);
    str_free(&text);
    str_free(&second);
}

/* any NaN is as good as another */
static bool
same(const operation *op, const void *found, unsigned i, double expected)
{
    if (op->narrow) {
        float f = ((const float *)found)[i], e = (float)expected;
        return (f != f && e != e) || memcmp(&f, &e, sizeof f) == 0;
    }
    double d = ((const double *)found)[i];
    return (d != d && expected != expected) || memcmp(&d, &expected, sizeof d) == 0;
}

static double
value_of(const operation *op, double x, double y)
{
    if (op->narrow)
        return (double)(op->f1 ? op->f1((float)x) : op->f2((float)x, (float)y));
    return op->d1 ? op->d1(x) : op->d2(x, y);
}

static void
compare(const operation *op, const char *lanes, const void *found, const double *x, const double *y)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        double expected = value_of(op, x[i], y[i]);
        checks++;
        if (same(op, found, i, expected))
            continue;
        failures++;
        if (wrong++ < 3)
            printf("%s %s, lanes %s: of %.17g, %.17g it gives %.17g instead of %.17g\n", op->name,
                   op->narrow ? "f32" : "f64", lanes, x[i], y[i],
                   op->narrow ? (double)((const float *)found)[i] : ((const double *)found)[i], expected);
    }
}

/* the platform's functions are others: close, and no more */
static void
compare_near(const operation *op, const char *lanes, const void *found, const double *x, const double *y)
{
    for (unsigned i = 0; i < COUNT; i++) {
        double expected = value_of(op, x[i], y[i]), got = op->narrow ? (double)((const float *)found)[i] : ((const double *)found)[i];
        double unit = op->narrow ? 0x1p-23 : 0x1p-52, least = op->narrow ? 0x1p-126 : 0x1p-1022;
        bool edge = !(fabs(expected) < INFINITY) || !(fabs(got) < INFINITY);
        checks++;
        if (edge || fabs(got - expected) <= 64 * unit * fmax(fabs(expected), least) || strcmp(op->name, "lgamma") == 0)
            continue;
        failures++;
        printf("native %s %s, lanes %s: of %.17g, %.17g it gives %.17g, ours is %.17g\n", op->name,
               op->narrow ? "f32" : "f64", lanes, x[i], y[i], got, expected);
    }
}

static void
test_operation(rg_queue *queue, const operation *op, const char *lanes, bool native)
{
    static double x[COUNT], y[COUNT], wide[4][COUNT];
    static float narrow[4][COUNT];
    static const operation cosines[2] = {{"cos", false, .d1 = rgm_cos}, {"cos", true, .f1 = rgm_cosf}};
    uint64_t state = 7;
    bool pair = strcmp(op->name, "sin") == 0;
    for (unsigned i = 0; i < COUNT; i++) {
        x[i] = argument(i, op->narrow, &state);
        y[i] = argument(i % 7 ? i * 5 % COUNT : i, op->narrow, &state);
        wide[0][i] = x[i];
        wide[1][i] = y[i];
        x[i] = op->narrow ? (double)(narrow[0][i] = (float)x[i]) : x[i];
        y[i] = op->narrow ? (double)(narrow[1][i] = (float)y[i]) : y[i];
    }
    arrays a = {wide[0], wide[1], wide[2], wide[3]}, b = {narrow[0], narrow[1], narrow[2], narrow[3]};
    const arrays *data = op->narrow ? &b : &a;
    run(queue, op->name, op, false, native, data);
    if (native)
        compare_near(op, lanes, data->r, x, y);
    else
        compare(op, lanes, data->r, x, y);
    if (!pair || native)
        return;
    run(queue, "pair", op, true, false, data);
    compare(op, lanes, data->r, x, y);
    compare(&cosines[op->narrow], lanes, data->c, x, y);
}

int
main(void)
{
    static const char *const lanes[] = {"1", "8", "16", "32"};
    for (size_t w = 0; w < countof(lanes); w++) {
        setenv("RG_LANES", lanes[w], 1);
        rg_queue *queue = NULL;
        rg_queue_desc desc = RG_DESC(rg_queue_desc, .num_threads = 1);
        MUST(queue_open("cpu", &desc, &queue));
        for (int native = 0; native < 2; native++)
            for (size_t i = 0; i < countof(operations); i++)
                test_operation(queue, &operations[i], lanes[w], native);
        rg_queue_destroy(queue);
    }
    printf("%u checks, %u failures\n", checks, failures);
    return failures != 0;
}
