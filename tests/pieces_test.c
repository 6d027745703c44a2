/* Threads of unequal length with a tape, many of them: every piece of a task runs once, whoever takes it, and finds what was recorded
 * for it. Exit code 77: there is no such device. SPDX-License-Identifier: Apache-2.0
 *
 *   pieces_test [DEVICE [THREADS]]     beside device cpu */
#include "api_check.h"

#include <math.h>
#include <stdlib.h>

static const char source[] =
    "void ragged(int n, const int k[n], const float x[n], float y[n], float sum[3], const float w[8])\n"
    "{\n"
    "    float all = 0;\n"
    "    #pragma omp parallel for reduction(+ : all)\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        float v = x[i];\n"
    "        for (int j = 0; j < k[i]; j++)\n"
    "            v = v * (w[j % 8] - v) + 0.25f;\n"
    "        y[i] = v;\n"
    "        all += v;\n"
    "        #pragma omp atomic\n"
    "        sum[i % 3] += v * v;\n"
    "    }\n"
    "    sum[0] += all;\n"
    "}\n"
    "void kept(int n, const int k[n], const float x[n], float y[n], float sum[3], const float w[8])\n" /* tapes; adjoints that scatter */
    "{\n"
    "    for (int t = 0; t < 3; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n; i++) {\n"
    "            float v = y[i];\n"
    "            for (int j = 0; j < k[i] % 8; j++)\n"
    "                v = v * (w[j] - v) + 0.25f * x[(7 * i + k[i]) % n];\n"
    "            y[i] = v;\n"
    "        }\n"
    "    }\n"
    "}\n";

enum { SKIPPED = 77, ARRAYS = 4, K = ARRAYS, MOST = 200000, SHORT = 12, LONG = 300, ROWS = 35000 /* threads: more pieces than rows */ };

static const char *const names[ARRAYS] = {"x", "y", "sum", "w"};
static float start[MOST], *found[2][ARRAYS]; /* on the CPU, on the device: y, sum, and the adjoints of x and w */
static int32_t trips[MOST];

static size_t
extent_of(int a, size_t n)
{
    return a < 2 ? n : a == 2 ? 3 : 8;
}

static void
run_on(rg_queue *queue, rg_module *module, const char *name, size_t n, float **results)
{
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    rg_array *arrays[ARRAYS + 1];
    GOOD(rg_module_get_kernel(module, rg_str_of(name), &kernel));
    GOOD(rg_args_create(queue, kernel, &args));
    GOOD(rg_args_set_int(args, RG_STR("n"), (int64_t)n));
    for (int a = 0; a < ARRAYS; a++) {
        size_t count = extent_of(a, n);
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {(int64_t)count}, .adjoint = true);
        GOOD(rg_array_create(queue, &desc, &arrays[a]));
        GOOD(rg_array_write(queue, arrays[a], RG_PRIMAL, start, count * sizeof(float)));
        GOOD(a == 1 || a == 2 ? rg_array_write(queue, arrays[a], RG_ADJOINT, start, count * sizeof(float))
                              : rg_array_fill(queue, arrays[a], RG_ADJOINT, 0));
        GOOD(rg_args_set_array(args, rg_str_of(names[a]), arrays[a]));
    }
    GOOD(rg_array_create(queue, &RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {(int64_t)n}), &arrays[K]));
    GOOD(rg_array_write(queue, arrays[K], RG_PRIMAL, trips, n * sizeof *trips));
    GOOD(rg_args_set_array(args, RG_STR("k"), arrays[K]));
    GOOD(rg_launch(queue, args, RG_FORWARD_VJP));
    GOOD(rg_queue_sync(queue));
    for (int a = 0; a < ARRAYS; a++)
        GOOD(rg_array_read(queue, arrays[a], a == 1 || a == 2 ? RG_PRIMAL : RG_ADJOINT, results[a], extent_of(a, n) * sizeof(float)));
    for (int a = 0; a <= ARRAYS; a++)
        rg_array_destroy(arrays[a]);
    rg_args_destroy(args);
}

/* What a thread computes alone (`alone`: y and the adjoint of x) has the same bits; sums are formed in another order. */
static void
compare(const char *name, size_t n, bool fixed, bool alone)
{
    for (int a = 0; a < ARRAYS; a++) {
        double most = 0;
        for (size_t i = 0; i < extent_of(a, n); i++) {
            double by = fabs((double)found[1][a][i] - found[0][a][i]) / (a < 2 ? 1 : 1e-30 + fabs((double)found[0][a][i]));
            most = by <= most || most != most ? most : by;
        }
        CHECK(most <= (a < 2 && alone ? 0 : 1e-5),
              "%s, %zu threads%s, %s: off by %g", name, n, fixed ? ", deterministic" : "", names[a], most);
    }
}

static void
check_threads(rg_queue *queues[2], rg_module *module, const char *name, size_t n, bool fixed)
{
    run_on(queues[0], module, name, n, found[0]);
    for (int times = 0; times < 2; times++) {
        run_on(queues[1], module, name, n, found[1]);
        compare(name, n, fixed, strcmp(name, "kept") != 0);
    }
}

int
main(int argc, char **argv)
{
    const char *on[2] = {"cpu", argc > 1 ? argv[1] : "simt"};
    size_t most = argc > 2 ? strtoul(argv[2], NULL, 10) : 5000;
    rg_device *devices[2] = {NULL, NULL};
    rg_queue *queues[2] = {NULL, NULL};
    check_on = on[1];
    if (rg_device_open(&RG_DESC(rg_device_desc, .name = rg_str_of(on[1])), &devices[1])) {
        printf("%s\n", rg_error_message());
        return SKIPPED;
    }
    GOOD(rg_device_open(&RG_DESC(rg_device_desc, .name = rg_str_of(on[0])), &devices[0]));
    for (int d = 0; d < 2; d++) {
        GOOD(rg_queue_create(devices[d], NULL, &queues[d]));
        for (int a = 0; a < ARRAYS; a++)
            found[d][a] = malloc(MOST * sizeof(float));
    }
    for (int i = 0; i < MOST; i++) {
        start[i] = (i * 37 % 101 + 1) / 150.0f;
        trips[i] = i % 97 == 5 ? LONG : i * 31 % SHORT;
    }
    for (int fixed = 0; fixed < 2; fixed++) {
        rg_module *module = NULL;
        rg_status status = rg_module_from_c(rg_str_of(source), &RG_DESC(rg_module_desc, .deterministic = fixed), &module);
        if (status == RG_UNSUPPORTED) { /* a build without libclang */
            printf("%s\n", rg_error_message());
            return SKIPPED;
        }
        GOOD(status);
        for (size_t n = most < MOST ? most : MOST; n; n /= 40)
            check_threads(queues, module, "ragged", n, fixed);
        check_threads(queues, module, "ragged", 0, fixed);
        check_threads(queues, module, "kept", ROWS, fixed);
        rg_module_destroy(module);
    }
    for (int d = 0; d < 2; d++) {
        for (int a = 0; a < ARRAYS; a++)
            free(found[d][a]);
        rg_queue_destroy(queues[d]);
        rg_device_destroy(devices[d]);
    }
    return check_done();
}
