/* One table for each kind of machine. SPDX-License-Identifier: Apache-2.0 */
#include "target/target.h"

#include "target/sizes.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/prctl.h>
#endif

/* The tape stays in the cache: there recording is about as cheap as computing again (bench: Horner, the
 * recurrences), so that blocks of iterations come out only where much follows from little. Costs of lanes are fitted to
 * the bench's kernels on Zen 5. From four iterations on a loop is better left to become vectors of neighbouring elements. */
#define CPU(bytes, text, sve, uses)                                                                                                     \
    {                                                                                                                        \
        .name = text, .vector = bytes,                                                                                       \
        .page = RT_PAGE, .page_header = RT_PAGE_HEADER, .frame_max = RT_FRAME_MAX, .frame_align = 1,                         \
        .registers = 16 * 8, .local_arrays = 1 << 15,                                                                        \
        .frame = 0.5, .byte = 1.0 / 8, .recording = 1, .recording_iterations = 1, .copying = 1, .load = 3,                   \
        .function = 20, .trips = 16,                                                                                         \
        .unasked = 8,                                                                                                        \
        .unroll = 3, .unroll_ops = 400, .unroll_elements = 1500, .unroll_rounds = 1, .scalable = sve, .features = uses,                                \
    }

#define AVX2 "avx2 bmi bmi2 fma"
static const target cpus[] = {CPU(16, "cpu16", false, ""), CPU(32, "cpu32", false, AVX2), CPU(64, "cpu", false, AVX2 " avx512f avx512bw avx512cd avx512dq avx512vl")};
static const target neon = CPU(16, "neon", false, ""), sve[] = {CPU(32, "sve256", true, "sve=32"), CPU(64, "sve512", true, "sve=64")};

/* SVE's vectors are as long as the processor has them: without a name that says it they count for nothing beside NEON's. */
static const struct {
    const char *architecture, *cpus; /* "": all others */
    const target *table;
} named[] = {
    {"aarch64", " a64fx ", &sve[1]},
    {"aarch64", " neoverse-v1 neoverse-512tvb ", &sve[0]},
    {"aarch64", "", &neon},
    {"x86_64", " x86-64-v4 skylake-avx512 cascadelake cooperlake icelake-client icelake-server tigerlake rocketlake sapphirerapids "
               "emeraldrapids graniterapids diamondrapids znver4 znver5 ", &cpus[2]},
    {"x86_64", " x86-64-v3 haswell broadwell skylake alderlake raptorlake meteorlake arrowlake arrowlake-s lunarlake pantherlake "
               "sierraforest grandridge clearwaterforest gracemont znver1 znver2 znver3 ", &cpus[1]},
    {"x86_64", "", &cpus[0]},
};

/* Every warp's tape goes through memory: a float that is recorded costs as much as fifty multiplications (H200, a
 * million threads of 1024 steps: 2.2 ms beside 0.14 for a body of four). Half of the registers of a warp that shares
 * its core with fifteen others may hold values of a group; and a loop has to stay in the nearest cache of instructions.
 * Asking whether any lane takes part takes as long as a dozen operations, and all that waits for the answer stands still. */
#define NVIDIA(text, cut)                                                            \
    {                                                                                                                        \
        .name = text, .warp = RT_WARP, .segments = cut,                                                                  \
        .page = RT_GPU_PAGE, .page_header = RT_GPU_HEADER, .frame_max = RT_FRAME_MAX, .frame_align = 8, .own_tape = 768, \
        .registers = 64 * 4, .code = 1024, .local_arrays = RT_WARP * (1 << 14),                                          \
        .frame = 12, .byte = 12, .recording = 2, .recording_iterations = 8, .copying = 2, .load = 16, .pairs = true,     \
        .function = 24, .trips = 16,                                                                                     \
        .unasked = 40, .unasked_root = 8, .unasked_access = 2,                                                           \
        .unroll = 64, .unroll_ops = 250, .unroll_elements = 1024, .unroll_inside = 4, .unroll_rounds = 3,                \
        .slow_alone = true, .adds_freely = true,                                                                         \
    }
const target target_nvidia = NVIDIA("nvidia", false), target_segments = NVIDIA("segments", true);
/* No AMD GPU has been timed: these are NVIDIA's numbers. */
const target target_amd = NVIDIA("amd", false);

const target *
target_cpu(uint32_t vector)
{
    return &cpus[vector >= 64 ? 2 : vector >= 32 ? 1 : 0];
}

#if defined(__aarch64__) && defined(__linux__)
/* bytes; 0: there is none */
static uint32_t
sve_length(void)
{
    int length = prctl(PR_SVE_GET_VL);
    return length < 0 ? 0 : (uint32_t)length & PR_SVE_VL_LEN_MASK;
}
#endif

const target *
target_host(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return target_cpu(__builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16);
#elif defined(__aarch64__) && defined(__linux__)
    uint32_t length = sve_length();
    return length == 64 ? &sve[1] : length == 32 ? &sve[0] : &neon;
#elif defined(__aarch64__)
    return &neon;
#else
    return target_cpu(16);
#endif
}

const target *
target_named(const char *triple, const char *cpu)
{
#if defined(__aarch64__)
    static const char host[] = "aarch64";
#elif defined(__x86_64__)
    static const char host[] = "x86_64";
#else
    static const char host[] = "";
#endif
    size_t n = triple ? strcspn(triple, "-") : strlen(host);
    const char *architecture = triple ? triple : host;
    if (n == 5 && strncmp(architecture, "arm64", n) == 0)
        architecture = "aarch64", n = strlen(architecture);
    char word[64] = "";
    if (cpu && strlen(cpu) < sizeof word - 2)
        snprintf(word, sizeof word, " %s ", cpu);
    for (size_t i = 0; i < countof(named); i++)
        if (strlen(named[i].architecture) == n && strncmp(named[i].architecture, architecture, n) == 0 &&
            (!*named[i].cpus || (*word && strstr(named[i].cpus, word))))
            return named[i].table;
    return &cpus[0];
}

const target *
target_find(const char *name)
{
    const target *const all[] = {&cpus[0], &cpus[1], &cpus[2], &neon, &sve[0], &sve[1], &target_nvidia, &target_segments, &target_amd};
    for (size_t i = 0; i < countof(all); i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

uint32_t
target_lanes(const target *t, uint32_t bytes)
{
    return t->vector / bytes;
}
