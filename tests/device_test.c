/* What devices may do differently: memory of their own, launches that return at once, graphs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api_check.h"
#include "devices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* walk: x[i] to its sine, count[0] times; sum: of x into out; positive: asserts it of x[0] */
static const char source[] =
    "kernel @walk(%n: i64, %x: buf<f64,1>, %count: buf<i32,1>, %y: buf<f64,1>) shape {\n"
    "  %one: i64 = const 1  yield %n, %one, %n\n"
    "} {\n"
    "  %lo: i64 = const 0\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %a: f64 = load %x[%i]  %m: i32 = load %count[%lo]  %z: i32 = const 0\n"
    "    %r: f64, %end: i32 = loop (%v: f64 = %a, %t: i32 = %z) {\n"
    "      %done: bool = ge %t, %m  exit_if %done (%v, %t)\n"
    "      %s: f64 = sin %v  %u: i32 = const 1  %t1: i32 = add %t, %u\n"
    "      yield %s, %t1\n"
    "    }\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @longer(%count: buf<i32,1>) {\n"
    "  %z: i64 = const 0  %one: i32 = const 1  %c: i32 = load %count[%z]  %d: i32 = add %c, %one\n"
    "  store %count[%z], %d\n"
    "  yield\n"
    "}\n"
    "kernel @positive(%x: buf<f64,1>) {\n"
    "  %z: i64 = const 0  %zero: f64 = const 0  %a: f64 = load %x[%z]  %ok: bool = gt %a, %zero\n"
    "  assert %ok, \"x is positive\"\n"
    "  yield\n"
    "}\n"
    "kernel @shift(%by: i64, %x: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %lo: i64 = const 0  %n: i64 = extent %y, 0\n"
    "  parallel (%i: i64) = (%lo) to (%n) {\n"
    "    %j: i64 = add %i, %by  %a: f64 = load %x[%j]  store %y[%i], %a\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @first(%x: buf<f64,1>) { %z: i64 = const 0  %a: f64 = load %x[%z]  yield %a }\n";

enum { N = 5 };

typedef struct setup {
    rg_queue *rg;
    rg_module *module;
    rg_kernel *walk;
    rg_args *args;
    rg_array *x, *count, *y;
} setup;

static rg_array *
make(setup *s, rg_dtype dtype, int64_t n, const void *data)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = dtype, .rank = 1, .shape = {n}, .adjoint = dtype == RG_F64, .name = RG_STR("made"));
    rg_array *a;
    rg_array_info info = RG_INIT(rg_array_info);
    GOOD(rg_array_create(s->rg, &desc, &a));
    GOOD(rg_array_get_info(a, &info));
    GOOD(rg_array_write(s->rg, a, RG_PRIMAL, data, info.bytes));
    return a;
}

static rg_kernel *
kernel_of(const setup *s, const char *name)
{
    rg_kernel *kernel;
    GOOD(rg_module_get_kernel(s->module, rg_str_of(name), &kernel));
    return kernel;
}

static setup begin_with(const devices_desc *desc, const rg_module_desc *code);

static setup
begin(const char *device)
{
    devices_desc desc = {.device = rg_str_of(device)};
    return begin_with(&desc, NULL);
}

static setup
begin_with(const devices_desc *desc, const rg_module_desc *code)
{
    static const double x[N] = {0.1, 0.2, 0.3, 0.4, 0.5}, zeros[N] = {0};
    setup s = {0};
    GOOD(devices_open(desc, &s.rg));
    GOOD(rg_module_from_ir(rg_str_of(source), code, &s.module));
    s.walk = kernel_of(&s, "walk");
    GOOD(rg_args_create(s.rg, s.walk, &s.args));
    s.x = make(&s, RG_F64, N, x);
    s.count = make(&s, RG_I32, 1, &(int32_t){3});
    s.y = make(&s, RG_F64, N, zeros);
    GOOD(rg_args_set_int(s.args, RG_STR("n"), N));
    GOOD(rg_args_set_array(s.args, RG_STR("x"), s.x));
    GOOD(rg_args_set_array(s.args, RG_STR("count"), s.count));
    GOOD(rg_args_set_array(s.args, RG_STR("y"), s.y));
    return s;
}

static void
end(setup *s)
{
    rg_array_destroy(s->x);
    rg_array_destroy(s->count);
    rg_array_destroy(s->y);
    rg_args_destroy(s->args);
    rg_module_destroy(s->module);
    rg_queue_destroy(s->rg);
}

static double
first_of(const setup *s, rg_array *a, unsigned plane)
{
    double v[N];
    GOOD(rg_array_read(s->rg, a, plane, v, sizeof v));
    return v[0];
}

static uint64_t
version(const rg_array *a)
{
    rg_array_info info = RG_INIT(rg_array_info);
    GOOD(rg_array_get_info(a, &info));
    return info.version;
}

/* x after so many sines, and the derivative */
static void
walked(double x, int count, double *value, double *slope)
{
    *slope = 1;
    for (int t = 0; t < count; t++) {
        *slope *= cos(x);
        x = sin(x);
    }
    *value = x;
}

static bool
near(double a, double b)
{
    return fabs(a - b) < 1e-14;
}

/* -- memory ------------------------------------------------------------------------------------ */

static void
test_memory(const char *device)
{
    setup s = begin(device);
    double got[N], *mapped, *again, block[N] = {0};
    bool shared = devices_share_memory(s.rg);
    /* mapped to read, and to write, at once */
    GOOD(rg_array_map(s.rg, s.x, RG_PRIMAL, false, (void **)&mapped));
    CHECK(mapped[1] == 0.2, "%s", device);
    GOOD(rg_array_map(s.rg, s.x, RG_PRIMAL, true, (void **)&again));
    CHECK(again == mapped, "%s", device);
    again[1] = 7;
    rg_array_unmap(s.x, RG_PRIMAL);
    rg_array_unmap(s.x, RG_PRIMAL);
    rg_array_unmap(s.x, RG_PRIMAL); /* one too many */
    GOOD(rg_array_read(s.rg, s.x, RG_PRIMAL, got, sizeof got));
    CHECK(got[0] == 0.1 && got[1] == 7, "%s: %g", device, got[1]);
    GOOD(rg_array_map(s.rg, s.x, RG_ADJOINT, true, (void **)&mapped));
    mapped[4] = 3;
    rg_array_unmap(s.x, RG_ADJOINT);
    GOOD(rg_array_read(s.rg, s.x, RG_ADJOINT, got, sizeof got));
    CHECK(got[3] == 0 && got[4] == 3, "%s", device);
    /* copies */
    uint64_t before = version(s.y);
    GOOD(rg_array_copy(s.rg, s.y, RG_PRIMAL, s.x, RG_PRIMAL));
    CHECK(first_of(&s, s.y, RG_PRIMAL) == 0.1 && version(s.y) > before, "%s", device);
    GOOD(rg_array_copy(s.rg, s.y, RG_ADJOINT, s.x, RG_PRIMAL));
    CHECK(first_of(&s, s.y, RG_ADJOINT) == 0.1, "%s", device);
    FAILS(rg_array_copy(s.rg, s.y, RG_PRIMAL, s.count, RG_PRIMAL), RG_INVALID, "do not fit");
    FAILS(rg_array_copy(s.rg, s.y, RG_PRIMAL, s.y, RG_PRIMAL), RG_INVALID, "overlaps");
    FAILS(rg_array_copy(s.rg, s.y, RG_TANGENT, s.x, RG_PRIMAL), RG_INVALID, "has no tangent");
    /* the caller's memory */
    rg_array *a;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .data = block);
    if (shared) {
        GOOD(rg_array_create(s.rg, &desc, &a));
        GOOD(rg_array_attach(s.x, RG_TANGENT, block));
        rg_array_destroy(a);
    } else {
        FAILS(rg_array_create(s.rg, &desc, &a), RG_INVALID, "rg_array_write");
        FAILS(rg_array_attach(s.x, RG_TANGENT, block), RG_INVALID, "rg_array_require");
    }
    end(&s);
}

/* Elements with gaps between them, in memory that kernels reach: every second of another array, backwards. */
static void
test_gaps(const char *device)
{
    static const double start[2 * N] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    setup s = begin(device);
    rg_array *all = make(&s, RG_F64, 2 * N, start), *some;
    rg_array_info info = RG_INIT(rg_array_info);
    int64_t step = -2;
    double got[2 * N], *mapped;
    GOOD(rg_array_get_info(all, &info));
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N}, .strides = &step, .adjoint = true,
                          .data = (double *)info.data[RG_PRIMAL] + 9);
    GOOD(rg_array_create(s.rg, &desc, &some));
    GOOD(rg_array_read(s.rg, some, RG_PRIMAL, got, N * sizeof *got));
    CHECK(got[0] == 9 && got[4] == 1, "%s: %g %g", device, got[0], got[4]);
    GOOD(rg_array_map(s.rg, some, RG_PRIMAL, true, (void **)&mapped));
    CHECK(mapped[0] == 9 && mapped[-8] == 1, "%s", device);
    mapped[-2] = 70;
    rg_array_unmap(some, RG_PRIMAL);
    GOOD(rg_array_copy(s.rg, s.y, RG_PRIMAL, some, RG_PRIMAL));
    CHECK(first_of(&s, s.y, RG_PRIMAL) == 9, "%s", device);
    GOOD(rg_array_fill(s.rg, some, RG_PRIMAL, 5));
    GOOD(rg_array_read(s.rg, all, RG_PRIMAL, got, sizeof got));
    CHECK(got[9] == 5 && got[8] == 8 && got[1] == 5 && got[0] == 0, "%s", device);
    GOOD(rg_array_write(s.rg, some, RG_PRIMAL, start, N * sizeof *start));
    /* as an argument */
    GOOD(rg_args_set_array(s.args, RG_STR("y"), some));
    GOOD(rg_launch(s.rg, s.args, RG_FORWARD));
    GOOD(rg_array_read(s.rg, all, RG_PRIMAL, got, sizeof got));
    double value, slope;
    walked(0.1, 3, &value, &slope);
    CHECK(near(got[9], value) && got[8] == 8, "%s: %g", device, got[9]);
    GOOD(rg_args_set_array(s.args, RG_STR("x"), all));
    GOOD(rg_args_set_int(s.args, RG_STR("n"), N));
    FAILS(rg_launch(s.rg, s.args, RG_FORWARD), RG_INVALID, "axis 0 must have 5");
    rg_array_destroy(some);
    rg_array_destroy(all);
    end(&s);
}

/* Destroyed while mapped, and right after a launch. */
static void
test_ends(const char *device)
{
    setup s = begin(device);
    void *mapped;
    GOOD(rg_array_map(s.rg, s.y, RG_PRIMAL, true, &mapped));
    GOOD(rg_launch(s.rg, s.args, RG_FORWARD));
    end(&s);
}

static const char records_source[] = "struct body { double mass; int kind; double pos; };\n"
                                     "void push(int n, struct body p[n]) {\n"
                                     "    for (int i = 0; i < n; i++) p[i].pos += p[i].mass * p[i].kind;\n"
                                     "}\n";

struct body {
    double mass;
    int32_t kind;
    double pos;
};

static void
test_records(const char *device)
{
    setup s = begin(device);
    struct body p[3] = {{1, 1, 10}, {2, 0, 20}, {3, 2, 30}}, q[6];
    int64_t shape = 3, other = 2, two = 2;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_status status = rg_module_from_c(rg_str_of(records_source), NULL, &module);
    if (status == RG_UNSUPPORTED) {
        end(&s);
        return;
    }
    GOOD(status);
    GOOD(rg_module_get_kernel(module, RG_STR("push"), &kernel));
    GOOD(rg_args_create(s.rg, kernel, &args));
    GOOD(rg_args_set_int(args, RG_STR("n"), 3));
    FAILS(rg_args_read_records(s.rg, args, RG_STR("p"), p, 1, &shape, NULL), RG_INVALID, "is not set");
    GOOD(rg_args_set_records(s.rg, args, RG_STR("p"), p, 1, &shape, NULL));
    GOOD(rg_launch(s.rg, args, RG_FORWARD));
    GOOD(rg_args_read_records(s.rg, args, RG_STR("p"), p, 1, &shape, NULL));
    CHECK(p[0].pos == 11 && p[1].pos == 20 && p[2].pos == 36 && p[2].kind == 2, "%s: %g", device, p[2].pos);
    /* into others, with gaps */
    memset(q, 0, sizeof q);
    GOOD(rg_args_read_records(s.rg, args, RG_STR("p"), q, 1, &shape, &two));
    CHECK(q[4].pos == 36 && q[4].mass == 3 && q[3].pos == 0, "%s", device);
    FAILS(rg_args_read_records(s.rg, args, RG_STR("p"), q, 1, &other, NULL), RG_INVALID, "another shape");
    rg_args_destroy(args);
    rg_module_destroy(module);
    end(&s);
}

/* -- launches that return at once -------------------------------------------------------------- */

typedef struct single {
    rg_kernel *kernel;
    rg_args *args;
} single;

static single
of_array(const setup *s, const char *name, const char *param, rg_array *a)
{
    single k = {.kernel = kernel_of(s, name)};
    GOOD(rg_args_create(s->rg, k.kernel, &k.args));
    GOOD(rg_args_set_array(k.args, rg_str_of(param), a));
    return k;
}

static void
test_faults(const char *device)
{
    setup s = begin(device);
    single k = of_array(&s, "positive", "x", s.x);
    double v[N];
    GOOD(rg_launch(s.rg, k.args, RG_FORWARD));
    GOOD(rg_queue_sync(s.rg));
    GOOD(rg_array_fill(s.rg, s.x, RG_PRIMAL, -1));
    for (int how = 0; how < 3; how++) {
        rg_status status = rg_launch(s.rg, k.args, RG_FORWARD);
        void *data;
        if (status) { /* it has waited, or another launch before it has failed by now */
            CHECK(status == RG_ASSERT, "%s", device);
        } else {
            status = how == 0   ? rg_queue_sync(s.rg)
                     : how == 1 ? rg_array_read(s.rg, s.y, RG_PRIMAL, v, sizeof v)
                                : rg_array_map(s.rg, s.y, RG_PRIMAL, false, &data);
            CHECK(status == RG_ASSERT, "%s, %d: %s", device, how, rg_status_name(status));
        }
        CHECK(strstr(rg_error_message(), "kernel `positive` (forward)") && strstr(rg_error_message(), "x is positive"),
              "%s: %s", device, rg_error_message());
        GOOD(rg_queue_sync(s.rg)); /* told once */
    }
    /* others go on */
    GOOD(rg_array_fill(s.rg, s.x, RG_PRIMAL, 1));
    GOOD(rg_launch(s.rg, k.args, RG_FORWARD));
    GOOD(rg_launch(s.rg, s.args, RG_FORWARD));
    GOOD(rg_queue_sync(s.rg));
    rg_args_destroy(k.args);
    end(&s);
}

/* Subscripts outside of arrays, in a launch and in a gradient. */
static void
test_checked(const char *device)
{
    devices_desc desc = {.device = rg_str_of(device)};
    rg_module_desc code = RG_DESC(rg_module_desc, .checked = true);
    setup s = begin_with(&desc, &code);
    single k = of_array(&s, "shift", "x", s.x);
    GOOD(rg_args_set_array(k.args, RG_STR("y"), s.y));
    for (int by = -1; by < 2; by++) {
        GOOD(rg_args_set_int(k.args, RG_STR("by"), by));
        for (int gradient = 0; gradient < 2; gradient++) {
            rg_status status = gradient ? rg_launch(s.rg, k.args, RG_FORWARD_VJP) : rg_launch(s.rg, k.args, RG_FORWARD);
            if (!status)
                status = rg_queue_sync(s.rg);
            CHECK(status == (by ? RG_ASSERT : RG_OK), "%s, %d: %s", device, by, rg_status_name(status));
            CHECK(!by || (strstr(rg_error_message(), "kernel `shift`") && strstr(rg_error_message(), "`x`")), "%s: %s",
                  device, rg_error_message());
        }
    }
    rg_args_destroy(k.args);
    end(&s);
}

/* -- graphs ------------------------------------------------------------------------------------ */

/* y = walk(x) and its gradient, then one more step for the next time */
static rg_graph *
record(setup *s, const single *longer)
{
    rg_graph *graph;
    double v[N];
    int32_t count;
    uint64_t before = version(s->y);
    GOOD(rg_graph_begin(s->rg));
    GOOD(rg_array_fill(s->rg, s->x, RG_ADJOINT, 0));
    GOOD(rg_array_copy(s->rg, s->y, RG_ADJOINT, s->x, RG_PRIMAL)); /* overwritten by the next */
    GOOD(rg_array_fill(s->rg, s->y, RG_ADJOINT, 1));
    GOOD(rg_launch(s->rg, s->args, RG_FORWARD));
    GOOD(rg_launch(s->rg, s->args, RG_VJP));
    GOOD(rg_launch(s->rg, longer->args, RG_FORWARD));
    FAILS(rg_array_read(s->rg, s->y, RG_PRIMAL, v, sizeof v), RG_INVALID, "rg_array_read cannot be recorded");
    GOOD(rg_graph_end(s->rg, &graph));
    GOOD(rg_array_read(s->rg, s->y, RG_PRIMAL, v, sizeof v));
    GOOD(rg_array_read(s->rg, s->count, RG_PRIMAL, &count, sizeof count));
    CHECK(v[0] == 0 && count == 3 && version(s->y) == before, "%s: recording does nothing", check_on);
    return graph;
}

static void
test_graph(const char *device)
{
    setup s = begin(device);
    single longer = of_array(&s, "longer", "count", s.count);
    rg_graph *graph = record(&s, &longer);
    for (int32_t time = 0; time < 4; time++) {
        double value, slope;
        int32_t count = -1;
        uint64_t before = version(s.y), of_x = version(s.x);
        walked(0.1, 3 + time, &value, &slope);
        GOOD(rg_graph_launch(graph));
        CHECK(version(s.y) > before && version(s.x) == of_x, "%s", device);
        GOOD(rg_array_read(s.rg, s.count, RG_PRIMAL, &count, sizeof count));
        CHECK(count == 4 + time, "%s: %d", device, count);
        CHECK(near(first_of(&s, s.y, RG_PRIMAL), value), "%s", device);
        CHECK(near(first_of(&s, s.x, RG_ADJOINT), slope), "%s, %d steps", device, 3 + time);
    }
    /* other contents; other scalars only in later recordings */
    double value, slope;
    GOOD(rg_array_fill(s.rg, s.x, RG_PRIMAL, 0.7));
    GOOD(rg_array_write(s.rg, s.count, RG_PRIMAL, &(int32_t){1}, sizeof(int32_t)));
    GOOD(rg_args_set_int(s.args, RG_STR("n"), 1));
    GOOD(rg_graph_launch(graph));
    walked(0.7, 1, &value, &slope);
    double all[N];
    GOOD(rg_array_read(s.rg, s.y, RG_PRIMAL, all, sizeof all));
    CHECK(near(all[0], value) && near(all[N - 1], value), "%s: %g", device, all[N - 1]);
    CHECK(near(first_of(&s, s.x, RG_ADJOINT), slope), "%s", device);
    /* the graph keeps what it uses */
    rg_args_destroy(longer.args);
    end(&s);
    GOOD(rg_graph_launch(graph));
    rg_graph_destroy(graph);
    rg_graph_destroy(NULL);
}

static void
test_graph_faults(const char *device)
{
    setup s = begin(device);
    single k = of_array(&s, "positive", "x", s.x);
    rg_graph *graph;
    GOOD(rg_graph_begin(s.rg));
    GOOD(rg_launch(s.rg, k.args, RG_FORWARD));
    GOOD(rg_graph_end(s.rg, &graph));
    GOOD(rg_graph_launch(graph));
    GOOD(rg_queue_sync(s.rg));
    GOOD(rg_array_fill(s.rg, s.x, RG_PRIMAL, -1));
    rg_status status = rg_graph_launch(graph);
    if (!status)
        status = rg_queue_sync(s.rg);
    CHECK(status == RG_ASSERT && strstr(rg_error_message(), "kernel `positive`"), "%s: %s", device, rg_error_message());
    /* other memory */
    GOOD(rg_array_fill(s.rg, s.x, RG_PRIMAL, 1));
    GOOD(rg_array_require(s.rg, s.x, RG_TANGENT));
    FAILS(rg_graph_launch(graph), RG_INVALID, "other memory than when the graph was recorded");
    rg_graph_destroy(graph);
#ifndef NDEBUG
    FAILS(rg_graph_launch(graph), RG_INVALID, "not a live handle");
#endif
    rg_args_destroy(k.args);
    end(&s);
}

static void
test_graph_misuse(const char *device)
{
    setup s = begin(device);
    rg_graph *graph, *other;
    rg_array *a, *result;
    rg_args *args;
    double v[N] = {0};
    void *data, *mapped;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {N});
    GOOD(rg_graph_begin(s.rg));
    GOOD(rg_graph_end(s.rg, &other)); /* an empty one */
    GOOD(rg_graph_launch(other));
    GOOD(rg_array_map(s.rg, s.y, RG_PRIMAL, true, &mapped));
    FAILS(rg_graph_begin(NULL), RG_INVALID, "queue is NULL");
    FAILS(rg_graph_end(s.rg, &graph), RG_INVALID, "no graph is being recorded");
    FAILS(rg_graph_end(s.rg, NULL), RG_INVALID, "graph is NULL");
    FAILS(rg_graph_launch(NULL), RG_INVALID, "graph is NULL");
    GOOD(rg_graph_begin(s.rg));
    FAILS(rg_graph_begin(s.rg), RG_INVALID, "recorded already");
    FAILS(rg_queue_sync(s.rg), RG_INVALID, "rg_queue_sync cannot be recorded");
    FAILS(rg_array_write(s.rg, s.x, RG_PRIMAL, v, sizeof v), RG_INVALID, "rg_array_write cannot");
    FAILS(rg_array_map(s.rg, s.x, RG_PRIMAL, false, &data), RG_INVALID, "rg_array_map cannot");
    FAILS(rg_array_require(s.rg, s.x, RG_TANGENT), RG_INVALID, "cannot be recorded");
    FAILS(rg_array_create(s.rg, &desc, &a), RG_INVALID, "making arrays");
    FAILS(rg_args_create(s.rg, kernel_of(&s, "first"), &args), RG_INVALID, "making arrays");
    FAILS(rg_graph_launch(other), RG_INVALID, "rg_graph_launch cannot");
    FAILS(rg_launch(s.rg, s.args, RG_JVP), RG_INVALID, "has a tangent"); /* such a launch is left out */
    GOOD(rg_launch(s.rg, s.args, RG_FORWARD));
    rg_array_destroy(s.count); /* what is in use stays */
    GOOD(rg_graph_end(s.rg, &graph));
    GOOD(rg_graph_launch(graph));
    /* given up with the queue, with something that nobody uses any more */
    GOOD(rg_args_create(s.rg, kernel_of(&s, "first"), &args));
    GOOD(rg_args_get_array(args, RG_STR("return"), &result));
    CHECK(result != NULL, "%s", device);
    GOOD(rg_graph_begin(s.rg));
    GOOD(rg_launch(s.rg, s.args, RG_FORWARD));
    rg_args_destroy(args);
    rg_array_destroy(s.y);
    rg_graph_destroy(graph);
    rg_array_destroy(s.x);
    rg_args_destroy(s.args);
    rg_module_destroy(s.module);
    rg_queue_destroy(s.rg);
    rg_graph_destroy(other);
}

/* What cannot be written back is told later. */
static void
test_late_failure(const char *device)
{
    setup s = begin(device);
    rg_graph *graph;
    double *data;
    GOOD(rg_array_map(s.rg, s.x, RG_PRIMAL, true, (void **)&data));
    GOOD(rg_graph_begin(s.rg));
    rg_array_unmap(s.x, RG_PRIMAL);
    GOOD(rg_graph_end(s.rg, &graph));
    if (devices_share_memory(s.rg))
        GOOD(rg_queue_sync(s.rg));
    else
        FAILS(rg_queue_sync(s.rg), RG_INVALID, "rg_array_unmap, which copies back, cannot be recorded");
    GOOD(rg_queue_sync(s.rg));
    rg_graph_destroy(graph);
    end(&s);
}

/* -- what contexts are made with --------------------------------------------------------------- */

static void
test_contexts(const char *device)
{
    int place;
    rg_queue *rg;
    devices_desc desc = {.device = rg_str_of(device)};
    GOOD(devices_open(&desc, &rg));
    bool shared = devices_share_memory(rg), waits = devices_wait(rg);
    rg_queue_destroy(rg);
    desc.stream = &place;
    if (waits)
        FAILS(devices_open(&desc, &rg), RG_INVALID, "no streams");
    desc.stream = NULL;
    char numbered[64];
    snprintf(numbered, sizeof numbered, "%s:1000", device);
    desc.device = rg_str_of(numbered);
    if (shared)
        FAILS(devices_open(&desc, &rg), RG_NOT_FOUND, "number 0 only");
}

int
main(void)
{
    for (const char *const *device = devices_to_test(); *device; device++) {
        check_on = *device;
        test_contexts(*device);
        test_memory(*device);
        test_gaps(*device);
        test_ends(*device);
        test_records(*device);
        test_faults(*device);
        test_checked(*device);
        test_graph(*device);
        test_graph_faults(*device);
        test_graph_misuse(*device);
        test_late_failure(*device);
    }
    return check_done();
}
