/* See long.h. SPDX-License-Identifier: Apache-2.0 */
#include "../tests/queue.h"
#include "long.h"

#include <retrograd/retrograd.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One thread that carries 100 floats; a time loop of two tasks that works in place. */
static const char source[] =
    "#include <math.h>\n"
    "void state(int n, const float a[100], float out[100]) {\n"
    "    float s[100];\n"
    "    for (int j = 0; j < 100; j++) s[j] = a[j];\n"
    "    for (int t = 0; t < n; t++)\n"
    "        for (int j = 0; j < 100; j++) {\n"
    "            float v = s[j], w = s[(j + 37) % 100];\n"
    "            s[j] = v + 1e-6f * (w * (1.0f - v * v) - v);\n"
    "        }\n"
    "    for (int j = 0; j < 100; j++) out[j] = s[j];\n"
    "}\n"
    "void waves(int n, const float a[100], float out[100]) {\n"
    "    for (int i = 0; i < 100; i++) out[i] = a[i];\n"
    "    for (int t = 0; t < n; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 50; i++)\n"
    "            out[50 + i] = out[i] + 1e-4f * (out[(i + 1) % 50] - out[i]) * sinf(out[(i + 49) % 50]);\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 50; i++) out[i] = out[50 + i] * (1.0f - 1e-6f * out[50 + i]);\n"
    "    }\n"
    "}\n";

enum { N = 100, RUNS = 3 };

static void
check(rg_status status)
{
    if (status == RG_OK)
        return;
    fprintf(stderr, "bench: %s: %s\n", rg_status_name(status), rg_error_message());
    exit(1);
}

static double
seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median seconds of a gradient; grad receives it. */
static double
gradient(const char *name, int steps, uint64_t budget, int runs, float grad[N])
{
    rg_queue *rg;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *a, *out;
    rg_array_desc desc = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {N}, .adjoint = true);
    float start[N];
    double took[RUNS];
    for (int i = 0; i < N; i++)
        start[i] = 0.5f + 0.01f * (float)(i * 7 % 50);
    check(queue_open("cpu", &RG_DESC(rg_queue_desc, .tape_budget = budget), &rg));
    check(rg_module_from_c(RG_STR(source), NULL, &module));
    check(rg_module_get_kernel(module, (rg_str){name, strlen(name)}, &kernel));
    check(rg_args_create(rg, kernel, &args));
    check(rg_array_create(rg, &desc, &a));
    check(rg_array_create(rg, &desc, &out));
    check(rg_array_write(rg, a, RG_PRIMAL, start, sizeof start));
    check(rg_args_set_array(args, RG_STR("a"), a));
    check(rg_args_set_array(args, RG_STR("out"), out));
    for (int k = -1; k < runs; k++) { /* the first one compiles and takes one step */
        check(rg_args_set_int(args, RG_STR("n"), k < 0 ? 1 : steps));
        check(rg_array_fill(rg, a, RG_ADJOINT, 0));
        check(rg_array_fill(rg, out, RG_ADJOINT, 1));
        double before = seconds();
        check(rg_launch(rg, args, RG_FORWARD_VJP));
        if (k >= 0)
            took[k] = seconds() - before;
    }
    check(rg_array_read(rg, a, RG_ADJOINT, grad, sizeof start));
    rg_array_destroy(a);
    rg_array_destroy(out);
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_queue_destroy(rg);
    qsort(took, (size_t)runs, sizeof took[0], by_value);
    return took[runs / 2];
}

bool
bench_long(void)
{
    static const struct {
        const char *name, *what;
        int steps;
        uint64_t small;
    } rows[] = {{"state", "one thread, 100 floats carried", 1000000, 4 << 20},
                {"waves", "time loop of two tasks, in place", 100000, 4 << 20}};
    bool same = true;
    printf("\n| long loops                        |    steps | unlimited s | 4 MB s | ratio |\n|---|---|---|---|---|\n");
    for (int k = 0; k < 2; k++) {
        float all[N], few[N];
        double unlimited = gradient(rows[k].name, rows[k].steps, 0, RUNS, all);
        double small = gradient(rows[k].name, rows[k].steps, rows[k].small, RUNS, few);
        same &= memcmp(all, few, sizeof all) == 0;
        printf("| %-33s | %8d | %11.2f | %6.2f | %5.2f |\n", rows[k].what, rows[k].steps, unlimited, small,
               small / unlimited);
    }
    float far[N];
    double longest = gradient("state", 10000000, 4 << 20, 1, far);
    printf("| %-33s | %8d | %11s | %6.2f | %5s |\n", rows[0].what, 10000000, "-", longest, "-");
    return same;
}
