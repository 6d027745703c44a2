/* Arguments without adjoints cost a gradient nothing, and those without tangents are constants. SPDX-License-Identifier: Apache-2.0
 *
 * For every choice of parameters with adjoints: the gradient touches the adjoints of no others, and what
 * only those others would need is not computed. Launches with the same choice share their code. */
#include "api/api.h"
#include "devices.h"
#include "pipeline/pipeline.h"

#include <math.h>

static unsigned checks, failures;

static void
check(bool ok, const char *what, unsigned mask)
{
    checks++;
    if (ok)
        return;
    failures++;
    printf("adjoints %x: %s (last message: %s)\n", mask, what, rg_error_message());
}

/* parameters: n, k, x, w, v, y; a task, a serial loop and a buffer between them */
static const char source[] =
    "kernel @mixed(%n: i64, %k: f64, %x: buf<f64,1>, %w: buf<f64,1>, %v: buf<f64,1>, %y: buf<f64,1>) shape {\n"
    "  yield %n, %n, %n, %n\n"
    "} {\n"
    "  %lo: i64 = const 0\n"
    "  %c: buf<f64,1> = temp %n\n"
    "  for %j: i64 = %lo to %n step 1 {\n"
    "    %a: f64 = load %w[%j]  %b: f64 = exp %a  store %c[%j], %b\n"
    "    yield\n"
    "  }\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %p: f64 = load %x[%i]  %q: f64 = load %c[%lo]  %r: f64 = load %v[%lo]\n"
    "    %s: f64 = sin %p  %t: f64 = mul %s, %q  %u: f64 = mul %t, %r  %z: f64 = mul %u, %k\n"
    "    store %y[%i], %z\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

enum { N, K, X, W, V, Y, PARAMS };

typedef struct look {
    unsigned mask;
    unsigned count[RG_OP_COUNT];
    bool strange;
} look;

static bool
see(ir_op *op, void *user)
{
    look *l = user;
    l->count[op->code]++;
    if (!(op->plane & RG_ADJOINT))
        return true;
    const ir_value *root = op->args[0];
    l->strange |= !root->def && !(l->mask >> root->index & 1);
    return true;
}

static look
gradient(const ir_fn *kernel, unsigned mask, rg_form form)
{
    uint8_t planes[PARAMS] = {0};
    for (unsigned i = 0; i < PARAMS; i++)
        planes[i] = mask >> i & 1 ? RG_ADJOINT : 0;
    pipeline_options options = {
        .form = form, .planes = planes, .contraction = true, .stage = IR_STAGE_SLOTS};
    diag_list diags = {0};
    look l = {.mask = mask};
    ir_fn *fn;
    ir_module *m = pipeline_run(kernel, &options, &diags, &fn);
    check(m != NULL, diags.text.ptr ? diags.text.ptr : "compiles", mask);
    if (m)
        ir_walk(fn->body, see, &l);
    check(!l.strange, "the adjoint of a parameter without one is touched", mask);
    ir_module_free(m);
    diag_free(&diags);
    return l;
}

static void
test_code(const ir_fn *kernel)
{
    static const unsigned choices[] = {1 << K, 1 << X, 1 << W, 1 << V, 1 << Y};
    for (unsigned chosen = 0; chosen < 32; chosen++) {
        unsigned mask = 0;
        for (unsigned i = 0; i < countof(choices); i++)
            mask |= chosen >> i & 1 ? choices[i] : 0;
        look l = gradient(kernel, mask, RG_FORWARD_VJP);
        bool flows = mask >> Y & 1 && mask & (1 << K | 1 << X | 1 << W | 1 << V);
        /* without an active way from input to output there is at most the output's adjoint to consume */
        check(flows || l.count[RG_OP_RMW] == 0, "something is added though nothing flows", mask);
        check(flows || l.count[RG_OP_COS] == 0, "what no adjoint needs is computed", mask);
        check(mask >> Y & 1 || l.count[RG_OP_STORE] == 2, "zeros are stored for nothing", mask);
        check(!flows || mask & 1 << X || l.count[RG_OP_COS] == 0,
              "the derivative of what is constant is computed", mask);
        check(!(mask == (1 << Y | 1 << X)) || l.count[RG_OP_RMW] == 1, "one array has one add", mask);
    }
}

/* -- launches --------------------------------------------------------------------------------------- */

static unsigned
variants(const rg_kernel *kernel)
{
    unsigned n = 0;
    for (const api_variant *v = kernel->variants; v; v = v->next)
        n++;
    return n;
}

static void
test_launches(rg_queue *context, rg_kernel *kernel)
{
    rg_args *args;
    rg_array *array[PARAMS] = {NULL};
    check(!rg_args_create(context, kernel, &args), "args", 0);
    check(!rg_args_set_int(args, RG_STR("n"), 4), "n", 0);
    check(!rg_args_set_float(args, RG_STR("k"), 2), "k", 0);
    for (uint32_t i = X; i < PARAMS; i++) {
        check(!rg_array_create(context, &RG_DESC(rg_array_desc, RG_F64, 1, {4}), &array[i]), "array", 0);
        check(!rg_args_set_array_at(args, i, array[i]), "array", 0);
    }
    check(!rg_array_require(context, array[Y], RG_ADJOINT), "adjoint", 1 << Y);
    check(!rg_array_require(context, array[X], RG_ADJOINT), "adjoint", 1 << X);
    check(!rg_launch(context, args, RG_FORWARD_VJP) && variants(kernel) == 1, "one form", 1 << X | 1 << Y);
    check(!rg_launch(context, args, RG_FORWARD_VJP) && variants(kernel) == 1, "the same again", 1 << X | 1 << Y);
    rg_array *other;
    check(!rg_array_create(context, &RG_DESC(rg_array_desc, RG_F64, 1, {4}, .adjoint = true), &other), "array", 0);
    check(!rg_args_set_array_at(args, X, other), "another array", 0);
    check(!rg_launch(context, args, RG_FORWARD_VJP) && variants(kernel) == 1, "another array of the kind", 1 << X | 1 << Y);
    check(!rg_array_require(context, array[W], RG_ADJOINT), "adjoint", 1 << W);
    check(!rg_launch(context, args, RG_FORWARD_VJP) && variants(kernel) == 2, "one adjoint more", 1 << W);
    check(!rg_args_set_array_at(args, X, array[V]), "an array twice", 0);
    check(!rg_launch(context, args, RG_FORWARD_VJP) && variants(kernel) == 3, "one adjoint less", 1 << W);
    rg_args_destroy(args);
    rg_array_destroy(other);
    for (uint32_t i = X; i < PARAMS; i++)
        rg_array_destroy(array[i]);
}

/* -- tangents of some of what a derivative inside of a kernel reads ----------------------------------- */

/* y = d/dx (x^2 w v) = 2 x w v, of which a launch has tangents of some inputs. The function has a loop, so that its derivative is made
 * after the kernel's, and reads both of w and v, which are in rows: a tangent that one lacks is in it for the other's sake. */
static const char inner[] =
    "func @scaled(%x: f64, %n: i32, %w: buf<f64,2>, %v: buf<f64,2>) -> (f64) {\n"
    "  %zero: i32 = const 0  %none: f64 = const 0\n"
    "  %sum: f64 = for %i: i32 = %zero to %n step 1 (%s: f64 = %none) {\n"
    "    %a: f64 = load.row %w[%i, %i]  %b: f64 = load.row %v[%i, %i]\n"
    "    %p: f64 = mul %x, %x  %q: f64 = mul %p, %a  %r: f64 = mul %q, %b  %t: f64 = add %s, %r\n"
    "    yield %t\n"
    "  }\n"
    "  yield %sum\n"
    "}\n"
    "kernel @slope(%n: i32, %x: buf<f64,0>, %w: buf<f64,2>, %v: buf<f64,2>, %y: buf<f64,0>) {\n"
    "  %one: f64 = const 1\n"
    "  %at: f64 = load %x[]\n"
    "  %g: f64, %value: f64 = call.vjp @scaled(%at, %n, %w, %v, %one)\n"
    "  store %y[], %g\n"
    "  yield\n"
    "}\n";

static void
put(rg_queue *context, rg_array *array, unsigned plane, double value)
{
    check(!rg_array_require(context, array, plane) && !rg_array_write(context, array, plane, &value, sizeof value), "written", plane);
}

static rg_array *
filled(rg_queue *context, rg_args *args, const char *name, const rg_array_desc *desc, double value)
{
    rg_array *array;
    check(!rg_array_create(context, desc, &array), "array", 0);
    put(context, array, RG_PRIMAL, value);
    check(!rg_args_set_array(args, rg_str_of(name), array), name, 0);
    return array;
}

static void
plane_is(rg_queue *context, rg_array *array, unsigned plane, double wanted, const char *what, unsigned mask)
{
    double found = NAN;
    check(!rg_array_read(context, array, plane, &found, sizeof found) && found == wanted, what, mask);
}

static void
test_tangents(const char *device)
{
    static const char *const names[] = {"x", "w", "v", "y"};
    const rg_array_desc scalar = RG_DESC(rg_array_desc, .dtype = RG_F64), row = RG_DESC(rg_array_desc, RG_F64, 2, {1, 1});
    const double at[] = {3, 5, 2, 0}, along[] = {0.5, 0.25, 4}, seed = 7;
    rg_queue *context;
    rg_module *module;
    rg_kernel *kernel;
    check(!devices_open(&(devices_desc){.device = rg_str_of(device)}, &context), "context", 0);
    check(!rg_module_from_ir(rg_str_of(inner), NULL, &module), "module", 0);
    check(!rg_module_get_kernel(module, RG_STR("slope"), &kernel), "kernel", 0);
    for (unsigned mask = 0; mask < 8 && !failures; mask++) {
        double t[3];
        rg_args *args;
        rg_array *array[4];
        check(!rg_args_create(context, kernel, &args), "args", mask);
        check(!rg_args_set_int(args, RG_STR("n"), 1), "n", mask);
        for (unsigned i = 0; i < 4; i++) {
            array[i] = filled(context, args, names[i], i == 0 || i == 3 ? &scalar : &row, at[i]);
            if (i < 3)
                t[i] = mask >> i & 1 ? along[i] : 0;
            if (i == 3 || mask >> i & 1)
                put(context, array[i], RG_TANGENT, i == 3 ? 0 : along[i]);
        }
        const double of_wv = t[1] * at[2] + at[1] * t[2]; /* the tangent of w v */
        check(!rg_launch(context, args, RG_JVP), "jvp", mask);
        plane_is(context, array[3], RG_TANGENT, 2 * (t[0] * at[1] * at[2] + at[0] * of_wv), "the tangent of y", mask);
        if (mask & 1) {
            put(context, array[0], RG_ADJOINT, 0);
            put(context, array[0], RG_ADJOINT | RG_TANGENT, 0);
            put(context, array[3], RG_ADJOINT, seed);
            check(!rg_launch(context, args, RG_JVP_FORWARD_VJP), "jvp of the gradient", mask);
            plane_is(context, array[0], RG_ADJOINT, 2 * at[1] * at[2] * seed, "the adjoint of x", mask);
            plane_is(context, array[0], RG_ADJOINT | RG_TANGENT, 2 * of_wv * seed, "its tangent", mask);
        }
        rg_args_destroy(args);
        for (unsigned i = 0; i < 4; i++)
            rg_array_destroy(array[i]);
    }
    rg_module_destroy(module);
    rg_queue_destroy(context);
}

static void
test_device(const char *device)
{
    rg_queue *context;
    rg_module *module;
    rg_kernel *kernel;
    check(!devices_open(&(devices_desc){.device = rg_str_of(device)}, &context), "context", 0);
    check(!rg_module_from_ir(rg_str_of(source), NULL, &module), "module", 0);
    check(!rg_module_get_kernel(module, RG_STR("mixed"), &kernel), "kernel", 0);
    if (failures)
        return;
    if (strcmp(device, *devices_to_test()) == 0)
        test_code(kernel->ir->first);
    test_launches(context, kernel);
    rg_module_destroy(module);
    rg_queue_destroy(context);
}

int
main(void)
{
    for (const char *const *device = devices_to_test(); *device; device++) {
        test_device(*device);
        test_tangents(*device);
    }
    printf("%u checks, %u failed\n", checks, failures);
    return failures != 0;
}
