/* Gradients and sums with the same bits in every run: for any number of the CPU's threads, and on a GPU whenever its warps
 * run and however many there are. SPDX-License-Identifier: Apache-2.0
 *
 * Device simt (RG_TEST_DEVICE) plays GPUs of several sizes whose warps and lanes run in another order each time. On cuda and amd runs
 * are repeated. Without the option some kernels have to differ from run to run: else this would show nothing. */
#include "ways.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void
need(rg_status status, const char *what)
{
    if (status == RG_OK)
        return;
    printf("%s: %s\n", what, rg_error_message());
    exit(1);
}
#define NEED(call) need((call), #call)

/* In each, threads meet in another way: n threads, m elements. */
static const char text[] =
    "#include <math.h>\n#include <assert.h>\n"
    "void weights(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* private cells */
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < 30; j++) s += w[j] * sin(x[i] + j);\n"
    "        for (int j = 0; j < 3; j++) {\n"
    "            #pragma omp atomic\n"
    "            y[j] += s * x[i];\n"
    "        } }\n"
    "}\n"
    "void reduce(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* sums of threads */
    "{\n"
    "    double s = 0;\n"
    "    #pragma omp parallel for reduction(+: s)\n"
    "    for (int i = 0; i < n; i++) s += exp(x[i]) * w[0];\n"
    "    y[0] = s;\n"
    "}\n"
    "void scatter(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* an array too large for cells */
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        #pragma omp atomic\n"
    "        y[k[i]] += x[i] * sqrt(w[k[i]] + 1.5);\n"
    "    }\n"
    "}\n"
    "void gather(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* its adjoint scatters */
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < m; i++) { double s = 0; for (int j = 0; j < 6; j++) s += w[k[(i + j * 7) % n]] * x[i];\n"
    "        y[i] = s * s; }\n"
    "}\n"
    "void rows(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* rows that chunks cut anywhere */
    "{\n"
    "    double s = 0;\n"
    "    #pragma omp parallel for collapse(2) reduction(+: s)\n"
    "    for (int i = 0; i < n / 37; i++)\n"
    "        for (int j = 0; j < 37; j++) s += x[i * 37 + j] * sin(w[j]);\n"
    "    y[0] = s;\n"
    "}\n"
    "void steps(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* kept tapes */
    "{\n"
    "    double a[4000];\n"
    "    for (int i = 0; i < 4000; i++) a[i] = 0.01;\n"
    "    for (int t = 0; t < 4; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 4000; i++) for (int j = 0; j < 8; j++) a[i] = sin(a[i] * w[j & 3] + x[i]);\n"
    "        double s = 0;\n"
    "        #pragma omp parallel for reduction(+: s)\n"
    "        for (int i = 0; i < 4000; i++) s += a[i] * exp(a[i]);\n"
    "        a[0] += s * 1e-3;\n"
    "    }\n"
    "    y[0] = a[0] + a[7];\n"
    "}\n"
    "void ragged(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* threads of different lengths */
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) { double v = x[i];\n"
    "        for (int t = 0; t < k[i] % 101; t++) { if (v > 3) break; v = sin(v * w[t % 7]) + 0.01 * v; }\n"
    "        #pragma omp atomic\n"
    "        y[i % 5] += v * v; }\n"
    "}\n"
    "void deep(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* more than small budgets hold */
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < 640; i++) { double v = x[i], u = x[i + 1];\n"
    "        for (int t = 0; t < (k[i] % 7 ? 50 : 6000); t++) { v = sin(v * w[t % 7]) + 0.3 * u; u = 0.9 * u + v * w[7]; }\n"
    "        #pragma omp atomic\n"
    "        y[i % 5] += v * u; }\n"
    "}\n"
    "void turns(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* kept tapes, adjoints that scatter */
    "{\n"
    "    double a[2000];\n"
    "    for (int i = 0; i < 2000; i++) a[i] = 0.01 * x[i];\n"
    "    for (int t = 0; t < 3; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 2000; i++) a[i] = sin(a[i] * w[k[i + t]] + x[i]) * w[k[i] % 13];\n"
    "    }\n"
    "    double s = 0;\n"
    "    #pragma omp parallel for reduction(+: s)\n"
    "    for (int i = 0; i < 2000; i++) s += a[i] * a[i];\n"
    "    y[0] = s;\n"
    "}\n"
    "void mixed(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* small and large arrays */
    "{\n"
    "    double s[1] = {0}, a[3] = {0};\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        #pragma omp atomic\n"
    "        a[i % 3] += x[i] * x[i];\n"
    "    }\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        #pragma omp atomic\n"
    "        s[0] += x[i] * a[i % 3];\n"
    "        #pragma omp atomic\n"
    "        y[k[i]] += x[i] * w[k[i]];\n"
    "    }\n"
    "    y[1] += s[0] * s[0];\n"
    "}\n"
    "void guarded(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* turns that nobody passes on */
    "{\n"
    "    double a[1000];\n"
    "    for (int i = 0; i < 1000; i++) a[i] = x[i];\n"
    "    for (int t = 0; t < 2; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 1000; i++) {\n"
    "            assert(x[i] < 5);\n"
    "            a[i] = sin(a[i] * w[k[i]]);\n"
    "            #pragma omp atomic\n"
    "            y[k[i]] += a[i];\n"
    "        }\n"
    "    }\n"
    "}\n"
    "void captured(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* who comes first */
    "{\n"
    "    int next[1] = {0};\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) if (x[i] > 0.2) {\n"
    "        int at;\n"
    "        #pragma omp atomic capture\n"
    "        at = next[0]++;\n"
    "        if (at < m) y[at] = x[i] * w[at];\n"
    "    }\n"
    "}\n"
    "void counted(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* integers: in any order, but all */
    "{\n"
    "    int count[2] = {0, 0};\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        #pragma omp atomic\n"
    "        count[0] += x[i] > 0.1;\n"
    "        #pragma omp atomic\n"
    "        count[1] += x[i] < w[3];\n"
    "    }\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < m; i++) y[i] = w[i] * count[0] + x[i] * count[1];\n"
    "}\n"
    "void product(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n"
    "{\n"
    "    double p = 1;\n"
    "    #pragma omp parallel for reduction(*: p)\n"
    "    for (int i = 0; i < n; i++) p *= 1 + 1e-5 * x[i] * w[3];\n"
    "    y[0] = p;\n"
    "}\n"
    "void largest(int n, int m, const double x[n], const double w[m], const int k[n], double y[m])\n" /* a contest */
    "{\n"
    "    double p = -9;\n"
    "    #pragma omp parallel for reduction(max: p)\n"
    "    for (int i = 0; i < n; i++) p = fmax(p, floor(x[i] * 8) * w[2]);\n"
    "    y[0] = p;\n"
    "}\n";

/* few: of elements, so that threads have cells of their own for sums; else some update them one after the other */
static const struct {
    const char *name;
    bool few;
} kernels[] = {{"weights", true}, {"reduce", true}, {"scatter", false}, {"gather", false}, {"rows", true},     {"steps", true},
               {"ragged", true},  {"deep", true},   {"turns", false},   {"mixed", false},  {"captured", false}, {"counted", true},
               {"product", true}, {"largest", true},  {"guarded", false}};
enum { GUARDED = sizeof kernels / sizeof *kernels - 1 };
enum { KERNELS = sizeof kernels / sizeof *kernels, MOST_N = 120000, MOST_M = 20000, FEW = 600, ARRAYS = 3 };

typedef struct machine {
    const char *name;
    int n, m;         /* sizes of the problem */
    uint32_t repeats; /* of each way of ways.h */
} machine;

static const machine machines[] = {{"cpu", MOST_N, MOST_M, 2}, {"simt", 18000, 17000, 1}, {"segments", 18000, 17000, 1}, {"cuda", MOST_N, MOST_M, 25},
                                   {"amd", MOST_N, MOST_M, 25}, {"vulkan", MOST_N, MOST_M, 25}};
static double *host[ARRAYS];
static int32_t *numbers;

static void
make_inputs(void)
{
    uint32_t random = 12345;
    for (int a = 0; a < ARRAYS; a++) {
        host[a] = malloc(sizeof(double) * MOST_N);
        for (int i = 0; i < MOST_N; i++) {
            random = random * 1664525 + 1013904223;
            host[a][i] = (double)(random >> 8) / (double)(1 << 24) * 2 - 1;
        }
    }
    numbers = malloc(sizeof *numbers * MOST_N);
    for (int i = 0; i < MOST_N; i++) {
        random = random * 1664525 + 1013904223;
        numbers[i] = (int32_t)((random >> 8) % 97 * ((random >> 20) % 7 ? 1 : 200)) % 17000;
    }
}

static int
elements_of(const machine *on, int kernel)
{
    return kernels[kernel].few ? FEW : on->m;
}

static size_t
numbers_of(const machine *on, int kernel)
{
    return (size_t)on->n + 2 * (size_t)elements_of(on, kernel);
}

typedef struct problem {
    rg_queue *queue;
    rg_args *args;
    rg_array *arrays[ARRAYS], *k;
    size_t n, m;
    const char *name;
} problem;

static void
problem_open(problem *p, const machine *on, rg_device *device, rg_module *module, int number, uint32_t way)
{
    static const char *const names[ARRAYS] = {"x", "w", "y"};
    rg_kernel *kernel;
    *p = (problem){.n = (size_t)on->n, .m = (size_t)elements_of(on, number), .name = kernels[number].name};
    NEED(ways_open(device, on->name, way, &p->queue));
    NEED(rg_module_get_kernel(module, rg_str_of(p->name), &kernel));
    NEED(rg_args_create(p->queue, kernel, &p->args));
    NEED(rg_args_set_int(p->args, rg_str_of("n"), on->n));
    NEED(rg_args_set_int(p->args, rg_str_of("m"), (int64_t)p->m));
    for (int a = 0; a < ARRAYS; a++) {
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {(int64_t)(a ? p->m : p->n)}, .adjoint = true);
        NEED(rg_array_create(p->queue, &desc, &p->arrays[a]));
        NEED(rg_args_set_array(p->args, rg_str_of(names[a]), p->arrays[a]));
    }
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {on->n});
    NEED(rg_array_create(p->queue, &desc, &p->k));
    NEED(rg_array_write(p->queue, p->k, RG_PRIMAL, numbers, sizeof(int32_t) * p->n));
    NEED(rg_args_set_array(p->args, rg_str_of("k"), p->k));
}

static void
problem_close(problem *p)
{
    for (int a = 0; a < ARRAYS; a++)
        rg_array_destroy(p->arrays[a]);
    rg_array_destroy(p->k);
    rg_args_destroy(p->args);
    rg_queue_destroy(p->queue);
}

/* What the kernel and its gradient leave: the adjoints of x and w, and y. */
static rg_status
problem_run(problem *p, double *results)
{
    for (int a = 0; a < ARRAYS; a++) {
        size_t bytes = sizeof(double) * (a ? p->m : p->n);
        NEED(rg_array_write(p->queue, p->arrays[a], RG_PRIMAL, host[a], bytes));
        NEED(a == 2 ? rg_array_write(p->queue, p->arrays[a], RG_ADJOINT, host[0], bytes)
                    : rg_array_fill(p->queue, p->arrays[a], RG_ADJOINT, 0));
    }
    rg_status status = rg_launch(p->queue, p->args, RG_FORWARD_VJP);
    if (!status)
        status = rg_queue_sync(p->queue);
    if (status)
        return status;
    NEED(rg_array_read(p->queue, p->arrays[0], RG_ADJOINT, results, sizeof(double) * p->n));
    NEED(rg_array_read(p->queue, p->arrays[1], RG_ADJOINT, results + p->n, sizeof(double) * p->m));
    NEED(rg_array_read(p->queue, p->arrays[2], RG_PRIMAL, results + p->n + p->m, sizeof(double) * p->m));
    return RG_OK;
}

static double *
results_of(const machine *on, rg_device *device, rg_module *module, int number, uint32_t way)
{
    problem p;
    double *results = malloc(sizeof(double) * numbers_of(on, number));
    problem_open(&p, on, device, module, number, way);
    need(problem_run(&p, results), p.name);
    problem_close(&p);
    return results;
}

/* A fault ends a task in which threads wait for those before them, and the next launch knows nothing of it. */
static void
test_fault(const machine *on, rg_device *device, rg_module *fixed)
{
    size_t bytes = sizeof(double) * numbers_of(on, GUARDED);
    double *before = malloc(bytes), *after = malloc(bytes), usual = host[0][777];
    problem p;
    problem_open(&p, on, device, fixed, GUARDED, 1);
    need(problem_run(&p, before), p.name);
    host[0][777] = 9;
    rg_status status = problem_run(&p, after);
    host[0][777] = usual;
    need(problem_run(&p, after), p.name);
    if (status != RG_ASSERT || memcmp(before, after, bytes) != 0) {
        printf("%s: a fault where threads have an order: %s\n", on->name, rg_status_name(status));
        failures++;
    }
    problem_close(&p);
    free(before);
    free(after);
}

/* in how many numbers runs differ from the first */
static size_t
differences(const machine *on, rg_device *device, rg_module *module, int kernel)
{
    uint32_t ways = ways_count(on->name);
    double *first = results_of(on, device, module, kernel, 0), sum = 0;
    size_t n = 0;
    for (uint32_t i = 1; i < ways * on->repeats; i++) {
        double *now = results_of(on, device, module, kernel, i % ways);
        for (size_t j = 0; j < numbers_of(on, kernel); j++)
            n += memcmp(&first[j], &now[j], sizeof(double)) != 0;
        free(now);
    }
    for (size_t j = 0; j < numbers_of(on, kernel); j++)
        sum += fabs(first[j]);
    if (!(sum > 0)) {
        printf("%s, %s: nothing was computed\n", on->name, kernels[kernel].name);
        failures++;
    }
    free(first);
    return n;
}

/* the same numbers as without the option, but for the order of sums */
static void
compare(const machine *on, rg_device *device, rg_module *fixed, rg_module *usual, int kernel)
{
    double *a = results_of(on, device, fixed, kernel, 1), *b = results_of(on, device, usual, kernel, 0);
    double most = 0, apart = 0;
    for (size_t i = 0; i < numbers_of(on, kernel); i++) {
        most = fmax(most, fabs(b[i]));
        apart = fmax(apart, fabs(a[i] - b[i]));
    }
    if (!(apart <= 1e-11 * most)) {
        printf("%s, %s: differs by %g of %g from what it is without the option\n", on->name, kernels[kernel].name, apart, most);
        failures++;
    }
    free(a);
    free(b);
}

static void
test_machine(const machine *on, rg_device *device, rg_module *fixed, rg_module *usual)
{
    int loose = 0;
    for (int i = 0; i < KERNELS; i++) {
        const char *name = kernels[i].name;
        size_t n = differences(on, device, fixed, i), without;
        if (n) {
            printf("%s, %s: %zu numbers differ between runs\n", on->name, name, n);
            failures++;
        }
        /* which threads come first in `captured` only the CPU says without the option, where there is one */
        if (strcmp(name, "captured") != 0 || strcmp(on->name, "cpu") == 0)
            compare(on, device, fixed, usual, i);
        without = differences(on, device, usual, i);
        loose += without > 0;
        printf("%s, %s: %zu, without the option %zu\n", on->name, name, n, without);
        fflush(stdout);
    }
    test_fault(on, device, fixed);
    if (loose < 3) {
        printf("%s: only %d kernels differ without the option: this shows nothing\n", on->name, loose);
        failures++;
    }
}

int
main(void)
{
    rg_module_desc options = RG_DESC(rg_module_desc, .deterministic = true);
    const char *asked = getenv("RG_TEST_DEVICE");
    rg_module *fixed, *usual;
    int tested = 0;
    rg_status status = rg_module_from_c(rg_str_of(text), NULL, &usual);
    if (status == RG_UNSUPPORTED) { /* a build without libclang */
        printf("skipped: %s\n", rg_error_message());
        return 77;
    }
    need(status, "rg_module_from_c");
    NEED(rg_module_from_c(rg_str_of(text), &options, &fixed));
    make_inputs();
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const machine *on = &machines[i];
        rg_device_desc which = RG_DESC(rg_device_desc, .name = rg_str_of(on->name));
        rg_device *device;
        if (strcmp(asked ? asked : "cpu", on->name) != 0)
            continue;
        status = rg_device_open(&which, &device);
        if (status != RG_UNSUPPORTED && status != RG_DEVICE) /* not in this build; no GPU or no driver */
            need(status, on->name);
        if (status) {
            printf("left out: device %s: %s\n", on->name, rg_error_message());
            continue;
        }
        test_machine(on, device, fixed, usual);
        rg_device_destroy(device);
        tested++;
    }
    rg_module_destroy(fixed);
    rg_module_destroy(usual);
    for (int a = 0; a < ARRAYS; a++)
        free(host[a]);
    free(numbers);
    if (!tested) {
        printf("skipped: no device\n");
        return 77;
    }
    return failures != 0;
}
