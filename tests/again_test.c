/* Budgets that hold the tapes of a few workgroups, but not of all: pieces that find no page run again, and results are those of a budget
 * with room for all. Exit code 77: there is no such device. SPDX-License-Identifier: Apache-2.0
 *
 *   again_test [DEVICE [THREADS [KERNEL]]] */
#include "api_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a loop writes over in an array of a thread's own is recorded, and not dropped: a state would be larger. */
static const char source[] =
    "static float wander(int n, const int k[n], const float x[n], float w, int i)\n"
    "{\n"
    "    float v[512];\n"
    "    for (int j = 0; j < 512; j++)\n"
    "        v[j] = x[(i + j) % n];\n"
    "    for (int t = 0; t < k[i]; t++) {\n" /* line 6 */
    "        int j = (k[(i + t) % n] * t + t / 3) % 512;\n"
    "        v[j] = 0.7f * v[j] * v[(j * 7 + t) % 512] + w;\n"
    "    }\n"
    "    return v[i % 512];\n"
    "}\n"
    "void summed(int n, const int k[n], const float x[n], float y[n], float sum[3], const float w[8])\n"
    "{\n"
    "    float all = 0, c = w[0] * w[1];\n" /* its adjoint is a reduction, w's a sum into an array */
    "    #pragma omp parallel for reduction(+ : all)\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        float v = wander(n, k, x, c + w[i % 8], i);\n"
    "        y[i] = v;\n"
    "        all += v;\n"
    "        #pragma omp atomic\n"
    "        sum[i % 3] += v * v;\n"
    "    }\n"
    "    sum[0] += all;\n"
    "}\n"
    "void followed(int n, const int k[n], const float x[n], float y[n], float sum[3], const float w[8])\n"
    "{\n"
    "    for (int t = 0; t < 2; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n; i++) {\n"
    "            float v = wander(n, k, x, w[i % 8], i);\n"
    "            y[i] += v;\n"
    "        }\n"
    "        float all = 0;\n"
    "        #pragma omp parallel for reduction(+ : all)\n"
    "        for (int i = 0; i < n; i++) {\n"
    "            float v = x[i];\n"
    "            for (int j = 0; j < k[i] % 8; j++)\n"
    "                v = v * (w[j] - v) + 0.25f;\n"
    "            all += v;\n"
    "        }\n"
    "        sum[t] += all;\n"
    "    }\n"
    "}\n"
    /* asks for pages behind what it has stored */
    "void late(int n, const int k[n], const float x[n], float y[n], float sum[3], const float w[8])\n"
    "{\n"
    "    float all = 0;\n"
    "    #pragma omp parallel for reduction(+ : all)\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        float v[512];\n"
    "        for (int j = 0; j < 512; j++)\n"
    "            v[j] = x[(i + j) % n];\n"
    "        for (int t = 0; t < 700; t++) {\n"
    "            int j = (k[(i + t) % n] * t + t / 3) % 512;\n"
    "            v[j] = 0.7f * v[j] * v[(j * 7 + t) % 512] + w[t % 8];\n"
    "        }\n"
    "        y[i] = v[i % 512];\n"
    "        all += y[i] * y[i];\n"
    "    }\n"
    "    sum[1] += all;\n"
    "}\n";

enum { SKIPPED = 77, ARRAYS = 4, K = ARRAYS, MOST = 50 * 32 - 5, LONG = 1200, PAGE = 32768 };

static const char *const names[ARRAYS] = {"x", "y", "sum", "w"};
static float start[MOST], found[2][ARRAYS][MOST]; /* with room, without: y, sum, and the adjoints of x and w */
static int32_t trips[MOST];
static size_t n = MOST;
static const char *only;
static rg_device *device;

static size_t
extent_of(int a)
{
    return a < 2 ? n : a == 2 ? 3 : 8;
}

static void
set_arrays(rg_queue *queue, rg_args *args, rg_array *arrays[ARRAYS + 1])
{
    for (int a = 0; a < ARRAYS; a++) {
        size_t bytes = extent_of(a) * sizeof(float);
        GOOD(rg_array_write(queue, arrays[a], RG_PRIMAL, start, bytes));
        GOOD(a == 1 || a == 2 ? rg_array_write(queue, arrays[a], RG_ADJOINT, start, bytes)
                              : rg_array_fill(queue, arrays[a], RG_ADJOINT, 0));
        GOOD(rg_args_set_array(args, rg_str_of(names[a]), arrays[a]));
    }
    GOOD(rg_array_write(queue, arrays[K], RG_PRIMAL, trips, n * sizeof *trips));
    GOOD(rg_args_set_array(args, RG_STR("k"), arrays[K]));
}

/* Twice in one queue: the second launch finds what the first one has left. */
static rg_status
run(rg_module *module, const char *name, bool split, uint64_t budget, float results[ARRAYS][MOST], uint64_t *peak)
{
    rg_queue *queue = NULL;
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    rg_array *arrays[ARRAYS + 1];
    rg_status status = RG_OK;
    GOOD(rg_queue_create(device, &RG_DESC(rg_queue_desc, .tape_budget = budget), &queue));
    GOOD(rg_module_get_kernel(module, rg_str_of(name), &kernel));
    GOOD(rg_args_create(queue, kernel, &args));
    GOOD(rg_args_set_int(args, RG_STR("n"), (int64_t)n));
    for (int a = 0; a <= ARRAYS; a++) {
        int64_t extent = (int64_t)(a == K ? n : extent_of(a));
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = a == K ? RG_I32 : RG_F32, .rank = 1, .shape = {extent}, .adjoint = a != K);
        GOOD(rg_array_create(queue, &desc, &arrays[a]));
    }
    for (int times = 0; times < 2 && !status; times++) {
        set_arrays(queue, args, arrays);
        if (split)
            GOOD(rg_launch(queue, args, RG_FORWARD));
        status = rg_launch(queue, args, split ? RG_VJP : RG_FORWARD_VJP);
        status = status ? status : rg_queue_sync(queue);
    }
    *peak = rg_queue_tape_peak(queue);
    for (int a = 0; a < ARRAYS && !status; a++)
        GOOD(rg_array_read(queue, arrays[a], a == 1 || a == 2 ? RG_PRIMAL : RG_ADJOINT, results[a], extent_of(a) * sizeof(float)));
    for (int a = 0; a <= ARRAYS; a++)
        rg_array_destroy(arrays[a]);
    rg_args_destroy(args);
    rg_queue_destroy(queue);
    return status;
}

/* What a thread computes alone has the same bits, and in a deterministic module all has; other sums are formed in another order. */
static void
compare(const char *name, uint64_t pages, bool fixed)
{
    for (int a = 0; a < ARRAYS; a++) {
        double scale = 1e-30, most = 0;
        for (size_t i = 0; i < extent_of(a); i++) {
            double by = fabs((double)found[1][a][i] - found[0][a][i]), size = fabs((double)found[0][a][i]);
            most = by <= most || most != most ? most : by;
            scale = size > scale ? size : scale;
        }
        CHECK(most <= (fixed || a == 1 ? 0 : 1e-5 * scale), "%s, %llu pages%s, %s: off by %g of %g", name, (unsigned long long)pages,
              fixed ? ", deterministic" : "", names[a], most, scale);
    }
}

/* Split: what the reverse changes stands behind all that it records, so its pieces can run again. */
static void
check(rg_module *module, const char *name, bool split, bool fixed)
{
    static const uint64_t pages[] = {14, 24, 60, 160};
    uint64_t peak = 0, enough = 0;
    char text[80];
    if (only && strcmp(only, name) != 0)
        return;
    if (run(module, name, split, (uint64_t)1 << 30, found[0], &enough))
        CHECK(false, "%s: %s", name, rg_error_message());
    CHECK(enough > pages[0] * PAGE, "%s: %llu bytes", name, (unsigned long long)enough);
    for (size_t i = 0; i < (split ? sizeof pages / sizeof *pages : 1); i++) {
        rg_status status = run(module, name, split, pages[i] * PAGE, found[1], &peak);
        CHECK(!status, "%s, %llu pages: %s", name, (unsigned long long)pages[i], status ? rg_error_message() : "");
        if (!status)
            compare(name, pages[i], fixed);
    }
    snprintf(text, sizeof text, "the tape needs %d bytes by now; the budget is %d bytes", 4 * PAGE, 3 * PAGE);
    CHECK(run(module, name, split, 3 * PAGE, found[1], &peak) == RG_BUDGET && strstr(rg_error_message(), text), "%s: %s", name,
          rg_error_message());
}

int
main(int argc, char **argv)
{
    const char *on = argc > 1 ? argv[1] : "simt";
    check_on = on;
    if (rg_device_open(&RG_DESC(rg_device_desc, .name = rg_str_of(on)), &device)) {
        printf("%s\n", rg_error_message());
        return SKIPPED;
    }
    n = argc > 2 ? strtoul(argv[2], NULL, 10) : MOST;
    n = n < MOST ? n : MOST;
    only = argc > 3 ? argv[3] : NULL;
    for (int i = 0; i < MOST; i++) {
        start[i] = (float)(i * 37 % 101 + 1) / 150.0f;
        trips[i] = i / 32 % 3 ? i * 31 % 40 + 3 : LONG - i % 64;
    }
    for (int fixed = 0; fixed < 2; fixed++) {
        rg_module *module = NULL;
        rg_status status = rg_module_from_c(rg_str_of(source), &RG_DESC(rg_module_desc, .deterministic = fixed), &module);
        if (status == RG_UNSUPPORTED) { /* a build without libclang */
            printf("%s\n", rg_error_message());
            return SKIPPED;
        }
        GOOD(status);
        check(module, "summed", true, fixed);
        check(module, "followed", true, fixed);
        check(module, "late", false, fixed);
        rg_module_destroy(module);
    }
    rg_device_destroy(device);
    return check_done();
}
