/* Gradients and sums with the same bits for any number of threads. SPDX-License-Identifier: Apache-2.0 */
#include <retrograd/retrograd.h>

#include <math.h>
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
    "#include <math.h>\n"
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

static const char *const kernels[] = {"weights", "reduce", "scatter", "gather", "rows", "steps", "captured", "product", "largest"};

enum { KERNELS = sizeof kernels / sizeof *kernels, N = 120000, M = 20000, ARRAYS = 3 };
static double *host[ARRAYS];
static int32_t *numbers;

static void
make_inputs(void)
{
    uint32_t random = 12345;
    for (int a = 0; a < ARRAYS; a++) {
        host[a] = malloc(sizeof(double) * N);
        for (int i = 0; i < N; i++) {
            random = random * 1664525 + 1013904223;
            host[a][i] = (double)(random >> 8) / (double)(1 << 24) * 2 - 1;
        }
    }
    numbers = malloc(sizeof *numbers * N);
    for (int i = 0; i < N; i++) {
        random = random * 1664525 + 1013904223;
        numbers[i] = (int32_t)((random >> 8) % 97 * ((random >> 20) % 7 ? 1 : 200)) % M;
    }
}

/* What the kernel and its gradient leave: y, and the adjoints of x and w. NULL: refused. */
static double *
results_of(rg_device *device, rg_module *module, const char *name, uint32_t threads)
{
    static const char *const names[ARRAYS] = {"x", "w", "y"};
    rg_queue_desc queue_desc = RG_DESC(rg_queue_desc, .num_threads = threads);
    rg_queue *queue;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *arrays[ARRAYS], *k;
    NEED(rg_queue_create(device, &queue_desc, &queue));
    NEED(rg_module_get_kernel(module, rg_str_of(name), &kernel));
    NEED(rg_args_create(queue, kernel, &args));
    NEED(rg_args_set_int(args, rg_str_of("n"), N));
    NEED(rg_args_set_int(args, rg_str_of("m"), M));
    for (int a = 0; a < ARRAYS; a++) {
        size_t count = a ? M : N;
        rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F64, .rank = 1, .shape = {(int64_t)count});
        NEED(rg_array_create(queue, &desc, &arrays[a]));
        NEED(rg_array_write(queue, arrays[a], RG_PRIMAL, host[a], sizeof(double) * count));
        NEED(rg_array_require(queue, arrays[a], RG_ADJOINT));
        if (a == 2)
            NEED(rg_array_write(queue, arrays[a], RG_ADJOINT, host[0], sizeof(double) * count));
        NEED(rg_args_set_array(args, rg_str_of(names[a]), arrays[a]));
    }
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_I32, .rank = 1, .shape = {N});
    NEED(rg_array_create(queue, &desc, &k));
    NEED(rg_array_write(queue, k, RG_PRIMAL, numbers, sizeof(int32_t) * N));
    NEED(rg_args_set_array(args, rg_str_of("k"), k));
    rg_status status = rg_launch(queue, args, RG_FORWARD_VJP);
    double *results = NULL;
    if (status != RG_UNSUPPORTED) {
        need(status, name);
        results = malloc(sizeof(double) * (N + 2 * M));
        NEED(rg_array_read(queue, arrays[0], RG_ADJOINT, results, sizeof(double) * N));
        NEED(rg_array_read(queue, arrays[1], RG_ADJOINT, results + N, sizeof(double) * M));
        NEED(rg_array_read(queue, arrays[2], RG_PRIMAL, results + N + M, sizeof(double) * M));
    }
    for (int a = 0; a < ARRAYS; a++)
        rg_array_destroy(arrays[a]);
    rg_array_destroy(k);
    rg_args_destroy(args);
    rg_queue_destroy(queue);
    return results;
}

/* in how many numbers runs differ */
static int
differences(rg_device *device, rg_module *module, const char *name)
{
    static const uint32_t threads[] = {1, 2, 3, 7, 2, 3, 2};
    double *first = NULL;
    int n = 0;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        double *now = results_of(device, module, name, threads[i]);
        for (int j = 0; first && j < N + 2 * M; j++)
            n += memcmp(&first[j], &now[j], sizeof(double)) != 0;
        if (first)
            free(now);
        else
            first = now;
    }
    double sum = 0;
    for (int j = 0; j < N + 2 * M; j++)
        sum += fabs(first[j]);
    if (!(sum > 0)) {
        printf("%s: nothing was computed\n", name);
        failures++;
    }
    free(first);
    return n;
}

/* the same numbers as one thread finds without the option, but for the order of sums */
static void
compare(rg_device *device, rg_module *fixed, rg_module *usual, const char *name)
{
    double *a = results_of(device, fixed, name, 2), *b = results_of(device, usual, name, 1), most = 0, apart = 0;
    for (int i = 0; i < N + 2 * M; i++) {
        most = fmax(most, fabs(b[i]));
        apart = fmax(apart, fabs(a[i] - b[i]));
    }
    if (!(apart <= 1e-11 * most)) {
        printf("%s: differs by %g of %g from what it is without the option\n", name, apart, most);
        failures++;
    }
    free(a);
    free(b);
}

/* where there is no order, none is promised */
static void
refuses_gpu(rg_module *module)
{
    rg_device_desc which = RG_DESC(rg_device_desc, .name = rg_str_of("simt"));
    rg_device *device;
    if (rg_device_open(&which, &device))
        return;
    if (results_of(device, module, "reduce", 0) || !strstr(rg_error_message(), "device simt adds in no fixed order")) {
        printf("simt: %s\n", rg_error_message());
        failures++;
    }
    rg_device_destroy(device);
}

int
main(void)
{
    rg_device_desc which = RG_DESC(rg_device_desc, .name = rg_str_of("cpu"));
    rg_module_desc options = RG_DESC(rg_module_desc, .deterministic = true);
    rg_device *device;
    rg_module *fixed, *usual;
    int loose = 0;
    if (rg_device_open(&which, &device) || rg_module_from_c(rg_str_of(text), NULL, &usual)) {
        printf("skipped: %s\n", rg_error_message());
        return 77;
    }
    NEED(rg_module_from_c(rg_str_of(text), &options, &fixed));
    make_inputs();
    refuses_gpu(fixed);
    for (int i = 0; i < KERNELS; i++) {
        int n = differences(device, fixed, kernels[i]), without = differences(device, usual, kernels[i]);
        if (n) {
            printf("%s: %d numbers differ between runs\n", kernels[i], n);
            failures++;
        }
        compare(device, fixed, usual, kernels[i]);
        loose += without > 0;
        printf("%s: %d, without the option %d\n", kernels[i], n, without);
    }
    if (loose < 3) {
        printf("only %d kernels differ without the option: this shows nothing\n", loose);
        failures++;
    }
    rg_module_destroy(fixed);
    rg_module_destroy(usual);
    rg_device_destroy(device);
    for (int a = 0; a < ARRAYS; a++)
        free(host[a]);
    free(numbers);
    return failures != 0;
}
