/* One table for each kind of machine. SPDX-License-Identifier: Apache-2.0 */
#include "target/target.h"

#include "target/sizes.h"

/* The tape stays in the cache: there recording is about as cheap as computing again (bench: Horner, the
 * recurrences), so that blocks of iterations come out only where much follows from little. Costs of lanes are fitted to
 * the bench's kernels on Zen 5. From four iterations on a loop is better left to become vectors of neighbouring elements. */
#define CPU(bytes, text)                                                                                                     \
    {                                                                                                                        \
        .name = text, .vector = bytes,                                                                                       \
        .page = RT_PAGE, .page_header = RT_PAGE_HEADER, .frame_max = RT_FRAME_MAX, .frame_align = 1,                         \
        .registers = 16 * 8, .local_arrays = 1 << 15,                                                                        \
        .frame = 0.5, .byte = 1.0 / 8, .recording = 1, .load = 3,                                                            \
        .function = 20, .trips = 16,                                                                                         \
        .unasked = 8,                                                                                                        \
        .unroll = 3, .unroll_ops = 400, .unroll_rounds = 1,                                                                  \
    }

static const target cpus[] = {CPU(16, "cpu16"), CPU(32, "cpu32"), CPU(64, "cpu")};

/* Every warp's tape goes through memory: a float that is recorded costs as much as fifty multiplications (H200, a
 * million threads of 1024 steps: 2.2 ms beside 0.14 for a body of four). Half of the registers of a warp that shares
 * its core with fifteen others may hold values of a group; and a loop has to stay in the nearest cache of instructions.
 * Asking whether any lane takes part takes as long as a dozen operations, and all that waits for the answer stands still. */
const target target_nvidia = {
    .name = "nvidia", .warp = RT_WARP,
    .page = RT_GPU_PAGE, .page_header = RT_GPU_HEADER, .frame_max = RT_FRAME_MAX, .frame_align = 8, .own_tape = 768,
    .registers = 64 * 4, .code = 1024, .local_arrays = RT_WARP * (1 << 14),
    .frame = 12, .byte = 12, .recording = 2, .load = 16, .pairs = true,
    .function = 24, .trips = 16,
    .unasked = 40, .unasked_root = 8, .unasked_access = 2,
    .unroll = 8, .unroll_ops = 250, .unroll_inside = 4, .unroll_rounds = 3,
    .slow_alone = true, .adds_freely = true,
};

const target *
target_cpu(uint32_t vector)
{
    return &cpus[vector >= 64 ? 2 : vector >= 32 ? 1 : 0];
}

const target *
target_host(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return target_cpu(__builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16);
#else
    return target_cpu(16);
#endif
}
