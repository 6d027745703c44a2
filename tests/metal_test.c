/* Device "metal" as users see it, on a Metal that is played: which GPUs there are, memory, queues, kernel-level control, gradients, faults,
 * cancelling, what is refused. SPDX-License-Identifier: Apache-2.0
 *
 *   metal_test DRIVER     that of fake_metal.c */
#include "api_check.h"
#include "fake_metal.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1000 };

static fake_metal *fake, usual;
static rg_module *module;

static const char source[] =
    "#include <assert.h>\n"
    "#include <stdio.h>\n"
    "void settle(int n, const float k[1], float x[n], float loss[1])\n"
    "{\n"
    "    float sum = 1000.0f;\n"
    "    int turns = 0;\n"
    "    while (sum > 100.0f) {\n"
    "        sum = 0;\n"
    "        #pragma omp parallel for reduction(+:sum)\n"
    "        for (int i = 0; i < n; i++) {\n"
    "            x[i] = x[i] * k[0];\n"
    "            sum += x[i];\n"
    "        }\n"
    "        if (++turns % 2) {\n"
    "            #pragma omp parallel for\n"
    "            for (int i = 0; i < n; i++)\n"
    "                x[i] = x[i] * x[i] * 0.75f;\n"
    "        }\n"
    "    }\n"
    "    loss[0] = sum;\n"
    "}\n"
    "void checked(int n, const float x[n], float y[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        assert(x[i] > 0);\n" /* line 26 */
    "        y[i] = x[i];\n"
    "    }\n"
    "}\n"
    "void says(int n, const float x[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++)\n"
    "        printf(\"<%d: %g>\\n\", i, x[i]);\n"
    "}\n"
    "void wide(int n, double x[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++)\n"
    "        { _Pragma(\"omp atomic\") x[i / 2] += 2; }\n"
    "}\n"
    "void recalls(int n, const int steps[n], const float x[n], float y[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        float v[4096];\n"
    "        for (int k = 0; k < 4096; k++)\n"
    "            v[k] = x[(i + k) % n];\n"
    "        for (int t = 0; t < steps[i]; t++) {\n" /* line 49 */
    "            int k = (steps[(i + t) % n] * t) % 4096;\n"
    "            v[k] = v[k] * v[(k * 7 + t) % 4096] + 0.1f;\n"
    "        }\n"
    "        y[i] = v[i];\n"
    "    }\n"
    "}\n"
    "void counts(int n, float x[n], const float last[1])\n"
    "{\n"
    "    while (x[0] < last[0]) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n; i++)\n"
    "            x[i] = x[i] + 1;\n"
    "    }\n"
    "}\n"
    "#include <math.h>\n"
    "void rounds(int n, const float x[n], float y[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++)\n"
    "        y[i] = fmaf(sqrtf(x[(i + 5) % n]), 1 / x[(i + 1) % n], sqrtf(x[i]) + x[i] / x[(i + 7) % n]);\n"
    "}\n"
    "void turns(int n, float x[n], const float stop[1])\n"
    "{\n"
    "    while (stop[0] > 0) {\n" /* line 73 */
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n; i++)\n"
    "            x[i] = x[i] + 1;\n"
    "    }\n"
    "}\n"
    "void grows(int n, float x[n], float y[n], float out[2])\n"
    "{\n"
    "    float sum = 0, *from = x, *to = y;\n"
    "    int turns = 0;\n"
    "    while (sum < 30.0f * n) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n - turns % 3; i++)\n"
    "            to[i] = from[i] + 1;\n"
    "        float *other = from;\n"
    "        from = to, to = other;\n"
    "        sum = 0;\n"
    "        #pragma omp parallel for reduction(+:sum)\n"
    "        for (int i = 0; i < n; i++)\n"
    "            sum += from[i];\n"
    "        turns++;\n"
    "    }\n"
    "    out[0] = sum, out[1] = turns;\n"
    "}\n";

static char said[2000];

static void
hear(void *user, const char *text, size_t length)
{
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%.*s", (int)length, text);
}

/* -- a queue of a device ------------------------------------------------------------------------------------------- */

typedef struct scene {
    rg_device *device;
    rg_queue *queue;
    rg_args *args;
    rg_array *arrays[4];
    int narrays;
} scene;

static bool
open_scene(scene *s, const char *device, const char *kernel, uint64_t budget)
{
    rg_kernel *k = NULL;
    *s = (scene){0};
    GOOD(rg_device_open(&RG_DESC(rg_device_desc, .name = rg_str_of(device)), &s->device));
    GOOD(rg_queue_create(s->device, &RG_DESC(rg_queue_desc, .tape_budget = budget, .print = hear), &s->queue));
    GOOD(rg_module_get_kernel(module, rg_str_of(kernel), &k));
    if (!s->queue || !k || rg_args_create(s->queue, k, &s->args))
        return false;
    GOOD(rg_args_set_int(s->args, RG_STR("n"), N));
    return true;
}

static void
close_scene(scene *s)
{
    rg_args_destroy(s->args);
    for (int i = 0; i < s->narrays; i++)
        rg_array_destroy(s->arrays[i]);
    rg_queue_destroy(s->queue);
    rg_device_destroy(s->device);
}

static rg_array *
add_array(scene *s, const char *name, rg_dtype dtype, int64_t n, double value, bool adjoint)
{
    rg_array *a = NULL;
    GOOD(rg_array_create(s->queue, &RG_DESC(rg_array_desc, .dtype = dtype, .rank = 1, .shape = {n}, .adjoint = adjoint), &a));
    if (!a)
        return NULL;
    GOOD(rg_array_fill(s->queue, a, RG_PRIMAL, value));
    GOOD(rg_args_set_array(s->args, rg_str_of(name), a));
    return s->arrays[s->narrays++] = a;
}

/* -- which GPUs there are ------------------------------------------------------------------------------------------ */

static void
check_open(const char *name, rg_status status, const char *word)
{
    rg_device *device = NULL;
    FAILS(rg_device_open(&RG_DESC(rg_device_desc, .name = rg_str_of(name)), &device), status, word);
    rg_device_destroy(device);
    CHECK(fake->alive == 0, "%ld alive", fake->alive);
}

static void
test_devices(const char *path)
{
    rg_device_info info = RG_INIT(rg_device_info);
    int found = 0;
    fake->devices = 2;
    for (uint32_t i = 0; !rg_device_enumerate(i, &info); i++)
        if (strncmp(info.name, "metal", 5) == 0) {
            CHECK(strcmp(info.name, found ? "metal:1" : "metal:0") == 0 && strstr(info.model, "not there"), "%s: %s", info.name,
                  info.model);
            CHECK(info.own_memory && !info.asynchronous);
            CHECK(info.memory == fake->memory && info.memory_free <= info.memory);
            found++;
        }
    CHECK(found == 2, "%d found", found);
    check_open("metal", RG_OK, NULL);
    check_open("metal:1", RG_OK, NULL);
    check_open("metal:2", RG_NOT_FOUND, "none of number 2");
    fake->devices = 0;
    check_open("metal", RG_NOT_FOUND, "no GPU");
    fake->devices = 1;
    fake->family = 5001;
    check_open("metal", RG_UNSUPPORTED, "M1 or later");
    fake->family = 1007;
    check_open("metal", RG_UNSUPPORTED, "a GPU that is not there is not");
    fake->family = 0;
    fake->lacks = "MTLCompileOptions";
    check_open("metal", RG_DEVICE, "has no MTLCompileOptions");
    fake->lacks = NULL;
    setenv("RG_METAL_DRIVER", "/nowhere", 1);
    check_open("metal", RG_DEVICE, "there is no Metal: /nowhere has no objc_getClass");
    setenv("RG_METAL_DRIVER", path, 1);
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

static void
test_memory(void)
{
    scene s, other;
    static float host[N], back[N];
    fake->devices = 2;
    if (!open_scene(&s, "metal:0", "checked", 0) || !open_scene(&other, "metal:1", "checked", 0))
        return;
    rg_array *x = add_array(&s, "x", RG_F32, N, 1, false), *y = add_array(&s, "y", RG_F32, N, 2, false);
    rg_array *far = add_array(&other, "x", RG_F32, N, 3, false), *none = NULL;
    for (int i = 0; i < N; i++)
        host[i] = (float)i + 1;
    GOOD(rg_array_write(s.queue, x, RG_PRIMAL, host, sizeof host));
    GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
    GOOD(rg_array_copy(other.queue, far, RG_PRIMAL, y, RG_PRIMAL));
    GOOD(rg_array_read(other.queue, far, RG_PRIMAL, back, sizeof back));
    CHECK(memcmp(host, back, sizeof host) == 0, "%g", back[1]);
    FAILS(rg_array_create(s.queue, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {1 << 28}), &none), RG_OUT_OF_MEMORY,
          "more than a GPU that is not there takes in one piece");
    fake->memory = fake->used + 4096;
    FAILS(rg_array_create(s.queue, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {N * 4}), &none), RG_OUT_OF_MEMORY,
          "16064 bytes more are needed");
    fake->memory = usual.memory;
    close_scene(&s);
    close_scene(&other);
    fake->devices = 1;
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

static void
settle(const char *device, float loss[1], float x[N], float slope[1], float of_x[N])
{
    scene s;
    if (!open_scene(&s, device, "settle", 0))
        return;
    rg_array *k = add_array(&s, "k", RG_F32, 1, 0.9, true), *a = add_array(&s, "x", RG_F32, N, 0, true);
    rg_array *l = add_array(&s, "loss", RG_F32, 1, 0, true);
    float host[N];
    for (int i = 0; i < N; i++)
        host[i] = 1 + (float)(i % 7) / 8;
    GOOD(rg_array_write(s.queue, a, RG_PRIMAL, host, sizeof host));
    GOOD(rg_array_fill(s.queue, l, RG_ADJOINT, 1));
    GOOD(rg_launch(s.queue, s.args, RG_FORWARD_VJP));
    GOOD(rg_array_read(s.queue, l, RG_PRIMAL, loss, sizeof *loss));
    GOOD(rg_array_read(s.queue, a, RG_PRIMAL, x, sizeof host));
    GOOD(rg_array_read(s.queue, k, RG_ADJOINT, slope, sizeof *slope));
    GOOD(rg_array_read(s.queue, a, RG_ADJOINT, of_x, sizeof host));
    close_scene(&s);
}

static bool
is_near(float a, float b)
{
    return fabsf(a - b) <= 1e-4f * fabsf(b);
}

/* A loop and a branch at kernel level, which the device decides, and their reverse. */
static void
test_steps(void)
{
    static float x[2][N], of_x[2][N];
    float loss[2] = {0, 0}, slope[2] = {0, 0};
    long dispatches = fake->dispatches;
    fake->has_math_mode = 0; /* macOS 13 */
    settle("metal", &loss[0], x[0], &slope[0], of_x[0]);
    settle("interp", &loss[1], x[1], &slope[1], of_x[1]);
    fake->has_math_mode = 1;
    CHECK(fake->dispatches - dispatches > 10, "%ld", fake->dispatches - dispatches);
    CHECK(is_near(loss[0], loss[1]) && loss[1] > 1, "%g, expected %g", loss[0], loss[1]);
    CHECK(is_near(slope[0], slope[1]) && slope[1] > 1, "%g, expected %g", slope[0], slope[1]);
    for (int i = 0; i < N; i++)
        if (!is_near(x[0][i], x[1][i]) || !is_near(of_x[0][i], of_x[1][i])) {
            CHECK(false, "x[%d]: %g and %g, expected %g and %g", i, x[0][i], of_x[0][i], x[1][i], of_x[1][i]);
            break;
        }
}

/* Steps are recorded ahead of the conditions, as many as the last launch had: the host waits less often than the device asks. */
static void
test_ahead(void)
{
    scene s;
    if (!open_scene(&s, "metal", "counts", 0))
        return;
    rg_array *x = add_array(&s, "x", RG_F32, N, 0, false), *last = add_array(&s, "last", RG_F32, 1, 200, false);
    float host[N];
    for (int i = 0; i < 5; i++) {
        float until = i < 3 ? 200 : 150;
        long commits = fake->commits;
        GOOD(rg_array_fill(s.queue, x, RG_PRIMAL, 0));
        GOOD(rg_array_fill(s.queue, last, RG_PRIMAL, until));
        GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
        GOOD(rg_array_read(s.queue, x, RG_PRIMAL, host, sizeof host));
        CHECK(host[0] == until && host[N - 1] == until, "%g and %g, expected %g", host[0], host[N - 1], until);
        /* the third launch knows that the second one was as expected */
        CHECK(fake->commits - commits <= (i == 2 ? 2 : 8), "launch %d: %ld command buffers", i, fake->commits - commits);
    }
    close_scene(&s);
}

/* An iteration of a loop around two tasks is three dispatches: what chooses between arrays and computes bounds is none, nor is a condition,
 * and the segment behind a task adds up its rows. */
static void
test_dispatches(void)
{
    scene s;
    float out[2][2];
    const char *const devices[] = {"metal", "interp"};
    for (int d = 0; d < 2; d++) {
        if (!open_scene(&s, devices[d], "grows", 0))
            return;
        add_array(&s, "x", RG_F32, N, 0, false), add_array(&s, "y", RG_F32, N, 0, false);
        rg_array *o = add_array(&s, "out", RG_F32, 2, 0, false);
        long before = fake->dispatches;
        GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
        GOOD(rg_array_read(s.queue, o, RG_PRIMAL, out[d], sizeof out[d]));
        long most = 3 * (long)out[d][1] + 4, found = fake->dispatches - before;
        CHECK(d || found <= most, "%ld dispatches, expected %ld at most", found, most);
        close_scene(&s);
    }
    CHECK(out[0][0] == out[1][0] && out[0][1] == out[1][1] && out[1][1] > 20, "%g after %g turns, expected %g after %g", out[0][0],
          out[0][1], out[1][0], out[1][1]);
}

/* -- rounding ------------------------------------------------------------------------------------------------------ */

static void
round_all(const char *device, float y[N])
{
    scene s;
    float host[N];
    if (!open_scene(&s, device, "rounds", 0))
        return;
    rg_array *x = add_array(&s, "x", RG_F32, N, 0, false), *to = add_array(&s, "y", RG_F32, N, 0, false);
    for (int i = 0; i < N; i++)
        host[i] = (0.01f + (float)(i * 7919 % 10007) / 31) * (i % 5 ? 1 : 1e-40f);
    GOOD(rg_array_write(s.queue, x, RG_PRIMAL, host, sizeof host));
    GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
    GOOD(rg_array_read(s.queue, to, RG_PRIMAL, y, N * sizeof *y));
    close_scene(&s);
}

/* Results are those of IEEE 754 however the GPU rounds. */
static void
test_rounding(void)
{
    static float found[N], expected[N];
    round_all("interp", expected);
    for (fake->rounds = 0; fake->rounds <= 4; fake->rounds++) {
        round_all("metal", found);
        CHECK(memcmp(found, expected, sizeof found) == 0, "%d: %g, expected %g", fake->rounds, found[1], expected[1]);
    }
    fake->rounds = 0;
}

/* -- prints -------------------------------------------------------------------------------------------------------- */

static void
test_prints(void)
{
    scene s;
    int lines = 0;
    if (!open_scene(&s, "metal", "says", 0))
        return;
    add_array(&s, "x", RG_F32, 40, 0.5, false);
    GOOD(rg_args_set_int(s.args, RG_STR("n"), 40));
    for (int times = 0; times < 2; times++) {
        said[0] = 0;
        GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
        for (int i = 0; i < 40; i++) {
            char line[40];
            snprintf(line, sizeof line, "<%d: 0.5>\n", i);
            lines += strstr(said, line) != NULL;
        }
    }
    CHECK(lines == 80 && strlen(said) == 10 * strlen("<0: 0.5>\n") + 30 * strlen("<10: 0.5>\n"), "%d lines: %s", lines, said);
    close_scene(&s);
}

/* -- faults -------------------------------------------------------------------------------------------------------- */

static void
test_faults(void)
{
    scene s;
    if (!open_scene(&s, "metal", "checked", 0))
        return;
    rg_array *x = add_array(&s, "x", RG_F32, N, 1, false);
    add_array(&s, "y", RG_F32, N, 0, false);
    GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
    GOOD(rg_array_fill(s.queue, x, RG_PRIMAL, 0));
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD), RG_ASSERT, "kernel `checked` (forward): kernels.c:26: assertion failed: x[i] > 0");
    GOOD(rg_array_fill(s.queue, x, RG_PRIMAL, 1));
    GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
    fake->fails_at = fake->calls + 3; /* commandBuffer, computeCommandEncoder, commit */
    fake->fails_with = 2;
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD), RG_DEVICE,
          "kernel `checked` (forward): the GPU did not end the launch: it took too long");
    GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
    fake->fails_at = fake->calls + 3;
    fake->fails_with = 8;
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD), RG_OUT_OF_MEMORY, "kernel `checked` (forward)");
    fake->fails_at = fake->calls + 3;
    fake->fails_with = 11;
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD), RG_DEVICE, "kernel `checked` (forward): the device is lost (the GPU was removed)");
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD), RG_DEVICE, "the device is lost (the GPU was removed)");
    close_scene(&s);
    fake->removed = 0;
}

static void
refuses(const char *kernel, rg_dtype dtype, rg_status status, const char *word)
{
    scene s;
    if (!open_scene(&s, "metal", kernel, 0))
        return;
    add_array(&s, "x", dtype, N, 1, false);
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD), status, word);
    close_scene(&s);
}

static void
test_refusals(void)
{
    refuses("wide", RG_F64, RG_UNSUPPORTED, "Metal: an atomic update of 64 bits");
    scene s;
    fake->width = 64;
    check_open("metal", RG_DEVICE, "SIMD-groups of 32 threads are needed");
    fake->width = 32;
    if (!open_scene(&s, "metal", "checked", 0))
        return;
    fake->width = 64;
    add_array(&s, "x", RG_F32, N, 1, false);
    add_array(&s, "y", RG_F32, N, 1, false);
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD), RG_DEVICE,
          "kernel `checked` (forward): Metal does not take part 1 of 1: SIMD-groups of 32");
    fake->width = 32;
    close_scene(&s);
}

/* -- the budget ---------------------------------------------------------------------------------------------------- */

static void
recall(const char *device, uint64_t budget, rg_status expected, float slope[N])
{
    scene s;
    if (!open_scene(&s, device, "recalls", budget))
        return;
    rg_array *x = add_array(&s, "x", RG_F32, N, 0.5, true), *y = add_array(&s, "y", RG_F32, N, 0, true);
    add_array(&s, "steps", RG_I32, N, 400, false);
    GOOD(rg_array_fill(s.queue, y, RG_ADJOINT, 1));
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD_VJP), expected,
          expected ? "kernel `recalls` (forward_vjp): kernels.c:49: the tape needs 163840 bytes by now; the budget is 131072 bytes" : NULL);
    if (!expected && budget)
        CHECK(rg_queue_tape_peak(s.queue) > 131072, "%llu bytes", (unsigned long long)rg_queue_tape_peak(s.queue));
    GOOD(rg_array_read(s.queue, x, RG_ADJOINT, slope, N * sizeof *slope));
    close_scene(&s);
}

static void
test_budget(void)
{
    static float found[N], expected[N];
    recall("metal", 131072, RG_BUDGET, found);
    recall("metal", 10 << 20, RG_OK, found);
    recall("interp", 0, RG_OK, expected);
    for (int i = 0; i < N; i++)
        if (!is_near(found[i], expected[i]) || (i == 0 && expected[i] == 0)) {
            CHECK(false, "%d: %g, expected %g", i, found[i], expected[i]);
            break;
        }
}

/* -- cancelling, threads ------------------------------------------------------------------------------------------- */

static void *
cancel_soon(void *queue)
{
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    rg_queue_cancel(queue);
    return NULL;
}

static void
test_cancel(void)
{
    scene s;
    pthread_t thread;
    if (!open_scene(&s, "metal", "turns", 0))
        return;
    rg_array *stop = add_array(&s, "stop", RG_F32, 1, 0, false);
    add_array(&s, "x", RG_F32, N, 0, false);
    rg_queue_cancel(s.queue); /* nothing runs */
    GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
    GOOD(rg_array_fill(s.queue, stop, RG_PRIMAL, 1));
    pthread_create(&thread, NULL, cancel_soon, s.queue);
    FAILS(rg_launch(s.queue, s.args, RG_FORWARD), RG_CANCELLED, "kernel `turns` (forward): kernels.c:73: the launch was cancelled");
    pthread_join(thread, NULL);
    GOOD(rg_array_fill(s.queue, stop, RG_PRIMAL, 0));
    GOOD(rg_launch(s.queue, s.args, RG_FORWARD));
    close_scene(&s);
}

typedef struct worker {
    rg_device *device;
    bool good;
} worker;

static void *
work(void *user)
{
    worker *w = user;
    rg_queue *queue = NULL;
    rg_array *x = NULL;
    float host[N], back[N];
    w->good = !rg_queue_create(w->device, NULL, &queue);
    for (int k = 0; k < 20 && w->good; k++) {
        for (int i = 0; i < N; i++)
            host[i] = (float)(i * k);
        w->good = !rg_array_create(queue, &RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {N}), &x) &&
                  !rg_array_write(queue, x, RG_PRIMAL, host, sizeof host) && !rg_array_read(queue, x, RG_PRIMAL, back, sizeof back) &&
                  memcmp(host, back, sizeof host) == 0;
        rg_array_destroy(x);
    }
    rg_queue_destroy(queue);
    return NULL;
}

static void
test_threads(void)
{
    pthread_t threads[4];
    worker workers[4] = {{0}};
    rg_device *device = NULL;
    GOOD(rg_device_open(&RG_DESC(rg_device_desc, .name = RG_STR("metal")), &device));
    for (int i = 0; i < 4; i++) {
        workers[i].device = device;
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK(workers[i].good);
    }
    rg_device_destroy(device);
}

int
main(int argc, char **argv)
{
    void *library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    fake = library ? dlsym(library, "fake") : NULL;
    if (!fake) {
        printf("usage: metal_test DRIVER\n");
        return 1;
    }
    setenv("RG_METAL_DRIVER", argv[1], 1);
    setenv("RG_METAL_GROUPS", "3", 1);
    usual = *fake;
    GOOD(rg_module_from_c(RG_STR(source), &RG_DESC(rg_module_desc, .name = RG_STR("kernels.c")), &module));
    if (!module)
        return check_done();
    test_devices(argv[1]);
    test_memory();
    test_steps();
    test_ahead();
    test_dispatches();
    test_rounding();
    test_prints();
    test_faults();
    test_refusals();
    test_budget();
    test_cancel();
    test_threads();
    rg_module_destroy(module);
    CHECK(fake->alive == 0 && fake->used == 0, "%ld objects alive", fake->alive);
    CHECK(fake->unsafe == 0, "%ld: %s", fake->unsafe, fake->why);
    return check_done();
}
