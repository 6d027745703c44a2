/* Arrays that time loops keep on the tape or make in each step, of sizes around that of a frame, dense and strided, with room for all
 * states and for few: gradients as the CPU has them. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "devices.h"

#include <retrograd/retrograd.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "#include <stdlib.h>\n"
    /* v is a view of rows; x is restored into memory of its own and read by neighbours; a short array is read in front of all */
    "void drift(int n, int rows, int cols, int steps, float x[n], float v[rows][cols], float s[3]) {\n"
    "    for (int t = 0; t < steps; t++) {\n"
    "        float first = s[0];\n"
    "        #pragma omp parallel for collapse(2)\n"
    "        for (int i = 0; i < rows; i++)\n"
    "            for (int j = 0; j < cols; j++) {\n"
    "                int k = (i * cols + j) % n;\n"
    "                float d = x[k] - x[(k + 1) % n];\n"
    "                v[i][j] += 0.1f * d * (1.0f + 0.3f * first * d * v[i][j]);\n"
    "            }\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n; i++)\n"
    "            x[i] += 0.05f * x[i] * (1.0f - x[i]) + 0.01f * v[i % rows][i % cols];\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 3; i++)\n"
    "            s[i] = s[i] * (0.9f + 0.1f * s[i]);\n"
    "    }\n"
    "}\n"
    /* memory that is zero in each step: of one array serial code changes an element at once */
    "void zeros(int n, int rows, int cols, int steps, float x[n], float v[rows][cols], float s[3]) {\n"
    "    for (int t = 0; t < steps; t++) {\n"
    "        float *f = calloc(n, sizeof *f), *h = calloc(n, sizeof *h);\n"
    "        f[n / 2] = x[0] * s[0];\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n; i++)\n"
    "            if (i % 3 == 0) h[i] = x[i] * x[i];\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n; i++)\n"
    "            x[i] = 0.9f * x[i] + 0.1f * x[i] * h[i] + f[i];\n"
    "        free(f);\n"
    "        free(h);\n"
    "    }\n"
    "}\n"
    /* what is saved is overwritten at once by the kernel's serial code */
    "void edges(int n, int rows, int cols, int steps, float x[n], float v[rows][cols], float s[3]) {\n"
    "    for (int t = 0; t < steps; t++) {\n"
    "        x[0] = 0.9f * x[n - 1] * x[0] + 0.1f * s[1];\n"
    "        x[n - 1] = 0.7f * x[n / 2] + 0.2f * s[2];\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 3; i++)\n"
    "            s[i] = 0.5f * s[i] + 0.5f * x[i] * x[n - 1 - i];\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < n; i++)\n"
    "            x[i] = x[i] * (1.0f - 0.1f * x[i] * s[0]);\n"
    "    }\n"
    "}\n";

enum { FRAME = (32768 - 2 * 128) / 4, ARRAYS = 3 }; /* floats that one page of a GPU's tape holds (RT_GPU_BLOCK_BYTES) */

#define OK(call) CHECK((call) == RG_OK, "%s", rg_error_message())

typedef struct problem {
    const char *name;
    int n, rows, cols, steps;
    bool strided; /* x takes every second element of its memory, v's rows have room behind them */
    uint64_t few;  /* KiB in which not all states have room */
} problem;

static size_t
elements(const problem *p, int array)
{
    return array == 0 ? (size_t)p->n : array == 1 ? (size_t)p->rows * (size_t)p->cols : 3;
}

static void
fill(float *at, size_t n, uint32_t seed, float from, float to)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        at[i] = from + (to - from) * (float)(seed >> 8) / (float)(1 << 24);
    }
}

static rg_array_desc
shape_of(const problem *p, int array, int64_t strides[2])
{
    rg_array_desc d = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = array == 1 ? 2 : 1, .adjoint = true);
    d.shape[0] = array == 1 ? p->rows : (int64_t)elements(p, array);
    d.shape[1] = array == 1 ? p->cols : 0;
    strides[0] = array == 1 ? p->cols + 3 : 2;
    strides[1] = 1;
    return d;
}

/* values and adjoints, array by array, one after the other; the caller's to free */
static float *
gradient(const char *device, const problem *p, uint64_t budget, size_t *count)
{
    static const char *const names[ARRAYS] = {"x", "v", "s"};
    rg_queue *rg = NULL;
    rg_module *module = NULL;
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    rg_array *arrays[ARRAYS] = {0}, *memory[ARRAYS] = {0};
    float *all, *at;
    *count = 2 * (elements(p, 0) + elements(p, 1) + elements(p, 2));
    at = all = calloc(*count, sizeof *all);
    OK(devices_open(&(devices_desc){.device = {device, strlen(device)}, .tape_budget = budget, .num_threads = 1}, &rg));
    OK(rg_module_from_c(RG_STR(source), NULL, &module));
    OK(rg_module_get_kernel(module, (rg_str){p->name, strlen(p->name)}, &kernel));
    OK(rg_args_create(rg, kernel, &args));
    OK(rg_args_set_int(args, RG_STR("n"), p->n));
    OK(rg_args_set_int(args, RG_STR("rows"), p->rows));
    OK(rg_args_set_int(args, RG_STR("cols"), p->cols));
    for (int i = 0; i < ARRAYS; i++) {
        size_t n = elements(p, i);
        int64_t strides[2];
        rg_array_desc d = shape_of(p, i, strides);
        rg_array_desc room = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {2 * (int64_t)n + 3 * (int64_t)p->rows});
        if (p->strided && i < 2) {
            OK(rg_array_create(rg, &room, &memory[i]));
            d.strides = strides;
            d.data = devices_address(memory[i]);
        }
        OK(rg_array_create(rg, &d, &arrays[i]));
        OK(rg_args_set_array(args, (rg_str){names[i], 1}, arrays[i]));
    }
    /* the first launch ends its loops early: a device may expect that of the second */
    for (int steps = 2; steps <= p->steps; steps += p->steps - 2) {
        for (int i = 0; i < ARRAYS; i++) {
            fill(at, elements(p, i), 17 + (uint32_t)i, 0.2f, 0.9f);
            OK(rg_array_write(rg, arrays[i], RG_PRIMAL, at, elements(p, i) * sizeof *at));
            fill(at, elements(p, i), 71 + (uint32_t)i, -1.0f, 1.0f);
            OK(rg_array_write(rg, arrays[i], RG_ADJOINT, at, elements(p, i) * sizeof *at));
        }
        OK(rg_args_set_int(args, RG_STR("steps"), steps));
        OK(rg_launch(rg, args, RG_FORWARD_VJP));
        OK(rg_queue_sync(rg));
    }
    for (int i = 0; i < ARRAYS; i++)
        for (int adjoint = 0; adjoint < 2; adjoint++, at += elements(p, i))
            OK(rg_array_read(rg, arrays[i], adjoint ? RG_ADJOINT : RG_PRIMAL, at, elements(p, i) * sizeof *at));
    for (int i = 0; i < ARRAYS; i++)
        rg_array_destroy(arrays[i]), rg_array_destroy(memory[i]);
    rg_args_destroy(args);
    rg_module_destroy(module);
    rg_queue_destroy(rg);
    return all;
}

/* Neighbours' contributions to an adjoint come in any order. */
static void
compare(const char *device, const problem *p, uint64_t budget)
{
    size_t count, wrong = 0, first = 0;
    float *want = gradient("cpu", p, 0, &count), *got = gradient(device, p, budget, &count);
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(got[i] - want[i]) <= 1e-5f + 1e-4f * fabsf(want[i])) && !wrong++)
            first = i;
    CHECK(!wrong, "%s on %s: n %d, %d x %d%s, budget %llu: %zu of %zu numbers differ, number %zu is %g, expected %g", p->name, device, p->n,
          p->rows, p->cols, p->strided ? ", strided" : "", (unsigned long long)budget, wrong, count, first, (double)got[first],
          (double)want[first]);
    free(want);
    free(got);
}

int
main(int argc, char **argv) /* a kernel or "all"; KiB instead of those that follow */
{
    static const problem problems[] = {
        {"drift", 1, 1, 1, 9, false, 768},
        {"drift", 5, 3, 5, 12, false, 768},
        {"drift", FRAME - 1, 3, 7, 9, false, 768},
        {"drift", FRAME, 64, FRAME / 64, 24, false, 768},
        {"drift", FRAME + 1, 2, 2 * FRAME / 2, 9, false, 768},
        {"drift", 3 * FRAME + 40, 130, 201, 24, false, 768},
        {"drift", 2 * FRAME + 1, 37, 501, 24, true, 768},
        {"zeros", 1, 2, 2, 6, false, 768},
        {"zeros", 2 * FRAME + 1, 2, 2, 30, true, 768},
        {"edges", 7, 2, 2, 40, false, 256},
        {"edges", 2 * FRAME, 2, 2, 40, false, 256},
        {"edges", FRAME + 9, 2, 2, 40, true, 256},
    };
    const char *device = devices_named("cpu");
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (argc > 1 && strcmp(argv[1], "all") != 0 && strcmp(argv[1], problems[i].name) != 0)
            continue;
        compare(device, &problems[i], 0);
        compare(device, &problems[i], (argc > 2 ? strtoull(argv[2], NULL, 0) : problems[i].few) << 10);
    }
    return check_done();
}
