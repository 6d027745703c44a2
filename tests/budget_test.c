/* Gradients of long loops in small budgets: the same bits as with room for everything, but for the order of sums on a GPU.
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "devices.h"

#include <retrograd/retrograd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "#include <math.h>\n"
    "void chain(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    float s[100];\n"
    "    for (int j = 0; j < 100; j++) s[j] = a[j % m];\n"
    "    for (int t = 0; t < n; t++)\n"
    "        for (int j = 0; j < 100; j++) {\n"
    "            float v = s[j], w = s[(j + 37) % 100];\n"
    "            s[j] = v + 0.01f * (w * (1.0f - v * v) - v);\n"
    "        }\n"
    "    for (int j = 0; j < m; j++) out[j] = s[j];\n"
    "}\n"
    "void inplace(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < m / 2; i++)\n"
    "        for (int t = 0; t < n; t++) {\n"
    "            int k = 2 * i + t % 2;\n"
    "            out[k] = sinf(out[k]) + a[i] * out[k] * out[k];\n"
    "        }\n"
    "}\n"
    "void scalar(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    float x = a[0], y = a[1], z = a[2];\n"
    "    for (int t = 0; t < n; t++) {\n"
    "        float dx = 10.0f * (y - x), dy = x * (2.0f - z) - y, dz = x * y - 2.0f * z;\n"
    "        x += 0.001f * dx; y += 0.001f * dy; z += 0.001f * dz;\n"
    "    }\n"
    "    out[0] = x; out[1] = y; out[2] = z;\n"
    "}\n"
    "void hunt(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    float x = a[0], e = a[1]; int k = 0;\n"
    "    while (e > 1e-6f * a[2] && k < n) {\n"
    "        x = sinf(x) + a[3]; e = e * 0.99999f; k++;\n"
    "        if (x > 50.0f) break;\n"
    "    }\n"
    "    out[0] = x * e + (float)k * a[4];\n"
    "}\n"
    "void nested(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    float x = a[0];\n"
    "    for (int i = 0; i < 40; i++) {\n"
    "        float v = x;\n"
    "        for (int t = 0; t < n / 40; t++) { v = sinf(v) * a[1] + a[2] * x; if (v > 3.0f) break; }\n"
    "        float w = v; int k = 0;\n"
    "        while (w * w > 1e-3f && k++ < n / 20) w = w * 0.9999f + 0.001f * v * a[3] * sinf(w);\n"
    "        x = 0.5f * x + 0.3f * w + 0.1f * v;\n"
    "    }\n"
    "    out[0] = x;\n"
    "}\n"
    "void threads(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < m; i++) {\n"
    "        float v = a[i];\n"
    "        for (int t = 0; t < n / (1 + i); t++) { v += 0.0001f * sinf(v * a[0]); }\n"
    "        out[i] = v;\n"
    "    }\n"
    "}\n"
    "void waves(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    float damp = a[2];\n"
    "    for (int i = 0; i < 256; i++) w[i] = a[i % m];\n"
    "    for (int t = 0; t < n; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 128; i++)\n"
    "            w[128 + i] = w[i] + 0.1f * a[1] * (w[(i + 1) % 128] - w[i]) * sinf(w[(i + 127) % 128]);\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 128; i++) {\n"
    "            float v = w[128 + i];\n"
    "            while (v > 1.5f) v = v - 0.01f * v * v;\n"
    "            w[i] = v * (1.0f - 0.001f * damp);\n"
    "        }\n"
    "        damp = damp * 0.9999f + 0.0001f * a[3];\n"
    "    }\n"
    "    for (int i = 0; i < m; i++) out[i] = w[i] * w[i + 1];\n"
    "}\n"
    "void sweep(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    for (int i = 0; i < 256; i++) w[i] = a[i % m];\n"
    "    for (int t = 0; t < n; t++)\n"
    "        for (int i = 1; i < 255; i++) w[i] = 0.5f * w[i] + 0.25f * (w[i - 1] + w[i + 1]) + 0.01f * w[i] * (1.0f - w[i]);\n"
    "    for (int i = 0; i < m; i++) out[i] = w[10 * i] * w[i];\n"
    "}\n"
    "void still(int n, int m, const float a[m], float out[m], float w[256]) {\n" /* the kernel itself records nothing */
    "    for (int i = 0; i < 256; i++) w[i] = a[i % m];\n"
    "    for (int t = 0; t < n; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 256; i++) w[i] += 0.0001f * sinf(w[i]);\n"
    "    }\n"
    "    for (int i = 0; i < m; i++) out[i] = w[i];\n"
    "}\n"
    "void steps(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    float total = 0.0f;\n"
    "    for (int i = 0; i < 256; i++) w[i] = a[i % m];\n"
    "    for (int t = 0; t < n; t++) {\n"
    "        float sum = 0.0f;\n"
    "        for (int s = 0; s < 1 + t % 3; s++) {\n"
    "            #pragma omp parallel for\n"
    "            for (int i = 0; i < 128; i++) w[128 + i] = w[i] + 0.01f * sinf(w[(i + 1) % 128] - w[i]);\n"
    "            #pragma omp parallel for reduction(+ : sum)\n"
    "            for (int i = 0; i < 128; i++) { w[i] = w[128 + i]; sum += w[i] * w[i]; }\n"
    "        }\n"
    "        if (t % 7 == 3) {\n"
    "            #pragma omp parallel for\n"
    "            for (int i = 0; i < 128; i++) w[i] *= 1.0f + 0.0001f * sinf(w[i]);\n"
    "        }\n"
    "        for (int i = 1; i < 8; i++) w[i] = 0.9f * w[i] + 0.1f * w[i - 1] * w[i];\n"
    "        total = 0.999f * total + 0.0001f * sum;\n"
    "        if (total > 1e6f) break;\n"
    "    }\n"
    "    for (int i = 0; i < m; i++) out[i] = w[i + 5] * total;\n"
    "}\n"
    "void later(int n, int m, const float a[m], float out[m], float w[256]) {\n" /* what the loop reads is overwritten behind it */
    "    for (int i = 0; i < m; i++) out[i] = a[i];\n"
    "    for (int i = 0; i < 256; i++) w[i] = a[i % m];\n"
    "    for (int t = 0; t < n; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 256; i++) w[i] += 0.0001f * sinf(w[i] * out[i % m]);\n"
    "    }\n"
    "    for (int i = 0; i < m; i++) out[i] = w[i];\n"
    "}\n"
    "void late(int n, int m, const float a[m], float out[m], float w[256]) {\n" /* asks for pages behind what it has stored */
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < 256; i++) {\n"
    "        w[i] = a[i % m];\n"
    "        for (int t = 0; t < n; t++) {\n"
    "            w[i] = sinf(w[i]) + 0.1f * w[i];\n"
    "            if (w[i] < 0.001f) break;\n"
    "        }\n"
    "        if (i < m) out[i] = w[i];\n"
    "    }\n"
    "}\n"
    "void kept(int n, int m, const float a[m], float out[m], float w[256]) {\n" /* the same with tapes that outlive their task */
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < 256; i++) w[i] = a[i % m];\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < 256; i++)\n"
    "        for (int t = 0; t < n; t++) {\n"
    "            w[i] = sinf(w[i]) + 0.1f * w[i];\n"
    "            if (w[i] < 0.001f) break;\n"
    "        }\n"
    "    for (int i = 0; i < m; i++) out[i] = w[i];\n"
    "}\n"
    "void swap(int n, int m, const float a[m], float out[m], float w[256]) {\n"
    "    float *from = w, *to = w + 128;\n"
    "    for (int i = 0; i < 256; i++) w[i] = a[i % m];\n"
    "    for (int t = 0; t < n; t++) {\n"
    "        #pragma omp parallel for\n"
    "        for (int i = 0; i < 128; i++) to[i] = from[i] + 0.0001f * sinf(from[(i + 1) % 128] - from[i]);\n"
    "        float *other = from; from = to; to = other;\n"
    "    }\n"
    "    for (int i = 0; i < m; i++) out[i] = from[i];\n"
    "}\n";

enum { M = 8 };

static const char *device;

#define OK(call) CHECK((call) == RG_OK, "%s", rg_error_message())


/* What cannot drop frames fails before it has changed anything. */
static void
refuse(void)
{
    rg_queue *rg = NULL;
    rg_module *mod = NULL;
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    devices_desc desc = {.device = rg_str_of(device), .tape_budget = 4 << 16, .num_threads = 1};
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {M}, .adjoint = true);
    rg_array_desc work = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {256}, .adjoint = true);
    rg_array *a = NULL, *out = NULL, *w = NULL;
    float start[M], after[M];
    for (int i = 0; i < M; i++)
        start[i] = 0.5f + 0.01f * (float)i;
    OK(devices_open(&desc, &rg));
    OK(rg_module_from_c(RG_STR(source), NULL, &mod));
    OK(rg_module_get_kernel(mod, RG_STR("inplace"), &kernel));
    OK(rg_args_create(rg, kernel, &args));
    OK(rg_array_create(rg, &like, &a));
    OK(rg_array_create(rg, &like, &out));
    OK(rg_array_create(rg, &work, &w));
    OK(rg_args_set_array(args, RG_STR("w"), w));
    OK(rg_array_write(rg, a, RG_PRIMAL, start, sizeof start));
    OK(rg_array_write(rg, out, RG_PRIMAL, start, sizeof start));
    OK(rg_args_set_int(args, RG_STR("n"), 1000000));
    OK(rg_args_set_int(args, RG_STR("m"), M));
    OK(rg_args_set_array(args, RG_STR("a"), a));
    OK(rg_args_set_array(args, RG_STR("out"), out));
    rg_status status = rg_launch(rg, args, RG_FORWARD_VJP);
    if (!status)
        status = rg_queue_sync(rg);
    CHECK(status == RG_BUDGET, "%s", "inplace");
    if (strcmp(devices_name(rg), "cpu") == 0)
        CHECK(strstr(rg_error_message(), "8060928 bytes by now; the budget is 262144 bytes") != NULL, "%s", rg_error_message());
    if (devices_share_memory(rg)) {
        OK(rg_array_read(rg, out, RG_PRIMAL, after, sizeof after));
        CHECK(memcmp(start, after, sizeof start) == 0, "%s", "inplace");
    }
    OK(rg_args_set_int(args, RG_STR("n"), 10000));
    OK(rg_launch(rg, args, RG_FORWARD_VJP));
    rg_array_destroy(a);
    rg_array_destroy(out);
    rg_array_destroy(w);
    rg_args_destroy(args);
    rg_module_destroy(mod);
    rg_queue_destroy(rg);
}

static void
gradient(const char *name, int n, uint64_t budget, uint32_t threads, bool combined, float grad[M])
{
    rg_queue *rg = NULL;
    rg_module *mod = NULL;
    rg_kernel *kernel = NULL;
    rg_args *args = NULL;
    devices_desc desc = {.device = rg_str_of(device), .tape_budget = budget, .num_threads = threads};
    rg_array_desc like = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {M}, .adjoint = true);
    rg_array *a = NULL, *out = NULL, *w = NULL;
    const int64_t two = 2;
    rg_array_desc work = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {256}, .adjoint = true);
    rg_array_desc strided = RG_DESC(rg_array_desc, .dtype = RG_F32, .rank = 1, .shape = {512});
    rg_array *memory = NULL;
    float start[M], seed[M];
    for (int i = 0; i < M; i++) {
        start[i] = 0.5f + 0.1f * (float)i;
        seed[i] = 1.0f - 0.2f * (float)i;
    }
    OK(devices_open(&desc, &rg));
    OK(rg_module_from_c(RG_STR(source), NULL, &mod));
    OK(rg_module_get_kernel(mod, (rg_str){name, strlen(name)}, &kernel));
    OK(rg_args_create(rg, kernel, &args));
    OK(rg_array_create(rg, &like, &a));
    OK(rg_array_create(rg, &like, &out));
    if (n % 2) { /* every second element of memory that is not the array's */
        OK(rg_array_create(rg, &strided, &memory));
        work.strides = &two;
        work.data = devices_address(memory);
    }
    OK(rg_array_create(rg, &work, &w));
    OK(rg_array_write(rg, a, RG_PRIMAL, start, sizeof start));
    OK(rg_array_write(rg, out, RG_ADJOINT, seed, sizeof seed));
    OK(rg_args_set_int(args, RG_STR("n"), n));
    OK(rg_args_set_int(args, RG_STR("m"), M));
    OK(rg_args_set_array(args, RG_STR("a"), a));
    OK(rg_args_set_array(args, RG_STR("out"), out));
    OK(rg_args_set_array(args, RG_STR("w"), w));
    rg_status status = combined ? rg_launch(rg, args, RG_FORWARD_VJP) : rg_launch(rg, args, RG_VJP);
    if (!status)
        status = rg_queue_sync(rg);
    if (status != RG_OK)
        printf("%s, budget %llu: %s\n", name, (unsigned long long)budget, rg_error_message());
    CHECK(status == RG_OK, "%s", name);
    OK(rg_array_read(rg, a, RG_ADJOINT, grad, sizeof start));
    rg_array_destroy(a);
    rg_array_destroy(out);
    rg_array_destroy(w);
    rg_array_destroy(memory);
    rg_args_destroy(args);
    rg_module_destroy(mod);
    rg_queue_destroy(rg);
}

/* On GPUs the pool decides how many warps run a task, and so the order of the sums of `steps`. On one that is really there
 * the contributions of several warps to an adjoint come in any order, as those to a[i % m] do. */
static bool
is_same(const char *name, const float want[M], const float got[M])
{
    static const char *const serial[] = {"scalar", "hunt", "nested"};
    bool sums = devices_is_gpu(device) || (strcmp(name, "steps") == 0 && devices_has_warps(device));
    for (size_t i = 0; i < sizeof serial / sizeof *serial; i++)
        sums = sums && strcmp(name, serial[i]) != 0;
    float most = 0, off = 0;
    if (!sums)
        return memcmp(want, got, M * sizeof want[0]) == 0;
    for (int i = 0; i < M; i++) {
        most = fmaxf(most, fabsf(want[i]));
        off = fmaxf(off, fabsf(want[i] - got[i]));
    }
    return off <= 1e-5f * most;
}

static void
compare(const char *name, int n, uint64_t budget, uint32_t threads, bool combined)
{
    float want[M] = {0}, got[M] = {0};
    gradient(name, n, 0, threads, combined, want);
    gradient(name, n, budget, threads, combined, got);
    bool same = is_same(name, want, got), some = false;
    for (int i = 0; i < M; i++)
        some |= want[i] != 0;
    if (!same || !some)
        printf("%s, %d, %llu bytes: %.9g %.9g, expected %.9g %.9g\n", name, n, (unsigned long long)budget,
               (double)got[0], (double)got[1], (double)want[0], (double)want[1]);
    CHECK(same, "%s", name);
    CHECK(some, "%s", name);
}

/* Groups of threads that cannot begin anew when they find no page, more of them than there are pages. */
static void
crowd(void)
{
    rg_queue *rg = NULL;
    device = devices_named("simt");
    if (devices_open(&(devices_desc){.device = rg_str_of(device)}, &rg))
        return;
    rg_queue_destroy(rg);
    for (uint64_t pages = 1; pages < 40; pages += 5) {
        compare("late", 100, pages << 15, 1, true);
        compare("kept", 20, (pages + 1) << 15, 1, true);
    }
}

int
main(int argc, char **argv)
{
    device = devices_named("cpu");
    if (argc == 4) { /* budget_test NAME STEPS BUDGET: once, for timing */
        float grad[M] = {0};
        gradient(argv[1], atoi(argv[2]), strtoull(argv[3], NULL, 0), 1, true, grad);
        printf("%.9g %.9g %.9g\n", (double)grad[0], (double)grad[1], (double)grad[2]);
        return check_failures != 0;
    }
    crowd();
    device = devices_named("cpu");
    refuse();
    static const char *const names[] = {"chain", "scalar", "hunt", "nested", "threads", "waves", "sweep", "swap", "still", "steps", "later"};
    static const int steps[] = {6000, 300000, 300000, 300000, 200000, 4000, 4000, 9000, 9000, 3000, 9000};
    /* what takes seconds on a CPU takes minutes on one thread of a GPU, or where one is played */
    bool slow = strcmp(device, "cpu") != 0;
    for (int k = 0; k < 11; k++)
        for (int combined = k >= 5; combined < 2; combined++) { /* the last ones work in place */
            bool tasks = k >= 5; /* each warp holds a page */
            int n = slow ? steps[k] / (tasks ? 64 : 32) : steps[k];
            uint64_t page = slow && !tasks ? 1 << 13 : slow ? 1 << 17 : 1 << 16;
            compare(names[k], n, 16 * page, 1, combined);
            compare(names[k], n / 3, 64 * page, 2, combined);
            compare(names[k], n / 2 + 1 - n / 2 % 2, 20 * page, 1, combined);
        }
    return check_done();
}
