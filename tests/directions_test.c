/* Directions through the public API: Jacobians and Hessians in one launch, many directions, misuse;
 * and what is made of control flow that differs between them. SPDX-License-Identifier: Apache-2.0
 */
#include "api_check.h"
#include "devices.h"

#include "diff/ad.h"
#include "rt/interp/interp.h"

#include <math.h>

/* polar: out = k (r cos t, r sin t); deep: y[i] = sin of sin of ... x[i], m times; pair reads two
 * arrays that may share an adjoint */
static const char source[] =
    "kernel @polar(%k: f64, %p: buf<f64,1>, %out: buf<f64,1>) {\n"
    "  %i: i32 = const 0  %j: i32 = const 1\n"
    "  %r: f64 = load %p[%i]  %t: f64 = load %p[%j]  %kr: f64 = mul %k, %r\n"
    "  %c: f64 = cos %t  %s: f64 = sin %t\n"
    "  %x: f64 = mul %kr, %c  store %out[%i], %x\n"
    "  %y: f64 = mul %kr, %s  store %out[%j], %y\n"
    "  yield\n"
    "}\n"
    "kernel @deep(%n: i32, %m: i32, %x: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %zero: i32 = const 0\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %a: f64 = load %x[%i]\n"
    "    %r: f64 = for %t: i32 = %zero to %m step 1 (%v: f64 = %a) {\n"
    "      %s: f64 = sin %v\n"
    "      yield %s\n"
    "    }\n"
    "    store %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n"
    "kernel @pair(%x: buf<f64,1>, %z: buf<f64,1>, %y: buf<f64,0>) {\n"
    "  %i: i32 = const 0\n"
    "  %a: f64 = load %x[%i]  %b: f64 = load %z[%i]  %p: f64 = mul %a, %b\n"
    "  store %y[], %p\n"
    "  yield\n"
    "}\n";

typedef struct setup {
    rg_queue *rg;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
} setup;

static setup
begin(const char *device, const char *kernel, uint64_t budget)
{
    setup s;
    devices_desc desc = {.device = rg_str_of(device), .tape_budget = budget};
    GOOD(devices_open(&desc, &s.rg));
    GOOD(rg_module_from_ir(rg_str_of(source), NULL, &s.module));
    GOOD(rg_module_get_kernel(s.module, rg_str_of(kernel), &s.kernel));
    GOOD(rg_args_create(s.rg, s.kernel, &s.args));
    return s;
}

static void
end(setup *s)
{
    rg_args_destroy(s->args);
    rg_module_destroy(s->module);
    rg_queue_destroy(s->rg);
}

static rg_array *
array_of(setup *s, const char *name, int64_t n, void *data)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {n}, .data = data);
    rg_array *array;
    desc.name = rg_str_of(name);
    GOOD(devices_array(s->rg, &desc, &array));
    GOOD(rg_args_set_array(s->args, rg_str_of(name), array));
    return array;
}

/* In memory that kernels reach. */
static rg_array *
array_at(setup *s, const char *name, int64_t n, void *address)
{
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {n}, .data = address);
    rg_array *array;
    GOOD(rg_array_create(s->rg, &desc, &array));
    GOOD(rg_args_set_array(s->args, rg_str_of(name), array));
    return array;
}

static double
far_from(const double *a, const double *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fabs(a[i] - b[i]) <= most ? most : fabs(a[i] - b[i]);
    return most;
}

/* -- Jacobians and Hessians
 * ------------------------------------------------------------------------ */

typedef struct polar {
    setup s;
    rg_array *p, *out, *k;
} polar;

static polar
begin_polar(const char *device, const double *point)
{
    polar q = {.s = begin(device, "polar", 0)};
    q.p = array_of(&q.s, "p", 2, NULL);
    q.out = array_of(&q.s, "out", 2, NULL);
    GOOD(rg_array_write(q.s.rg, q.p, RG_PRIMAL, point, 2 * sizeof(double)));
    GOOD(rg_args_set_float(q.s.args, RG_STR("k"), 2));
    GOOD(rg_array_create(q.s.rg, &RG_DESC(rg_array_desc, .dtype = RG_F64), &q.k));
    GOOD(rg_args_set_companion(q.s.args, RG_STR("k"), q.k));
    return q;
}

static void
end_polar(polar *q)
{
    rg_array_destroy(q->p);
    rg_array_destroy(q->out);
    rg_array_destroy(q->k);
    end(&q->s);
}

static void
test_jacobian(const char *device)
{
    const double point[2] = {3, 0.5}, unit[4] = {1, 0, 0, 1};
    double c = 2 * cos(0.5), s = 2 * sin(0.5), got[4], k[2];
    const double rows[4] = {c, -3 * s, s, 3 * c}, columns[4] = {c, s, -3 * s, 3 * c};
    const double by_k[2] = {3 * cos(0.5), 3 * sin(0.5)};
    polar q = begin_polar(device, point);
    /* rows: one adjoint for each output */
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_ADJOINT, 2));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_ADJOINT, 2));
    GOOD(rg_array_require_directions(q.s.rg, q.k, RG_ADJOINT, 2));
    GOOD(rg_array_write(q.s.rg, q.out, RG_ADJOINT, unit, sizeof(unit)));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_FORWARD_VJP));
    GOOD(rg_array_read(q.s.rg, q.p, RG_ADJOINT, got, sizeof(got)));
    CHECK(far_from(got, rows, 4) < 1e-15, "%g %g %g %g", got[0], got[1], got[2], got[3]);
    GOOD(rg_array_read(q.s.rg, q.k, RG_ADJOINT, k, sizeof(k)));
    CHECK(far_from(k, by_k, 2) < 1e-15, "%g %g", k[0], k[1]);
    /* columns: one tangent for each input */
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_TANGENT, 2));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_TANGENT, 2));
    GOOD(rg_array_write(q.s.rg, q.p, RG_TANGENT, unit, sizeof(unit)));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_JVP));
    GOOD(rg_array_read(q.s.rg, q.out, RG_TANGENT, got, sizeof(got)));
    CHECK(far_from(got, columns, 4) < 1e-15, "%g %g %g %g", got[0], got[1], got[2], got[3]);
    end_polar(&q);
}

static void
test_hessian(const char *device)
{
    const double point[2] = {3, 0.5}, unit[4] = {1, 0, 0, 1}, seed[2] = {1, 0};
    double c = 2 * cos(0.5), s = 2 * sin(0.5), got[4];
    const double of_x[4] = {0, -s, -s, -3 * c}, mixed[4] = {0, -s, c, -3 * s};
    polar q = begin_polar(device, point);
    /* one adjoint, two tangents: the columns of the first output's Hessian */
    GOOD(rg_array_require(q.s.rg, q.p, RG_ADJOINT));
    GOOD(rg_array_require(q.s.rg, q.out, RG_ADJOINT));
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_TANGENT, 2));
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_ADJOINT | RG_TANGENT, 2));
    GOOD(rg_array_write(q.s.rg, q.p, RG_TANGENT, unit, sizeof(unit)));
    GOOD(rg_array_write(q.s.rg, q.out, RG_ADJOINT, seed, sizeof(seed)));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_JVP_VJP));
    GOOD(rg_array_read(q.s.rg, q.p, RG_ADJOINT | RG_TANGENT, got, sizeof(got)));
    CHECK(far_from(got, of_x, 4) < 1e-15, "%g %g %g %g", got[0], got[1], got[2], got[3]);
    /* two adjoints along one tangent, d/dr: of the gradients of both outputs */
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_TANGENT, 1));
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_ADJOINT, 2));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_ADJOINT, 2));
    GOOD(rg_array_fill(q.s.rg, q.p, RG_ADJOINT | RG_TANGENT, 0));
    GOOD(rg_array_write(q.s.rg, q.p, RG_TANGENT, unit, 2 * sizeof(double)));
    GOOD(rg_array_write(q.s.rg, q.out, RG_ADJOINT, unit, sizeof(unit)));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_JVP_VJP));
    GOOD(rg_array_read(q.s.rg, q.p, RG_ADJOINT | RG_TANGENT, got, sizeof(got)));
    const double along_r[4] = {0, -s, 0, c};
    CHECK(far_from(got, along_r, 4) < 1e-15, "%g %g %g %g", got[0], got[1], got[2], got[3]);
    /* pairs: d/dr of the first gradient, d/dt of the second */
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_TANGENT, 2));
    GOOD(rg_array_fill(q.s.rg, q.p, RG_ADJOINT | RG_TANGENT, 0));
    GOOD(rg_array_write(q.s.rg, q.p, RG_TANGENT, unit, sizeof(unit)));
    GOOD(rg_array_write(q.s.rg, q.out, RG_ADJOINT, unit, sizeof(unit)));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_JVP_VJP));
    GOOD(rg_array_read(q.s.rg, q.p, RG_ADJOINT | RG_TANGENT, got, sizeof(got)));
    CHECK(far_from(got, mixed, 4) < 1e-15, "%g %g %g %g", got[0], got[1], got[2], got[3]);
    end_polar(&q);
}

/* -- many of them
 * ------------------------------------------------------------------------------------- */

enum { N = 5, STEPS = 3000, MOST = 70 };

typedef struct deep {
    setup s;
    rg_array *x, *y;
} deep;

static deep
begin_deep(const char *device, uint64_t budget)
{
    deep q = {.s = begin(device, "deep", budget)};
    q.x = array_of(&q.s, "x", N, NULL);
    q.y = array_of(&q.s, "y", N, NULL);
    double x[N];
    for (int i = 0; i < N; i++)
        x[i] = 0.1 * i;
    GOOD(rg_array_write(q.s.rg, q.x, RG_PRIMAL, x, sizeof(x)));
    GOOD(rg_args_set_int(q.s.args, RG_STR("n"), N));
    return q;
}

static void
end_deep(deep *q)
{
    rg_array_destroy(q->x);
    rg_array_destroy(q->y);
    end(&q->s);
}

static void
slopes(int steps, double *slope)
{
    for (int i = 0; i < N; i++) {
        double v = 0.1 * i;
        slope[i] = 1;
        for (int t = 0; t < steps; t++) {
            slope[i] *= cos(v);
            v = sin(v);
        }
    }
}

/* direction d is scaled by d + 1 */
static bool
is_scaled(const double *got, const double *slope, uint32_t n)
{
    for (uint32_t d = 0; d < n; d++)
        for (int i = 0; i < N; i++)
            if (!(fabs(got[d * N + i] - (d + 1) * slope[i]) < 1e-12 * (d + 1)))
                return false;
    return true;
}

static void
start_scaled(const setup *s, rg_array *array, unsigned plane, uint32_t n)
{
    double start[MOST * N];
    for (uint32_t d = 0; d < n; d++)
        for (int i = 0; i < N; i++)
            start[d * N + i] = d + 1;
    GOOD(rg_array_write(s->rg, array, plane, start, n * N * sizeof(double)));
}

static void
test_many(const char *device)
{
    static const uint32_t numbers[] = {1, 2, 16, 17, 37, MOST};
    double slope[N], got[MOST * N];
    deep q = begin_deep(device, 0);
    slopes(7, slope);
    GOOD(rg_args_set_int(q.s.args, RG_STR("m"), 7));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_FORWARD));
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        uint32_t n = numbers[k];
        GOOD(rg_array_require_directions(q.s.rg, q.x, RG_ADJOINT, n));
        GOOD(rg_array_require_directions(q.s.rg, q.y, RG_ADJOINT, n));
        start_scaled(&q.s, q.y, RG_ADJOINT, n);
        GOOD(rg_launch(q.s.rg, q.s.args, RG_VJP));
        GOOD(rg_array_read(q.s.rg, q.x, RG_ADJOINT, got, n * N * sizeof(double)));
        CHECK(is_scaled(got, slope, n), "%u directions", n);
        GOOD(rg_array_read(q.s.rg, q.y, RG_ADJOINT, got, n * N * sizeof(double)));
        CHECK(got[0] == 0 && got[n * N - 1] == 0, "%u directions consume their adjoints", n);
        GOOD(rg_array_require_directions(q.s.rg, q.x, RG_TANGENT, n));
        GOOD(rg_array_require_directions(q.s.rg, q.y, RG_TANGENT, n));
        start_scaled(&q.s, q.x, RG_TANGENT, n);
        if (n > 64) {
            FAILS(rg_launch(q.s.rg, q.s.args, RG_JVP), RG_INVALID, "at most 64");
            start_scaled(&q.s, q.y, RG_ADJOINT, n);
            FAILS(rg_launch(q.s.rg, q.s.args, RG_FORWARD_VJP), RG_INVALID, "70 directions");
            continue;
        }
        GOOD(rg_launch(q.s.rg, q.s.args, RG_JVP));
        GOOD(rg_array_read(q.s.rg, q.y, RG_TANGENT, got, n * N * sizeof(double)));
        CHECK(is_scaled(got, slope, n), "%u directions forwards", n);
    }
    end_deep(&q);
}

static void
test_budget(const char *device)
{
    double got[20 * N];
    deep q = begin_deep(device, 1000); /* no thread fits */
    GOOD(rg_args_set_int(q.s.args, RG_STR("m"), STEPS));
    GOOD(rg_array_require_directions(q.s.rg, q.x, RG_ADJOINT, 20));
    GOOD(rg_array_require_directions(q.s.rg, q.y, RG_ADJOINT, 20));
    GOOD(rg_array_fill(q.s.rg, q.x, RG_ADJOINT, 4));
    GOOD(rg_array_fill(q.s.rg, q.y, RG_ADJOINT, 1));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_FORWARD));
    rg_status status = rg_launch(q.s.rg, q.s.args, RG_VJP);
    if (!status)
        status = rg_queue_sync(q.s.rg);
    CHECK(status == RG_BUDGET || status == RG_OK, "%s", rg_error_message());
    if (status && !devices_share_memory(q.s.rg)) { /* contents are unspecified then */
        end_deep(&q);
        return;
    }
    GOOD(rg_array_read(q.s.rg, q.y, RG_ADJOINT, got, sizeof(got)));
    CHECK(got[0] == (status ? 1 : 0) && got[20 * N - 1] == (status ? 1 : 0), "%g", got[0]);
    GOOD(rg_array_read(q.s.rg, q.x, RG_ADJOINT, got, sizeof(got)));
    CHECK(!status || (got[0] == 4 && got[20 * N - 1] == 4), "%g", got[0]);
    end_deep(&q);
}

/* -- misuse
 * -----------------------------------------------------------------------------------------------
 */

static void
test_arrays(const char *device)
{
    setup s = begin(device, "polar", 0);
    double block[6];
    rg_array_info info = RG_INIT(rg_array_info);
    rg_array *a, *ints, *memory;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {2}, .name = RG_STR("a"));
    desc.directions = 3;
    FAILS(rg_array_create(s.rg, &desc, &a), RG_INVALID, "ask for an adjoint or a tangent");
    desc.adjoint = true;
    GOOD(rg_array_create(s.rg, &desc, &a));
    GOOD(rg_array_get_info(a, &info));
    CHECK(info.directions[RG_PRIMAL] == 1 && info.directions[RG_ADJOINT] == 3 &&
              info.directions[RG_TANGENT] == 0 && info.bytes == 16,
          "info");
    GOOD(rg_array_fill(s.rg, a, RG_ADJOINT, 7));
    FAILS(rg_array_read(s.rg, a, RG_ADJOINT, block, 16), RG_INVALID, "48 bytes");
    GOOD(rg_array_read(s.rg, a, RG_ADJOINT, block, 48));
    CHECK(block[0] == 7 && block[5] == 7, "fill");
    GOOD(rg_array_require(s.rg, a, RG_ADJOINT)); /* it is there */
    GOOD(rg_array_require_directions(s.rg, a, RG_ADJOINT, 3));
    GOOD(rg_array_read(s.rg, a, RG_ADJOINT, block, 48));
    CHECK(block[5] == 7, "kept");
    GOOD(rg_array_require_directions(s.rg, a, RG_ADJOINT, 2));
    GOOD(rg_array_read(s.rg, a, RG_ADJOINT, block, 32));
    CHECK(block[0] == 0 && block[3] == 0, "new and zeroed");
    FAILS(rg_array_require_directions(s.rg, a, RG_ADJOINT, 0), RG_INVALID, "at least one");
    FAILS(rg_array_require_directions(s.rg, a, RG_PRIMAL, 2), RG_INVALID, "only companions");
    GOOD(rg_array_create(s.rg, &RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {6}), &memory));
    GOOD(rg_array_attach_directions(a, RG_TANGENT, devices_address(memory), 3));
    FAILS(rg_array_require_directions(s.rg, a, RG_TANGENT, 2), RG_INVALID, "the caller's memory");
    GOOD(rg_array_fill(s.rg, a, RG_TANGENT, 5));
    GOOD(rg_array_read(s.rg, memory, RG_PRIMAL, block, sizeof(block)));
    CHECK(block[5] == 5, "attached");
    FAILS(rg_array_attach_directions(a, RG_TANGENT, block, 0), RG_INVALID, "at least one");
    GOOD(rg_array_attach(a, RG_TANGENT, NULL));
    rg_array_destroy(memory);
    rg_array_desc of_ints = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {2});
    GOOD(rg_array_create(s.rg, &of_ints, &ints));
    FAILS(rg_array_require_directions(s.rg, ints, RG_ADJOINT, 2), RG_INVALID, "only floats");
    rg_array_destroy(a);
    rg_array_destroy(ints);
    end(&s);
}

static void
test_launches(const char *device)
{
    const double point[2] = {3, 0.5};
    polar q = begin_polar(device, point);
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_ADJOINT, 3));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_ADJOINT, 2));
    FAILS(rg_launch(q.s.rg, q.s.args, RG_VJP), RG_INVALID,
          "the adjoint of `p` has 3 directions, that of `out` 2");
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_ADJOINT, 3));
    GOOD(rg_array_require(q.s.rg, q.k, RG_ADJOINT));
    FAILS(rg_launch(q.s.rg, q.s.args, RG_VJP), RG_INVALID, "the adjoint of `k` has 1 directions");
    GOOD(rg_array_require_directions(q.s.rg, q.k, RG_ADJOINT, 3));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_VJP));
    /* tangents do not concern a vjp, nor adjoints a jvp */
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_TANGENT, 2));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_TANGENT, 2));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_VJP));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_JVP));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_FORWARD));
    FAILS(rg_launch(q.s.rg, q.s.args, RG_JVP_VJP), RG_INVALID,
          "adjoints have 3 directions and tangents 2");
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_TANGENT, 3));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_TANGENT, 3));
    GOOD(rg_array_require(q.s.rg, q.p, RG_ADJOINT | RG_TANGENT));
    FAILS(rg_launch(q.s.rg, q.s.args, RG_JVP_VJP), RG_INVALID,
          "the adjoint's tangent of `p` has 1");
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_ADJOINT | RG_TANGENT, 3));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_JVP_VJP));
    end_polar(&q);
}

/* A row of the Jacobian's matrix is what one output's tangents are. */
static void
test_side_by_side(const char *device)
{
    const double point[2] = {3, 0.5}, unit[4] = {1, 0, 0, 1};
    double c = 2 * cos(0.5), s = 2 * sin(0.5), got[4];
    const double rows[4] = {c, -3 * s, s, 3 * c};
    rg_array_info info = RG_INIT(rg_array_info);
    polar q = begin_polar(device, point);
    GOOD(rg_array_set_side_by_side(q.p, true));
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_TANGENT, 2));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_TANGENT, 2));
    FAILS(rg_array_set_side_by_side(q.out, true), RG_INVALID, "2 directions already");
    FAILS(rg_launch(q.s.rg, q.s.args, RG_JVP), RG_INVALID,
          "directions of `p` lie side by side, those of `out` do not");
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_TANGENT, 1));
    GOOD(rg_array_set_side_by_side(q.out, true));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_TANGENT, 2));
    GOOD(rg_array_get_info(q.out, &info));
    CHECK(info.side_by_side && info.directions[RG_TANGENT] == 2, "info");
    GOOD(rg_array_write(q.s.rg, q.p, RG_TANGENT, unit, sizeof(unit)));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_JVP));
    GOOD(rg_array_read(q.s.rg, q.out, RG_TANGENT, got, sizeof(got)));
    CHECK(far_from(got, rows, 4) < 1e-15, "%g %g %g %g", got[0], got[1], got[2], got[3]);
    /* no blocks */
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_ADJOINT, 40));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_ADJOINT, 40));
    GOOD(rg_array_fill(q.s.rg, q.out, RG_ADJOINT, 1));
    GOOD(rg_launch(q.s.rg, q.s.args, RG_VJP));
    GOOD(rg_array_require_directions(q.s.rg, q.p, RG_ADJOINT, 65));
    GOOD(rg_array_require_directions(q.s.rg, q.out, RG_ADJOINT, 65));
    FAILS(rg_launch(q.s.rg, q.s.args, RG_VJP), RG_INVALID, "at most 64 side by side");
    end_polar(&q);
}

/* Arrays that overlap may share an adjoint; with directions, each must lie where the other's does.
 */
static void
test_sharing(const char *device)
{
    setup s = begin(device, "pair", 0);
    const double data[3] = {2, 3, 4}, seed[2] = {1, 10};
    double adjoint[6];
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {3});
    rg_array *of_data, *of_adjoint, *x, *y, *z;
    GOOD(rg_array_create(s.rg, &desc, &of_data));
    GOOD(rg_array_write(s.rg, of_data, RG_PRIMAL, data, sizeof(data)));
    desc.shape[0] = 6;
    GOOD(rg_array_create(s.rg, &desc, &of_adjoint));
    x = array_at(&s, "x", 3, devices_address(of_data));
    z = array_at(&s, "z", 3, devices_address(of_data));
    GOOD(rg_array_create(s.rg, &RG_DESC(rg_array_desc, .dtype = RG_F64), &y));
    GOOD(rg_args_set_array(s.args, RG_STR("y"), y));
    GOOD(rg_array_require_directions(s.rg, y, RG_ADJOINT, 2));
    GOOD(rg_array_attach_directions(x, RG_ADJOINT, devices_address(of_adjoint), 2));
    GOOD(rg_array_attach_directions(z, RG_ADJOINT, devices_address(of_adjoint), 2));
    GOOD(rg_array_write(s.rg, y, RG_ADJOINT, seed, sizeof(seed)));
    GOOD(rg_launch(s.rg, s.args, RG_VJP));
    GOOD(rg_array_read(s.rg, of_adjoint, RG_PRIMAL, adjoint, sizeof(adjoint)));
    CHECK(adjoint[0] == 4 && adjoint[3] == 40, "%g %g", adjoint[0], adjoint[3]);
    rg_array_destroy(z);
    z = array_at(&s, "z", 2, devices_address(of_data));
    GOOD(rg_array_attach_directions(z, RG_ADJOINT, devices_address(of_adjoint), 2));
    FAILS(rg_launch(s.rg, s.args, RG_VJP), RG_INVALID, "do not lie alike");
    rg_array_destroy(x);
    rg_array_destroy(y);
    rg_array_destroy(z);
    rg_array_destroy(of_data);
    rg_array_destroy(of_adjoint);
    end(&s);
}

/* -- control flow that differs between directions
 * ---------------------------------------------------- */

/* Branches, trip counts and exits that depend on an adjoint; arrays that come from outside of them.
 */
static const char varied[] =
    "kernel @varied(%n: i32, %x: buf<f64,1>, %y: buf<f64,1>) {\n"
    "  %zero: i32 = const 0  %one: i32 = const 1  %half: f64 = const 0.5  %small: f64 = const "
    "0.25\n"
    "  %first_place: i64 = const 0  %second_place: i64 = const 1  %four: i64 = const 4\n"
    "  parallel (%i: i32) = (%zero) to (%n) {\n"
    "    %v: f64 = load %x[%i]  %s: f64 = sin %v\n"
    "    %g: f64 = load.adj %y[%i]\n"
    "    %r: f64, %t: i32 = loop (%a: f64 = %g, %k: i32 = %zero) {\n"
    "      %c: bool = lt %a, %small  exit_if %c (%a, %k)\n"
    "      %b: f64 = mul %a, %half  %k1: i32 = add %k, %one\n"
    "      yield %b, %k1\n"
    "    }\n"
    "    %blank: f64[4] = array  %first: f64[4] = insert %blank[%first_place], %s\n"
    "    %filled: f64[4] = for %j: i32 = %zero to %t step 1 (%m: f64[4] = %first) {\n"
    "      %j64: i64 = cast %j  %at: i64 = rem %j64, %four  %old: f64 = extract %m[%at]\n"
    "      %new: f64 = add %old, %s  %m1: f64[4] = insert %m[%at], %new\n"
    "      yield %m1\n"
    "    }\n"
    "    %e: f64 = extract %filled[%second_place]\n"
    "    %big: bool = gt %g, %s\n"
    "    %w: f64 = if %big {\n"
    "      rmw.add.adj %x[%i], %s\n"
    "      %p: f64 = mul %r, %e  yield %p\n"
    "    } else {\n"
    "      yield %e\n"
    "    }\n"
    "    rmw.add.adj %x[%i], %w\n"
    "    store.adj %y[%i], %r\n"
    "    yield\n"
    "  }\n"
    "  yield\n"
    "}\n";

enum { LENGTH = 4, DIRECTIONS = 3 };

static void
run_varied(const ir_fn *fn, double *x, double *x_adj, double *y_adj)
{
    rt_arg args[3] = {{.bits = LENGTH},
                      {.plane = {x, x_adj}, .extent = {LENGTH}, .stride = {1}},
                      {.plane = {x, y_adj}, .extent = {LENGTH}, .stride = {1}}};
    interp_report report;
    CHECK(interp_run(fn, args, NULL, &report) == RT_OK, "%s", report.message);
}

static void
test_varied(void)
{
    const uint32_t of[RG_PLANE_COUNT] = {1, DIRECTIONS, 1, 1, 1, 1, 1, 1};
    double x[LENGTH], one[2][DIRECTIONS * LENGTH] = {{0}}, all[2][DIRECTIONS * LENGTH] = {{0}};
    for (int i = 0; i < DIRECTIONS * LENGTH; i++)
        one[1][i] = all[1][i] = 0.2 * i * i;
    for (int i = 0; i < LENGTH; i++)
        x[i] = 0.3 + i;
    diag_list diags = {0};
    ir_module *m = ir_parse(rg_str_of(varied), "varied", &diags);
    CHECK(m, "%s", diags.text.ptr);
    if (!m)
        return;
    pass_context c;
    pass_context_init(&c, &diags);
    ir_fn *fn = m->first, *made = ad_directions(fn, of, false, &c);
    pass_context_finish(&c);
    CHECK(made && ir_verify(m, IR_STAGE_AD, NULL, &diags), "%s", diags.text.ptr);
    for (int d = 0; d < DIRECTIONS; d++)
        run_varied(fn, x, one[0] + d * LENGTH, one[1] + d * LENGTH);
    if (made)
        run_varied(made, x, all[0], all[1]);
    CHECK(memcmp(one, all, sizeof one) == 0, "each direction on its own way");
    diag_free(&diags);
    ir_module_free(m);
}

/* What happens once cannot depend on a direction. */
static void
test_refused(void)
{
    static const char text[] = "kernel @bad(%x: buf<f64,0>) {\n"
                               "  %g: f64 = load.adj %x[]  store %x[], %g  yield\n"
                               "}\n";
    const uint32_t of[RG_PLANE_COUNT] = {1, 2, 1, 1, 1, 1, 1, 1};
    diag_list diags = {0};
    ir_module *m = ir_parse(rg_str_of(text), "bad", &diags);
    pass_context c;
    pass_context_init(&c, &diags);
    CHECK(m && !ad_directions(m->first, of, false, &c) && strstr(diags.text.ptr, "E0540"),
          "refused");
    pass_context_finish(&c);
    diag_free(&diags);
    ir_module_free(m);
}

int
main(void)
{
    test_varied();
    test_refused();
    for (const char *const *device = devices_to_test(); *device; device++) {
        check_on = *device;
        test_jacobian(*device);
        test_hessian(*device);
        test_many(*device);
        test_budget(*device);
        test_arrays(*device);
        test_launches(*device);
        test_sharing(*device);
        test_side_by_side(*device);
    }
    return check_done();
}
