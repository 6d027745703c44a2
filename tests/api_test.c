/* The public API: what it does, and what it says when it is misused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "base/base.h"
#include "devices.h"

#include <retrograd/build.h>

#include <math.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

static const char source[] =
    "kernel @scale(%n: i32, %k: f64, %x: buf<f64,1>, %y: buf<f64,1>) shape {\n"
    "  %a: i64 = cast %n  yield %a, %a\n"
    "} {\n"
    "  %lo: i32 = const 0\n"
    "  parallel (%i: i32) = (%lo) to (%n) {\n"
    "    %v: f64 = load %x[%i]  %w: f64 = mul %v, %v  %r: f64 = mul %w, %k\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @dot(%x: buf<f32,1> flat, %y: buf<f32,1> flat) {\n"
    "  %n: i64 = extent %x, 0  %lo: i64 = const 0  %zero: f32 = const 0\n"
    "  %s: f32 = parallel (%i: i64) = (%lo) to (%n) reduce (add %zero) {\n"
    "    %a: f32 = load %x[%i]  %b: f32 = load %y[%i]  %p: f32 = mul %a, %b\n"
    "    yield %p\n"
    "  }\n"
    "  yield %s\n"
    "}\n"
    "kernel @square(%x: buf<f64,1>) {\n" /* in place, with a loop that only the data bounds */
    "  %n: i64 = extent %x, 0  %lo: i64 = const 0\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %v: f64 = load %x[%i]\n"
    "    %r: f64, %z: i32 = loop (%a: f64 = %v, %t: i32 = cast0) {\n"
    "      %one: i32 = const 1  %many: i32 = const 3000\n"
    "      %c: bool = ge %t, %many  exit_if %c (%a, %t)\n"
    "      %s: f64 = sin %a  %t1: i32 = add %t, %one\n"
    "      yield %s, %t1\n"
    "    }\n"
    "    store %x[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @empty() { yield }\n"
    "kernel @assertion(%n: i32) { %z: i32 = const 0  %c: bool = gt %n, %z  assert %c, \"n > 0\"  "
    "yield }\n"
    "kernel @mark(%x: buf<f64,2>) { %z: i64 = const 0  %v: f64 = load %x[%z, %z]  store %x[%z, %z], %v  yield }\n"
    "kernel @mix(%f: f32, %b: bool, %u: u8, %h: f16, %r.m: buf<f32,1> flat, %q: buf<i32,2>) {\n"
    "  yield\n"
    "}\n";

/* the text above, with its one shorthand written out */
static rg_str
kernels(void)
{
    static char text[sizeof(source) + 64];
    const char *mark = strstr(source, "cast0");
    const char *loop = strstr(source, "    %r: f64, %z: i32 = loop");
    snprintf(text, sizeof(text), "%.*s    %%t0: i32 = const 0\n%.*s%%t0%s", (int)(loop - source),
             source, (int)(mark - loop), loop, mark + strlen("cast0"));
    return rg_str_of(text);
}

static rg_array *
array_of(rg_queue *rg, rg_dtype dtype, uint32_t rank, int64_t n, int64_t m, void *data)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = dtype, .rank = rank, .shape = {n, m}, .data = data);
    rg_array *array;
    CHECK(devices_array(rg, &desc, &array) == RG_OK);
    return array;
}

/* Element i of an array of f64. */
static double
at(rg_queue *rg, rg_array *array, size_t i)
{
    double all[128] = {0};
    rg_array_info info = RG_INIT(rg_array_info);
    CHECK(rg_array_get_info(array, &info) == RG_OK);
    CHECK(rg_array_read(rg, array, RG_PRIMAL, all, info.bytes) == RG_OK);
    return all[i];
}

static rg_kernel *
kernel_of(rg_module *module, const char *name)
{
    rg_kernel *kernel;
    CHECK(rg_module_get_kernel(module, rg_str_of(name), &kernel) == RG_OK);
    return kernel;
}

static rg_args *
args_of(rg_queue *rg, rg_kernel *kernel)
{
    rg_args *args;
    CHECK(rg_args_create(rg, kernel, &args) == RG_OK);
    return args;
}

/* -- what works -------------------------------------------------------------------------------- */

static void
test_launches(rg_queue *rg, rg_module *module)
{
    double x[4] = {1, 2, 3, 4}, y[4] = {0}, g[4], one[4] = {1, 1, 1, 1}, k_adj, t[4];
    rg_kernel *scale = kernel_of(module, "scale");
    rg_args *args = args_of(rg, scale);
    rg_array *ax = array_of(rg, RG_F64, 1, 4, 0, x), *ay = array_of(rg, RG_F64, 1, 4, 0, y);
    rg_array *k = array_of(rg, RG_F64, 0, 0, 0, NULL);
    CHECK(rg_args_set_int(args, RG_STR("n"), 4) == RG_OK);
    CHECK(rg_args_set_float(args, RG_STR("k"), 0.5) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), ax) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("y"), ay) == RG_OK);
    rg_array_info before = RG_INIT(rg_array_info), after = before;
    CHECK(rg_array_get_info(ay, &before) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    CHECK(rg_array_get_info(ay, &after) == RG_OK);
    CHECK(at(rg, ay, 0) == 0.5 && at(rg, ay, 3) == 8);
    CHECK(after.version > before.version);

    FAILS(rg_launch(rg, args, RG_VJP), RG_INVALID, "no argument of kernel `scale` has an adjoint");
    FAILS(rg_launch(rg, args, RG_JVP), RG_INVALID, "has a tangent");
    CHECK(rg_array_require(rg, ax, RG_ADJOINT) == RG_OK);
    CHECK(rg_array_require(rg, ay, RG_ADJOINT) == RG_OK);
    CHECK(rg_array_require(rg, k, RG_ADJOINT) == RG_OK);
    CHECK(rg_args_set_companion(args, RG_STR("k"), k) == RG_OK);
    CHECK(rg_array_fill(rg, ay, RG_ADJOINT, 1) == RG_OK);
    CHECK(rg_launch(rg, args, RG_VJP) == RG_OK);
    CHECK(rg_array_read(rg, ax, RG_ADJOINT, g, sizeof(g)) == RG_OK);
    CHECK(g[0] == 1 && g[3] == 4);
    CHECK(rg_array_read(rg, k, RG_ADJOINT, &k_adj, sizeof(k_adj)) == RG_OK);
    CHECK(k_adj == 30);
    /* a plain store consumes the adjoint of what it stored */
    CHECK(rg_array_read(rg, ay, RG_ADJOINT, g, sizeof(g)) == RG_OK);
    CHECK(g[0] == 0 && g[3] == 0);
    /* adjoints accumulate */
    CHECK(rg_array_write(rg, ay, RG_ADJOINT, one, sizeof(one)) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD_VJP) == RG_OK);
    CHECK(rg_array_read(rg, ax, RG_ADJOINT, g, sizeof(g)) == RG_OK);
    CHECK(g[0] == 2 && g[3] == 8);

    CHECK(rg_array_require(rg, ax, RG_TANGENT) == RG_OK);
    CHECK(rg_array_require(rg, ay, RG_TANGENT) == RG_OK);
    CHECK(rg_array_fill(rg, ax, RG_TANGENT, 1) == RG_OK);
    CHECK(rg_launch(rg, args, RG_JVP) == RG_OK);
    CHECK(rg_array_read(rg, ay, RG_TANGENT, t, sizeof(t)) == RG_OK);
    CHECK(t[0] == 1 && t[3] == 4);
    /* the Hessian of sum(k x^2) along ones is 2 k */
    CHECK(rg_array_require(rg, ax, RG_ADJOINT | RG_TANGENT) == RG_OK);
    CHECK(rg_array_fill(rg, ay, RG_ADJOINT, 1) == RG_OK);
    CHECK(rg_launch(rg, args, RG_JVP_FORWARD_VJP) == RG_OK);
    CHECK(rg_array_read(rg, ax, RG_ADJOINT | RG_TANGENT, t, sizeof(t)) == RG_OK);
    CHECK(t[0] == 1 && t[3] == 1);
    CHECK(rg_array_fill(rg, ay, RG_ADJOINT, 1) == RG_OK);
    CHECK(rg_launch(rg, args, RG_JVP_VJP) == RG_OK);
    CHECK(rg_array_read(rg, ax, RG_ADJOINT | RG_TANGENT, t, sizeof(t)) == RG_OK);
    CHECK(t[0] == 2 && t[3] == 2);
    CHECK(rg_queue_sync(rg) == RG_OK);
    rg_args_destroy(args);
    rg_array_destroy(ax);
    rg_array_destroy(ay);
    rg_array_destroy(k);
}

static void
test_results(rg_queue *rg, rg_module *module)
{
    float x[6] = {1, 2, 3, 4, 5, 6}, result = 0, g[6];
    rg_kernel *dot = kernel_of(module, "dot");
    rg_args *args = args_of(rg, dot);
    /* a pointer takes an array of any rank; read twice, its adjoint gets both sums */
    rg_array *ax = array_of(rg, RG_F32, 2, 2, 3, x), *out;
    CHECK(rg_array_require(rg, ax, RG_ADJOINT) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), ax) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("y"), ax) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    CHECK(rg_args_get_array(args, RG_STR("return"), &out) == RG_OK);
    CHECK(rg_array_read(rg, out, RG_PRIMAL, &result, sizeof(result)) == RG_OK);
    CHECK(result == 91);
    CHECK(rg_array_require(rg, out, RG_ADJOINT) == RG_OK);
    CHECK(rg_array_fill(rg, out, RG_ADJOINT, 1) == RG_OK);
    CHECK(rg_launch(rg, args, RG_VJP) == RG_OK);
    CHECK(rg_array_read(rg, ax, RG_ADJOINT, g, sizeof(g)) == RG_OK);
    CHECK(g[0] == 2 && g[5] == 12);
    rg_array_destroy(ax); /* args still use it */
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    rg_args_destroy(args);
}

static void
test_strides(rg_queue *rg, rg_module *module)
{
    if (!devices_share_memory(rg)) /* remote_test.c */
        return;
    double grid[8] = {1, 10, 2, 20, 3, 30, 4, 40}, dense[4];
    int64_t two = 2, back = -2;
    rg_array_desc even = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {4}, .strides = &two, .data = grid);
    rg_array_desc odd = even;
    odd.strides = &back;
    odd.data = grid + 7;
    rg_array *x, *y;
    CHECK(rg_array_create(rg, &even, &x) == RG_OK);
    CHECK(rg_array_create(rg, &odd, &y) == RG_OK);
    rg_kernel *scale = kernel_of(module, "scale");
    rg_args *args = args_of(rg, scale);
    CHECK(rg_args_set_int(args, RG_STR("n"), 4) == RG_OK);
    CHECK(rg_args_set_int(args, RG_STR("k"), 1) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), x) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("y"), y) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK); /* interleaved, but apart */
    CHECK(grid[7] == 1 && grid[5] == 4 && grid[1] == 16 && grid[0] == 1);
    CHECK(rg_array_read(rg, y, RG_PRIMAL, dense, sizeof(dense)) == RG_OK);
    CHECK(dense[0] == 1 && dense[3] == 16);
    CHECK(rg_args_set_array(args, RG_STR("y"), x) == RG_OK);
    FAILS(rg_launch(rg, args, RG_FORWARD), RG_INVALID, "overlap in memory");
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_array_destroy(y);
}

/* A program of another system may find that a tangent is the argument itself, and keep one of them. */
static void
test_read_twice(rg_queue *rg, rg_module *module)
{
    if (!devices_share_memory(rg))
        return;
    double x[4] = {1, 2, 3, 4}, t[4];
    rg_array *ax, *ay = array_of(rg, RG_F64, 1, 4, 0, NULL);
    CHECK(rg_array_create(rg, &RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {4}, .data = x), &ax) == RG_OK);
    rg_args *args = args_of(rg, kernel_of(module, "scale"));
    CHECK(rg_args_set_int(args, RG_STR("n"), 4) == RG_OK);
    CHECK(rg_args_set_float(args, RG_STR("k"), 0.5) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), ax) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("y"), ay) == RG_OK);
    CHECK(rg_array_require(rg, ay, RG_TANGENT) == RG_OK);
    CHECK(rg_array_attach(ax, RG_TANGENT, x) == RG_OK);
    CHECK(rg_launch(rg, args, RG_JVP) == RG_OK);
    CHECK(rg_array_read(rg, ay, RG_TANGENT, t, sizeof(t)) == RG_OK);
    CHECK(t[0] == 1 && t[3] == 16);
    CHECK(rg_array_attach(ax, RG_ADJOINT, x) == RG_OK); /* it is written */
    CHECK(rg_array_require(rg, ay, RG_ADJOINT) == RG_OK);
    FAILS(rg_launch(rg, args, RG_VJP), RG_INVALID, "overlap in memory");
    CHECK(rg_array_attach(ax, RG_ADJOINT, NULL) == RG_OK && rg_array_attach(ay, RG_TANGENT, x) == RG_OK);
    FAILS(rg_launch(rg, args, RG_JVP), RG_INVALID, "overlap in memory");
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK); /* touches no tangent */
    rg_args_destroy(args);
    rg_array_destroy(ax);
    rg_array_destroy(ay);
}

static void
test_lists(rg_queue *rg, rg_module *module)
{
    const rg_str *names;
    size_t count;
    CHECK(rg_module_get_names(module, &names, &count) == RG_OK);
    CHECK(count == 7 && strcmp(names[0].ptr, "scale") == 0);
    rg_kernel *scale = kernel_of(module, "scale");
    rg_param p = RG_INIT(rg_param);
    CHECK(rg_kernel_param_count(scale) == 4);
    CHECK(rg_kernel_get_param(scale, 2, &p) == RG_OK);
    CHECK(p.array && p.rank == 1 && p.dtype == RG_F64 && p.read && !p.written && p.fixed == 1);
    CHECK(rg_kernel_get_param(scale, 3, &p) == RG_OK);
    CHECK(p.written && !p.read);
    CHECK(rg_kernel_get_param(kernel_of(module, "dot"), 2, &p) == RG_OK);
    CHECK(p.result && strcmp(p.name.ptr, "return") == 0);
    int64_t shape[RG_MAX_RANK];
    rg_args *args = args_of(rg, scale);
    CHECK(rg_args_set_int(args, RG_STR("n"), 7) == RG_OK);
    CHECK(rg_args_get_shape(args, 2, shape) == RG_OK);
    CHECK(shape[0] == 7);
    rg_args_destroy(args);
}

static const char extents_source[] =
    "void wide(int n, int m, int k, float a, const float x[n], double y[m][2 * (n - 3) + 1], int z[k * m], const float w[7 - k])\n"
    "{ for (int i = 0; i < n; i++) y[0][i % (2 * n - 5)] = a * x[i] + w[0]; z[0] = 0; }\n"
    "void free_length(int n, float x[]) { x[0] = n; }\n";

/* Scalars that follow from shapes: through sums, differences and products with constants. */
static void
test_extents(rg_queue *rg)
{
    rg_module *module;
    rg_status status = rg_module_from_c(RG_STR(extents_source), NULL, &module);
    if (status == RG_UNSUPPORTED)
        return;
    CHECK(status == RG_OK);
    rg_kernel *wide = kernel_of(module, "wide");
    rg_param p = RG_INIT(rg_param);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(rg_kernel_get_param(wide, i, &p) == RG_OK && p.extent == (i < 3));
    rg_args *args = args_of(rg, wide);
    rg_array *y = array_of(rg, RG_F64, 2, 4, 5, NULL), *w = array_of(rg, RG_F32, 1, 5, 0, NULL), *z = array_of(rg, RG_I32, 1, 8, 0, NULL),
             *x = array_of(rg, RG_F32, 1, 5, 0, NULL);
    FAILS(rg_args_infer(args, RG_STR("n")), RG_INVALID, "no array is set");
    FAILS(rg_args_infer(args, RG_STR("a")), RG_INVALID, "does not follow from");
    FAILS(rg_args_infer(args, RG_STR("x")), RG_INVALID, "an array, not a scalar");
    FAILS(rg_args_infer(args, RG_STR("q")), RG_NOT_FOUND, "no parameter `q`");
    CHECK(rg_args_set_array(args, RG_STR("y"), y) == RG_OK && rg_args_infer(args, RG_STR("n")) == RG_OK); /* 2 * (5 - 3) + 1 */
    CHECK(rg_args_set_array(args, RG_STR("w"), w) == RG_OK && rg_args_infer(args, RG_STR("k")) == RG_OK); /* 7 - 2 */
    CHECK(rg_args_infer_at(args, 1) == RG_OK && rg_args_set_float(args, RG_STR("a"), 1) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), x) == RG_OK && rg_args_set_array(args, RG_STR("z"), z) == RG_OK);
    int64_t shape[RG_MAX_RANK];
    CHECK(rg_args_get_shape(args, 4, shape) == RG_OK && shape[0] == 5);
    CHECK(rg_args_get_shape(args, 6, shape) == RG_OK && shape[0] == 8);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    /* two arrays that ask for different values: the launch says which does not fit */
    rg_array *other = array_of(rg, RG_F32, 1, 6, 0, NULL);
    CHECK(rg_args_set_array(args, RG_STR("x"), other) == RG_OK && rg_args_infer(args, RG_STR("n")) == RG_OK);
    FAILS(rg_launch(rg, args, RG_FORWARD), RG_INVALID, "`y`");
    rg_args_destroy(args);
    args = args_of(rg, kernel_of(module, "free_length"));
    CHECK(rg_args_set_array(args, RG_STR("x"), x) == RG_OK);
    FAILS(rg_args_infer(args, RG_STR("n")), RG_INVALID, "set it");
    rg_args_destroy(args);
    rg_array_destroy(x), rg_array_destroy(y), rg_array_destroy(z), rg_array_destroy(w), rg_array_destroy(other);
    rg_module_destroy(module);
}

/* -- C: records, defines, diagnostics ---------------------------------------------------------- */

struct body {
    double mass;
    int32_t kind;
    double pos;
};

static const char bodies_source[] = "struct body { double mass; int kind; double pos; };\n"
                                    "void weigh(int n, const struct body p[n], double f[n])\n"
                                    "{\n"
                                    "    #pragma omp parallel for\n"
                                    "    for (int i = 0; i < n; i++)\n"
                                    "        f[i] = FACTOR * p[i].kind * p[i].mass * p[i].pos;\n"
                                    "}\n"
                                    "void bad(int n, double f[n]) { goto end; end: f[0] = n; }\n"
                                    "static double helper(double x) { return x; }\n";

/* Lent memory that is elsewhere in the next launch. */
static void
test_set_data(rg_queue *rg)
{
    double first[3] = {1, 2, 3}, second[3] = {10, 20, 30}, y[3] = {0};
    rg_array *owned = array_of(rg, RG_F64, 1, 3, 0, NULL);
    FAILS(rg_array_set_data(owned, first), RG_INVALID, "its memory is the library's");
    rg_array_destroy(owned);
    if (!devices_share_memory(rg))
        return;
    rg_module *module;
    CHECK(rg_module_from_ir(RG_STR("kernel @twice(%x: buf<f64,1>, %y: buf<f64,1>) {\n"
           "  %z: i32 = const 0  %n: i32 = const 3\n"
           "  for %i: i32 = %z to %n step 1 { %v: f64 = load %x[%i]  %w: f64 = add %v, %v  store %y[%i], %w  yield }\n"
           "  yield\n}\n"), NULL, &module) == RG_OK);
    rg_args *args = args_of(rg, kernel_of(module, "twice"));
    rg_array *x = array_of(rg, RG_F64, 1, 3, 0, first), *out = array_of(rg, RG_F64, 1, 3, 0, y);
    CHECK(rg_args_set_array(args, RG_STR("x"), x) == RG_OK && rg_args_set_array(args, RG_STR("y"), out) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK && y[2] == 6);
    rg_graph *graph = NULL;
    CHECK(rg_graph_begin(rg) == RG_OK && rg_launch(rg, args, RG_FORWARD) == RG_OK && rg_graph_end(rg, &graph) == RG_OK);
    CHECK(rg_graph_launch(graph) == RG_OK);
    CHECK(rg_array_set_data(x, second) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK && y[2] == 60);
    FAILS(rg_graph_launch(graph), RG_INVALID, "");
    FAILS(rg_array_set_data(x, NULL), RG_INVALID, "data is NULL");
    FAILS(rg_array_set_data(x, (char *)second + 1), RG_INVALID, "not aligned");
    CHECK(rg_array_set_data(x, y) == RG_OK); /* two arguments in one place */
    FAILS(rg_launch(rg, args, RG_FORWARD), RG_INVALID, "overlap");
    rg_graph_destroy(graph);
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_array_destroy(out);
    rg_module_destroy(module);
}

/* An array inside the records has axes of its own. */
static void
test_inner_arrays(rg_queue *rg)
{
    rg_module *module;
    rg_status status = rg_module_from_c(RG_STR("struct body { double mass; float at[2]; };\n"
                                               "void weigh(int n, const struct body b[n], double w[n])\n"
                                               "{ for (int i = 0; i < n; i++) w[i] = b[i].mass * b[i].at[1]; }\n"
                                               "void grid(const struct body b[2][2], double w[1]) { w[0] = b[1][0].mass * b[0][1].at[1]; }\n"),
                                        NULL, &module);
    if (status == RG_UNSUPPORTED)
        return;
    CHECK(status == RG_OK);
    struct {
        double mass;
        float at[2];
    } b[4] = {{2, {9, 0.5f}}, {3, {8, 0.25f}}, {5, {7, 1}}, {0}};
    int64_t shape[2] = {2, 2};
    double w[2] = {0};
    rg_array *made = array_of(rg, RG_F64, 1, 2, 0, w), *one = array_of(rg, RG_F64, 1, 1, 0, w), *inner;
    rg_args *args = args_of(rg, kernel_of(module, "weigh"));
    CHECK(rg_args_set_array(args, RG_STR("w"), made) == RG_OK && rg_args_infer(args, RG_STR("n")) == RG_OK);
    CHECK(rg_args_set_records(rg, args, RG_STR("b"), b, 1, shape, NULL) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    CHECK(at(rg, made, 0) == 1 && at(rg, made, 1) == 0.75);
    rg_array_info info = RG_INIT(rg_array_info);
    CHECK(rg_args_get_array(args, RG_STR("b.at"), &inner) == RG_OK && rg_array_get_info(inner, &info) == RG_OK);
    CHECK(info.rank == 2 && info.shape[0] == 2 && info.shape[1] == 2);
    FAILS(rg_args_set_records(rg, args, RG_STR("b"), b, 2, shape, NULL), RG_INVALID, "has rank 1, the records rank 2");
    rg_args_destroy(args);
    args = args_of(rg, kernel_of(module, "grid"));
    CHECK(rg_args_set_array(args, RG_STR("w"), one) == RG_OK);
    FAILS(rg_args_set_records(rg, args, RG_STR("b"), b, 1, shape, NULL), RG_INVALID, "has rank 2, the records rank 1");
    CHECK(rg_args_set_records(rg, args, RG_STR("b"), b, 2, shape, NULL) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    CHECK(at(rg, one, 0) == 5 * 0.25);
    rg_args_destroy(args);
    rg_array_destroy(made);
    rg_array_destroy(one);
    rg_module_destroy(module);
}

/* Further files, in memory and not there. */
static void
test_files(rg_queue *rg)
{
    static const char uses[] = "double twice(double x);\nextern const double table[2];\n"
                               "double k(double x) { return twice(x) + table[1]; }\n";
    static const char twice[] = "static double by = 2;\ndouble twice(double x) { return by * x; }\n";
    rg_module_file files[] = {{RG_STR("twice.c"), rg_str_of(twice)},
                              {RG_STR("table.c"), RG_STR("const double table[2] = {1, 40};\n")},
                              {.path = RG_STR("no_such.c")}};
    rg_module_desc desc = RG_DESC(rg_module_desc, .files = files, .file_count = 2);
    rg_module *module;
    rg_kernel *k;
    rg_status status = rg_module_from_c(rg_str_of(uses), &desc, &module);
    if (status == RG_UNSUPPORTED)
        return;
    CHECK(rg_module_get_kernel(module, RG_STR("k"), &k) == RG_OK);
    rg_module_destroy(module);
    desc.file_count = 1;
    CHECK(rg_module_from_c(rg_str_of(uses), &desc, &module) == RG_OK);
    FAILS(rg_module_get_kernel(module, RG_STR("k"), &k), RG_COMPILE, "`table` is defined in another file");
    rg_module_destroy(module);
    desc.file_count = 3;
    CHECK(rg_module_from_c(rg_str_of(uses), &desc, &module) == RG_OK);
    FAILS(rg_module_get_kernel(module, RG_STR("k"), &k), RG_COMPILE, "cannot read `no_such.c`");
    rg_module_destroy(module);
    files[1].path = (rg_str){0};
    FAILS(rg_module_from_c(rg_str_of(uses), &desc, &module), RG_INVALID, "a file without a path");
}

static void
test_c(rg_queue *rg)
{
    rg_str define = RG_STR("FACTOR=2");
    rg_module_desc desc = RG_DESC(rg_module_desc, .defines = &define, .define_count = 1, .name = RG_STR("bodies.c"));
    rg_module *module, *other;
    rg_status status = rg_module_from_c(rg_str_of(bodies_source), &desc, &module);
    if (status == RG_UNSUPPORTED)
        return;
    CHECK(status == RG_OK);
    rg_kernel *weigh = kernel_of(module, "weigh"), *bad;
    FAILS(rg_module_get_kernel(module, RG_STR("bad"), &bad), RG_COMPILE, "bodies.c:8:");
    CHECK(strstr(rg_error_message(), "goto") != NULL);
    FAILS(rg_module_get_kernel(module, RG_STR("helpers"), &bad), RG_NOT_FOUND, "(there is weigh, bad)");
    CHECK(rg_module_get_kernel(module, RG_STR("helper"), &bad) == RG_OK); /* static: not listed, but there */
    FAILS(rg_module_from_c(rg_str_of(bodies_source), &RG_DESC(rg_module_desc, .option_count = 1), &other), RG_INVALID,
          "options or files that are NULL");
    rg_str options[] = {RG_STR("-O2"), RG_STR("-D"), RG_STR("FACTOR=2"), RG_STR("-std=c99")};
    CHECK(rg_module_from_c(rg_str_of(bodies_source), &RG_DESC(rg_module_desc, .options = options, .option_count = 4), &other) == RG_OK);
    CHECK(rg_module_get_kernel(other, RG_STR("weigh"), &bad) == RG_OK);
    rg_module_destroy(other);
    rg_args *args = args_of(rg, weigh);
    struct body p[3] = {{1, 1, 10}, {2, 0, 20}, {3, 2, 30}};
    double f[3] = {0}, g[3];
    int64_t shape = 3;
    rg_array *af = array_of(rg, RG_F64, 1, 3, 0, f), *mass, *kind;
    CHECK(rg_args_set_int(args, RG_STR("n"), 3) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("f"), af) == RG_OK);
    CHECK(rg_args_set_records(rg, args, RG_STR("p"), p, 1, &shape, NULL) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    CHECK(at(rg, af, 0) == 20 && at(rg, af, 1) == 0 && at(rg, af, 2) == 360);
    CHECK(rg_args_get_array(args, RG_STR("p.mass"), &mass) == RG_OK);
    CHECK(rg_args_get_array(args, RG_STR("p.kind"), &kind) == RG_OK);
    CHECK(rg_array_require(rg, mass, RG_ADJOINT) == RG_OK);
    FAILS(rg_array_require(rg, kind, RG_ADJOINT), RG_INVALID, "only floats");
    CHECK(rg_array_require(rg, af, RG_ADJOINT) == RG_OK);
    CHECK(rg_array_fill(rg, af, RG_ADJOINT, 1) == RG_OK);
    CHECK(rg_launch(rg, args, RG_VJP) == RG_OK);
    CHECK(rg_array_read(rg, mass, RG_ADJOINT, g, sizeof(g)) == RG_OK);
    CHECK(g[0] == 20 && g[1] == 0 && g[2] == 120);
    FAILS(rg_args_set_records(rg, args, RG_STR("f"), p, 1, &shape, NULL), RG_NOT_FOUND, "records");
    FAILS(rg_args_set_records(rg, args, RG_STR("p"), NULL, 1, &shape, NULL), RG_INVALID,
          "data is NULL");
    rg_args_destroy(args);
    rg_array_destroy(af);
    rg_module_destroy(module);
    CHECK(rg_module_from_c(RG_STR("void f(int n { }"), NULL, &module) == RG_OK);
    FAILS(rg_module_get_kernel(module, RG_STR("f"), &bad), RG_COMPILE, "source.c:1:");
    rg_module_destroy(module);
}

/* -- a budget that is too small changes nothing ------------------------------------------------ */

/* What is left after RG_BUDGET, where that is specified. */
static void
check_unchanged(rg_queue *rg, rg_array *a, const double *before, size_t n)
{
    double now[128];
    if (!devices_share_memory(rg))
        return;
    CHECK(rg_array_read(rg, a, RG_PRIMAL, now, n * sizeof(*now)) == RG_OK);
    CHECK(memcmp(now, before, n * sizeof(*now)) == 0);
    CHECK(rg_array_read(rg, a, RG_ADJOINT, now, n * sizeof(*now)) == RG_OK);
    CHECK(now[0] == 1 && now[n - 1] == 1);
}

/* A launch and what it is found to have done. */
static rg_status
gradient(rg_queue *rg, rg_kernel *kernel, rg_args *args)
{
    rg_status status = rg_launch(rg, args, RG_FORWARD_VJP);
    return status ? status : rg_queue_sync(rg);
}

static void
test_budget(const char *device)
{
    devices_desc desc = {.device = rg_str_of(device), .tape_budget = 1 << 17};
    rg_queue *rg;
    rg_module *module;
    CHECK(devices_open(&desc, &rg) == RG_OK);
    CHECK(rg_module_from_ir(kernels(), NULL, &module) == RG_OK);
    rg_kernel *square = kernel_of(module, "square");
    rg_args *args = args_of(rg, square);
    enum { N = 100 };
    double x[N], before[N];
    for (int i = 0; i < N; i++)
        x[i] = before[i] = i * 0.1;
    rg_array *a = array_of(rg, RG_F64, 1, N, 0, x);
    CHECK(rg_array_require(rg, a, RG_ADJOINT) == RG_OK);
    CHECK(rg_array_fill(rg, a, RG_ADJOINT, 1) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), a) == RG_OK);
    rg_status status = gradient(rg, square, args);
    if (status == RG_BUDGET) { /* one thread's record fits or does not, as the device pleases */
        CHECK(strstr(rg_error_message(), "square") != NULL);
        check_unchanged(rg, a, before, N);
    } else {
        CHECK(status == RG_OK);
    }
    rg_queue_destroy(rg); /* objects made from it keep it */
    rg_args_destroy(args);
    rg_array_destroy(a);
    rg_module_destroy(module);

    desc.tape_budget = 1000; /* no thread fits */
    CHECK(devices_open(&desc, &rg) == RG_OK);
    CHECK(rg_module_from_ir(kernels(), NULL, &module) == RG_OK);
    square = kernel_of(module, "square");
    args = args_of(rg, square);
    memcpy(x, before, sizeof(x));
    a = array_of(rg, RG_F64, 1, N, 0, x);
    CHECK(rg_array_require(rg, a, RG_ADJOINT) == RG_OK);
    CHECK(rg_array_fill(rg, a, RG_ADJOINT, 1) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), a) == RG_OK);
    FAILS(gradient(rg, square, args), RG_BUDGET, "1000");
    check_unchanged(rg, a, before, N);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    rg_args_destroy(args);
    rg_array_destroy(a);
    rg_module_destroy(module);
    rg_queue_destroy(rg);
}

/* -- misuse ------------------------------------------------------------------------------------ */

static void
test_misuse_of_queues(void)
{
    rg_queue *rg;
    devices_desc desc = {.device = RG_STR("quantum")};
    FAILS(rg_device_open(NULL, NULL), RG_INVALID, "device is NULL");
    FAILS(rg_queue_create(NULL, NULL, &rg), RG_INVALID, "device is NULL");
    FAILS(devices_open(&desc, &rg), RG_NOT_FOUND, "interp");
    CHECK(rg == NULL);
    desc = (devices_desc){.num_threads = RG_MAX_THREADS + 1};
    FAILS(devices_open(&desc, &rg), RG_INVALID, "at most 4096 threads");
    desc.num_threads = UINT32_MAX;
    FAILS(devices_open(&desc, &rg), RG_INVALID, "num_threads is 4294967295");
    CHECK(rg == NULL);
    FAILS(rg_queue_sync(NULL), RG_INVALID, "queue is NULL");
    CHECK(rg_queue_tape_peak(NULL) == 0);
    rg_queue_destroy(NULL);
    rg_array_destroy(NULL);
    rg_module_destroy(NULL);
    rg_args_destroy(NULL);
    CHECK(strcmp(rg_status_name(RG_BUDGET), "RG_BUDGET") == 0);
    CHECK(strcmp(rg_status_name((rg_status)99), "unknown status") == 0);
}

/* what C can say and cannot be done, or not with these numbers */
static void
test_misuse_of_shapes(rg_queue *rg)
{
    static const char source[] = "struct __attribute__((packed)) tight { float mass; char tag; };\n"
                                 "void masses(int n, const struct tight p[n], float out[n])\n"
                                 "{\n"
                                 "    for (int i = 0; i < n; i++)\n"
                                 "        out[i] = p[i].mass;\n"
                                 "}\n"
                                 "struct __attribute__((packed)) both { signed char tag; float mass; };\n"
                                 "void sums(int n, const struct both p[n], float out[n])\n"
                                 "{\n"
                                 "    for (int i = 0; i < n; i++)\n"
                                 "        out[i] = p[i].mass + p[i].tag;\n"
                                 "}\n"
                                 "void less(int n, int m, float x[n - m], float y[2][n], float *z)\n"
                                 "{\n"
                                 "    if (n > m)\n"
                                 "        x[0] = y[0][0] + z[0];\n"
                                 "}\n";
    rg_module *module;
    rg_status status = rg_module_from_c(RG_STR(source), NULL, &module);
    if (status == RG_UNSUPPORTED)
        return;
    CHECK(status == RG_OK);
    rg_args *args = args_of(rg, kernel_of(module, "masses"));
    char raw[64] = {0};
    int64_t four = 4, shape[RG_MAX_RANK];
    rg_array *mass = array_of(rg, RG_F32, 1, 4, 0, NULL);
    CHECK(rg_args_set_int(args, RG_STR("n"), 4) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("p.mass"), mass) == RG_OK);
    FAILS(rg_args_read_records(rg, args, RG_STR("p"), raw, 1, &four, NULL), RG_UNSUPPORTED, "packed");
    FAILS(rg_args_set_records(rg, args, RG_STR("p"), raw, 1, &four, NULL), RG_UNSUPPORTED, "packed");
    rg_args_destroy(args);
    rg_array_destroy(mass);
    args = args_of(rg, kernel_of(module, "sums")); /* one field cannot be set, so none is */
    rg_array *tag;
    FAILS(rg_args_set_records(rg, args, RG_STR("p"), raw, 1, &four, NULL), RG_UNSUPPORTED, "packed");
    FAILS(rg_args_get_array(args, RG_STR("p.tag"), &tag), RG_INVALID, "has no array");
    int64_t negative = -1, far = INT64_MAX / 2;
    FAILS(rg_args_set_records(rg, args, RG_STR("p"), raw, 1, &negative, NULL), RG_INVALID, "has -1 elements");
    FAILS(rg_args_set_records(rg, args, RG_STR("p"), raw, 1, &four, &far), RG_INVALID, "more bytes than there are addresses");
    rg_args_destroy(args);
    rg_kernel *less = kernel_of(module, "less");
    args = args_of(rg, less);
    rg_array *x = array_of(rg, RG_F32, 1, 3, 0, NULL), *y = array_of(rg, RG_F32, 2, 2, 1, NULL);
    rg_param p = RG_INIT(rg_param);
    CHECK(rg_kernel_get_param(less, 3, &p) == RG_OK && p.fixed == 3);
    CHECK(rg_kernel_get_param(less, 4, &p) == RG_OK && p.fixed == 0);
    CHECK(rg_args_set_array(args, RG_STR("x"), x) == RG_OK && rg_args_set_array(args, RG_STR("y"), y) == RG_OK &&
          rg_args_set_array(args, RG_STR("z"), x) == RG_OK);
    for (int missing = 1; missing <= 2; missing++) { /* -1 is no more "any" than -2 */
        CHECK(rg_args_set_int(args, RG_STR("n"), 1) == RG_OK && rg_args_set_int(args, RG_STR("m"), 1 + missing) == RG_OK);
        FAILS(rg_launch(rg, args, RG_FORWARD), RG_INVALID, missing == 1 ? "would have -1 elements" : "would have -2 elements");
        FAILS(rg_args_get_shape(args, 2, shape), RG_INVALID, "`x` of kernel `less`: axis 0");
        CHECK(rg_args_get_shape(args, 3, shape) == RG_OK && shape[0] == 2 && shape[1] == 1);
        CHECK(rg_args_get_shape(args, 4, shape) == RG_OK && shape[0] == -1);
    }
    for (long n = 1; n < 20; n++) {
        mem_fail_after(n);
        status = rg_args_get_shape(args, 3, shape);
        mem_fail_after(0);
        CHECK(status == RG_OK || status == RG_OUT_OF_MEMORY);
        CHECK(n > 1 || status == RG_OUT_OF_MEMORY);
    }
    rg_args_destroy(args);
    rg_array_destroy(x);
    rg_array_destroy(y);
    rg_module_destroy(module);
}

/* As written: what it is read back from is the same, and so is the text of that. */
static void
check_text(rg_module *module, const char *name, const char *with)
{
    rg_kernel *kernel, *again = NULL;
    rg_module *read = NULL;
    rg_str text, same;
    CHECK(!rg_module_get_kernel(module, rg_str_of(name), &kernel) && !rg_kernel_get_text(kernel, &text));
    CHECK(strstr(text.ptr, with), "%s", text.ptr);
    CHECK(!rg_module_from_ir(text, NULL, &read) && !rg_module_get_kernel(read, rg_str_of(name), &again));
    CHECK(!rg_kernel_get_text(again, &same) && same.len == text.len && memcmp(same.ptr, text.ptr, text.len) == 0);
    rg_module_destroy(read);
}

/* Kernels of other front ends are looked through for races like those from C; or loops with races run in order. */
static void
test_builder_races(rg_queue *rg)
{
    static const char text[] = "for i: y[0] = x[i]\nfor i: y[i] = x[i]\n";
    for (int racy = 2; racy >= 0; racy--) {
        rg_builder *b;
        rg_module *module;
        rg_value x, y, n, i, lo;
        CHECK(rg_builder_create(NULL, &b) == RG_OK);
        rg_build_in_order(b, racy == 2);
        uint32_t file = rg_build_file(b, RG_STR("racy.loops"), rg_str_of(text));
        rg_build_at(b, (rg_place){file, racy ? 1 : 2, 8, 19});
        rg_build_kernel_begin(b, RG_STR("racy"));
        n = rg_build_param_scalar(b, RG_STR("n"), RG_I32, (rg_place){0});
        x = rg_build_param_buffer(b, &(rg_build_buffer){.name = RG_STR("x"), .dtype = RG_F64, .rank = 1});
        y = rg_build_param_buffer(b, &(rg_build_buffer){.name = RG_STR("y"), .dtype = RG_F64, .rank = 1});
        lo = rg_build_int(b, RG_I32, 0);
        rg_build_parallel(b, 1, &lo, &n, &i);
        rg_build_store(b, RG_PRIMAL, y, 1, racy ? &lo : &i, rg_build_load(b, RG_PRIMAL, x, 1, &i));
        rg_build_end(b);
        rg_build_kernel_end(b);
        if (racy == 1) {
            FAILS(rg_builder_finish(b, &module), RG_COMPILE, "racy.loops:1:8: error[E0461]: threads may write the same element of `y`");
        } else {
            CHECK(rg_builder_finish(b, &module) == RG_OK);
            check_text(module, "racy", racy ? "for %" : "parallel");
            rg_module_destroy(module);
        }
        rg_builder_destroy(b);
    }
}

/* Room for reductions grows with threads and sums: a thread's stack is no place for it. */
static void
test_many_threads(void)
{
    enum { SUMS = 64, N = 3 };
    rg_queue *rg;
    rg_module *module;
    str text = {0};
    str_addz(&text, "double combine(int n, const double x[n]");
    for (int i = 0; i < SUMS; i++)
        str_addf(&text, ", double a%d", i);
    str_addz(&text, ")\n{\n    double sum = 0;\n#pragma omp parallel for reduction(+ : sum)\n"
                    "    for (int i = 0; i < n; i++)\n        sum += x[i] * (1");
    for (int i = 0; i < SUMS; i++)
        str_addf(&text, " + a%d * a%d", i, i);
    str_addz(&text, ");\n    return sum;\n}\n");
    CHECK(devices_open(&(devices_desc){.num_threads = RG_MAX_THREADS}, &rg) == RG_OK);
    rg_status status = rg_module_from_c(str_view(&text), NULL, &module);
    str_free(&text);
    if (status == RG_OK) {
        rg_args *args = args_of(rg, kernel_of(module, "combine"));
        double data[N] = {1, 2, 3}, slope = 0;
        rg_array *x = array_of(rg, RG_F64, 1, N, 0, data), *sum;
        CHECK(rg_args_set_int(args, RG_STR("n"), N) == RG_OK && rg_args_set_array(args, RG_STR("x"), x) == RG_OK);
        rg_array *companion[SUMS];
        for (int i = 0; i < SUMS; i++) {
            companion[i] = array_of(rg, RG_F64, 0, 0, 0, NULL);
            CHECK(rg_array_require(rg, companion[i], RG_ADJOINT) == RG_OK);
            CHECK(rg_args_set_float_at(args, 2 + (uint32_t)i, i) == RG_OK &&
                  rg_args_set_companion_at(args, 2 + (uint32_t)i, companion[i]) == RG_OK);
        }
        CHECK(rg_args_get_array(args, RG_STR("return"), &sum) == RG_OK && rg_array_require(rg, sum, RG_ADJOINT) == RG_OK);
        CHECK(rg_array_fill(rg, sum, RG_ADJOINT, 1) == RG_OK);
        CHECK(rg_launch(rg, args, RG_FORWARD_VJP) == RG_OK);
        for (int i = 0; i < SUMS; i++) {
            CHECK(rg_array_read(rg, companion[i], RG_ADJOINT, &slope, sizeof slope) == RG_OK && slope == 6 * 2 * i);
        }
        rg_args_destroy(args);
        for (int i = 0; i < SUMS; i++)
            rg_array_destroy(companion[i]);
        rg_array_destroy(x);
        rg_module_destroy(module);
    } else {
        CHECK(status == RG_UNSUPPORTED);
    }
    rg_queue_destroy(rg);
}

static void
test_misuse_of_arrays(rg_queue *rg)
{
    rg_array *a;
    rg_array_desc desc = RG_INIT(rg_array_desc);
    FAILS(rg_array_create(rg, NULL, &a), RG_INVALID, "desc is NULL");
    FAILS(rg_array_create(NULL, &desc, &a), RG_INVALID, "queue is NULL");
    FAILS(rg_array_create(rg, &desc, &a), RG_INVALID, "needs a dtype");
    desc = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 9);
    FAILS(rg_array_create(rg, &desc, &a), RG_INVALID, "rank 9");
    desc = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {-1});
    FAILS(rg_array_create(rg, &desc, &a), RG_INVALID, "negative");
    desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 2, .shape = {INT64_MAX, 4});
    FAILS(rg_array_create(rg, &desc, &a), RG_INVALID, "addressed");
    desc = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {4}, .adjoint = true);
    FAILS(rg_array_create(rg, &desc, &a), RG_INVALID, "only floats");
    CHECK(a == NULL);
    a = array_of(rg, RG_F32, 1, 4, 0, NULL);
    float block[4];
    FAILS(rg_array_read(rg, a, RG_PRIMAL, block, 8), RG_INVALID, "16 bytes");
    FAILS(rg_array_read(rg, a, RG_ADJOINT, block, 16), RG_INVALID, "has no adjoint");
    FAILS(rg_array_read(rg, a, 8, block, 16), RG_INVALID, "plane 8");
    FAILS(rg_array_attach(a, RG_PRIMAL, block), RG_INVALID, "not a companion");
    if (devices_share_memory(rg)) {
        CHECK(rg_array_attach(a, RG_ADJOINT, block) == RG_OK);
        CHECK(rg_array_fill(rg, a, RG_ADJOINT, 2) == RG_OK);
        CHECK(block[3] == 2);
    }
    CHECK(rg_array_attach(a, RG_ADJOINT, NULL) == RG_OK);
    FAILS(rg_array_fill(rg, a, RG_ADJOINT, 2), RG_INVALID, "has no adjoint");
    rg_array_destroy(a);
#ifndef NDEBUG
    rg_array_info info = RG_INIT(rg_array_info);
    FAILS(rg_array_get_info(a, &info), RG_INVALID, "not a live handle");
    FAILS(rg_array_fill(rg, (rg_array *)rg, 0, 1), RG_INVALID, "not a live handle");
    rg_array_destroy(a); /* nothing happens */
#endif
}

static void
test_misuse_of_modules(rg_queue *rg, rg_module *module)
{
    rg_module *m;
    rg_kernel *k;
    FAILS(rg_module_load(RG_STR("/nowhere/kernels.c"), NULL, &m), RG_NOT_FOUND, "no such file");
    FAILS(rg_module_from_ir(RG_STR("kernel @f( {"), NULL, &m), RG_COMPILE, "source.ir:1");
    FAILS(rg_module_from_ir((rg_str){0}, NULL, &m), RG_INVALID, "text is NULL");
    CHECK(m == NULL);
    FAILS(rg_module_get_kernel(module, RG_STR("nothing"), &k), RG_NOT_FOUND, "scale, dot");
    CHECK(k == NULL);
    FAILS(rg_module_get_kernel(module, RG_STR("scale"), NULL), RG_INVALID, "kernel is NULL");
    FAILS(rg_module_get_kernel(module, (rg_str){"scale\0ly", 8}, &k), RG_INVALID, "a zero byte inside");
    FAILS(rg_module_get_kernel(NULL, RG_STR("scale"), &k), RG_INVALID, "module is NULL");
}

static void
test_broadcast(rg_queue *rg, rg_kernel *scale, rg_args *args, rg_array *y)
{
    int64_t none = 0;
    rg_array_desc broadcast = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {5}, .strides = &none, .data = &(double){0});
    rg_array *same;
    CHECK(rg_array_create(rg, &broadcast, &same) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), same) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("x"), y) == RG_OK);
    CHECK(rg_args_set_array(args, RG_STR("y"), same) == RG_OK);
    FAILS(rg_launch(rg, args, RG_FORWARD), RG_INVALID, "share memory");
    rg_array_destroy(same);
}

/* A window that moves over memory may be read, but not written. */
static void
test_windows(rg_queue *rg, rg_module *module)
{
    double memory[8] = {0};
    rg_args *args = args_of(rg, kernel_of(module, "mark"));
    for (int64_t step = 1; step <= 2; step++) {
        rg_array *x;
        rg_array_desc window = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 2, .shape = {3, 2}, .strides = (int64_t[]){step, 1},
                                       .data = memory);
        CHECK(rg_array_create(rg, &window, &x) == RG_OK && rg_args_set_array(args, RG_STR("x"), x) == RG_OK);
        if (step == 1)
            FAILS(rg_launch(rg, args, RG_FORWARD), RG_INVALID, "share memory: its strides are smaller");
        else
            CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
        rg_array_destroy(x);
    }
    rg_args_destroy(args);
}

static void
test_misuse_of_args(rg_queue *rg, rg_module *module)
{
    rg_kernel *mix = kernel_of(module, "mix"), *scale = kernel_of(module, "scale");
    rg_args *args = args_of(rg, mix), *other = args_of(rg, scale);
    uint32_t index;
    rg_array *x = array_of(rg, RG_F64, 1, 4, 0, NULL),
             *matrix = array_of(rg, RG_F64, 2, 2, 2, NULL);
    FAILS(rg_args_create(rg, NULL, &args), RG_INVALID, "kernel is NULL");
    args = args_of(rg, mix);
    FAILS(rg_kernel_find_param(mix, RG_STR("zz"), &index), RG_NOT_FOUND, "f, b, u, h, r.m, q");
    FAILS(rg_args_set_int(args, RG_STR("zz"), 1), RG_NOT_FOUND, "no parameter `zz`");
    FAILS(rg_args_set_int_at(args, 99, 1), RG_INVALID, "there is no number 99");
    FAILS(rg_args_set_int(args, RG_STR("u"), 256), RG_INVALID, "256 does not fit");
    FAILS(rg_args_set_int(args, RG_STR("u"), -1), RG_INVALID, "-1 does not fit");
    FAILS(rg_args_set_int(args, RG_STR("b"), 2), RG_INVALID, "2 does not fit");
    FAILS(rg_args_set_float(args, RG_STR("u"), 1), RG_INVALID, "as an integer");
    FAILS(rg_args_set_int(args, RG_STR("q"), 1), RG_INVALID, "an array, not a scalar");
    FAILS(rg_args_set_array(args, RG_STR("f"), x), RG_INVALID, "a scalar, not an array");
    FAILS(rg_args_set_array(args, RG_STR("q"), x), RG_INVALID, "is i32, the array is f64");
    FAILS(rg_args_set_array(other, RG_STR("x"), matrix), RG_INVALID, "rank 1, the array rank 2");
    FAILS(rg_args_set_companion(args, RG_STR("u"), x), RG_INVALID, "is u8, the array is f64");
    FAILS(rg_args_set_companion(other, RG_STR("k"), x), RG_INVALID, "must have one element");
    FAILS(rg_launch(rg, NULL, RG_FORWARD), RG_INVALID, "args is NULL");
    FAILS(rg_launch(rg, other, RG_FORWARD), RG_INVALID, "parameter `n` of kernel `scale` is not set");
    CHECK(rg_args_set_int(other, RG_STR("n"), 5) == RG_OK);
    CHECK(rg_args_set_float(other, RG_STR("k"), 1) == RG_OK);
    CHECK(rg_args_set_array(other, RG_STR("x"), x) == RG_OK);
    FAILS(rg_launch(rg, other, RG_FORWARD), RG_INVALID, "`y` of kernel `scale` is not set");
    rg_array *y = array_of(rg, RG_F64, 1, 5, 0, NULL);
    CHECK(rg_args_set_array(other, RG_STR("y"), y) == RG_OK);
    FAILS(rg_launch(rg, other, RG_FORWARD), RG_INVALID,
          "`x` of kernel `scale`: axis 0 must have 5 elements, the array has 4");
    CHECK(rg_args_set_array(other, RG_STR("x"), NULL) == RG_OK);
    FAILS(rg_launch(rg, other, RG_FORWARD), RG_INVALID, "`x` of kernel `scale` is not set");
    if (devices_share_memory(rg))
        test_broadcast(rg, scale, other, y), test_windows(rg, module);
    rg_args_destroy(args);
    rg_args_destroy(other);
#ifndef NDEBUG
    FAILS(rg_launch(rg, other, RG_FORWARD), RG_INVALID, "not a live handle");
#endif
    rg_array_destroy(x);
    rg_array_destroy(y);
    rg_array_destroy(matrix);
}

static void
test_lifetimes(const char *device)
{
    devices_desc desc = {.device = rg_str_of(device)};
    rg_queue *rg;
    rg_module *module;
    CHECK(devices_open(&desc, &rg) == RG_OK);
    CHECK(rg_module_from_ir(kernels(), NULL, &module) == RG_OK);
    rg_kernel *kernel = kernel_of(module, "assertion");
    rg_args *args = args_of(rg, kernel);
    CHECK(rg_args_set_int(args, RG_STR("n"), 1) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    CHECK(rg_args_set_int(args, RG_STR("n"), 0) == RG_OK);
    if (devices_wait(rg)) {
        FAILS(rg_launch(rg, args, RG_FORWARD), RG_ASSERT, "n > 0");
    } else {
        CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
        FAILS(rg_queue_sync(rg), RG_ASSERT, "n > 0");
    }
    CHECK(rg_args_set_int(args, RG_STR("n"), 2) == RG_OK);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    rg_module_destroy(module);
#ifndef NDEBUG
    rg_args *none;
    FAILS(rg_args_create(rg, kernel, &none), RG_INVALID, "not a live handle"); /* it was lent */
#endif
    rg_args_destroy(args);
    rg_queue_destroy(rg);
}

/* -- every allocation fails in turn ------------------------------------------------------------ */

static bool
use_everything(const char *device)
{
    devices_desc desc = {.device = rg_str_of(device)};
    rg_queue *rg = NULL;
    rg_module *module = NULL;
    rg_kernel *scale;
    rg_args *args = NULL;
    double x[4] = {1, 2, 3, 4}, y[4] = {0};
    rg_array_desc a = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {4}, .data = x, .adjoint = true);
    rg_array_desc b = a;
    b.data = y;
    rg_array *ax = NULL, *ay = NULL;
    bool ok = !devices_open(&desc, &rg) && !rg_module_from_ir(kernels(), NULL, &module) &&
              !rg_module_get_kernel(module, RG_STR("scale"), &scale) &&
              !rg_args_create(rg, scale, &args) && !devices_array(rg, &a, &ax) &&
              !devices_array(rg, &b, &ay) && !rg_args_set_int(args, RG_STR("n"), 4) &&
              !rg_args_set_int(args, RG_STR("k"), 1) && !rg_args_set_array(args, RG_STR("x"), ax) &&
              !rg_args_set_array(args, RG_STR("y"), ay) && !rg_launch(rg, args, RG_FORWARD) &&
              !rg_launch(rg, args, RG_FORWARD_VJP) && !rg_queue_sync(rg);
    rg_args_destroy(args);
    rg_array_destroy(ax);
    rg_array_destroy(ay);
    rg_module_destroy(module);
    rg_queue_destroy(rg);
    return ok;
}

/* Looks for crashes, corruption and wrong statuses. What a transform holds beside its arena may be
 * lost when memory runs out: that is not counted as a leak. */
static void
test_failed_allocations(const char *device)
{
#ifdef __SANITIZE_ADDRESS__
    __lsan_disable();
#endif
    for (long n = 1;; n += 1 + n / 16) {
        mem_fail_after(n);
        bool ok = use_everything(device);
        mem_fail_after(0);
        if (ok)
            break;
        if (strstr(rg_error_message(), "out of memory") == NULL &&
            strstr(rg_error_message(), "no memory") == NULL) {
            CHECK(!"a failed allocation is reported as such");
            break;
        }
    }
#ifdef __SANITIZE_ADDRESS__
    __lsan_enable();
#endif
    CHECK(use_everything(device));
}

#if RG_HAVE_CLANG
/* A file with errors elsewhere and a header that is not there, which is looked at closely. */
static bool
compile_messy_c(rg_queue *rg, const char *kernel)
{
    static const char source[] = "#include \"missing.h\"\n#ifdef LOUD\n#define MORE 2\n#else\n#define MORE 1\n#endif\n"
                                 "#ifndef QUIET\ntypedef missing_t vec[3];\n#endif\nstatic int f(void) { return nothing; }\n"
                                 "static double square(double x) { return x * x; }\n"
                                 "static double open(double x) { return x * MORE; }\n"
                                 "static double lost(double x) { vec v; return x; }\n";
    rg_module *module = NULL;
    rg_kernel *found;
    bool ok = !rg_module_from_c(RG_STR(source), NULL, &module) &&
              !rg_module_get_kernel(module, rg_str_of(kernel), &found);
    rg_module_destroy(module);
    return ok;
}

static void
test_failed_allocations_in_c(void)
{
    static const char *const names[] = {"square", "open", "lost"};
    static const char *const says[] = {"", "E0403", "E0400"};
    rg_queue *rg;
    CHECK(devices_open(&(devices_desc){.device = RG_STR("interp")}, &rg) == RG_OK);
#ifdef __SANITIZE_ADDRESS__
    __lsan_disable();
#endif
    for (size_t i = 0; i < 3; i++) {
        for (long n = 1;; n++) {
            mem_fail_after(n);
            bool ok = compile_messy_c(rg, names[i]);
            mem_fail_after(0);
            if (ok || !strstr(rg_error_message(), "out of memory"))
                break;
        }
        CHECK(compile_messy_c(rg, names[i]) == (i == 0));
        CHECK(i == 0 || strstr(rg_error_message(), says[i]));
    }
#ifdef __SANITIZE_ADDRESS__
    __lsan_enable();
#endif
    rg_queue_destroy(rg);
}
#endif

/* -- what a launch costs ----------------------------------------------------------------------- */

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void
test_overhead(rg_queue *rg, rg_module *module, const char *device)
{
    rg_kernel *empty = kernel_of(module, "empty");
    rg_args *args = args_of(rg, empty);
    CHECK(rg_launch(rg, args, RG_FORWARD) == RG_OK);
    double best = 1;
    for (int round = 0; round < 20; round++) {
        double start = now();
        for (int i = 0; i < 200; i++)
            if (rg_launch(rg, args, RG_FORWARD))
                check_failures++;
        double each = (now() - start) / 200;
        best = each < best ? each : best;
    }
    printf("an empty launch on %s takes %.2f us\n", device, best * 1e6);
    if (strcmp(device, "cpu") == 0)
        CHECK(best < 5e-6);
    rg_args_destroy(args);
}

static void
test_device(const char *device)
{
    devices_desc desc = {.device = rg_str_of(device)};
    rg_queue *rg;
    rg_module *module;
    CHECK(devices_open(&desc, &rg) == RG_OK);
    CHECK(strcmp(devices_name(rg), device) == 0);
    CHECK(rg_module_from_ir(kernels(), NULL, &module) == RG_OK);
    test_launches(rg, module);
    test_results(rg, module);
    test_strides(rg, module);
    test_read_twice(rg, module);
    test_lists(rg, module);
    test_c(rg);
    test_inner_arrays(rg);
    test_set_data(rg);
    test_extents(rg);
    test_files(rg);
    test_misuse_of_arrays(rg);
    test_misuse_of_shapes(rg);
    test_builder_races(rg);
    test_misuse_of_modules(rg, module);
    test_misuse_of_args(rg, module);
    test_overhead(rg, module, device);
    rg_module_destroy(module);
    rg_queue_destroy(rg);
    test_budget(device);
    test_lifetimes(device);
    test_failed_allocations(device);
}

int
main(void)
{
    test_misuse_of_queues();
    test_many_threads();
#if RG_HAVE_CLANG
    test_failed_allocations_in_c();
#endif
    for (const char *const *device = devices_to_test(); *device; device++) {
        check_on = *device;
        test_device(check_on);
    }
    return check_done();
}
