/* All that compiled code may call by its name. SPDX-License-Identifier: Apache-2.0 */
#include "rt/load/symbols.h"

#include "math/rgm.h"
#include "rt/cpu/helpers.h"
#include "rt/gpu/gpu.h"
#include "rt/gpu/warp.h"

#include <math.h>
#include <string.h>

#if defined(__FLT16_MAX__) && defined(__SSE2__)
/* for machines whose processor does not convert: LLVM calls these by their names in libgcc */
static float
half_to_float(_Float16 h)
{
    return (float)h;
}
static _Float16
float_to_half(float f)
{
    return (_Float16)f;
}
#endif

#define ADDRESS(f)      (uint64_t)(uintptr_t)(f)
#define LIBM2(op, name) {"rg_" #name, ADDRESS(name)}, {"rg_" #name "f", ADDRESS(name##f)},
#define SAME(name)      {#name, ADDRESS(name)},
#define BOTH(name)      SAME(name) SAME(name##f)

/* clang-format off */
static const struct {
    const char *name;
    uint64_t address;
} symbols[] = {
#include "rt/load/libm.def"
    LIBM2(LDEXP, ldexp)
    /* the math library: ours, and the platform's where that is asked for */
#define RGM1(op, name) SAME(rgm_##name) SAME(rgm_##name##f) LIBM2(op, name)
#define RGM2(op, name) RGM1(op, name)
#define RGM_TWO(op, name) SAME(rgm_##name##_places) SAME(rgm_##name##f_places)
#include "math/functions.def"
#ifdef __GLIBC__
    LIBM2(SINCOS, sincos)
#endif
    /* what instructions become on processors without them */
    BOTH(fma) BOTH(floor) BOTH(ceil) BOTH(trunc) BOTH(rint) BOTH(round) BOTH(sqrt)
    SAME(memcpy) SAME(memmove) SAME(memset)
#if defined(__FLT16_MAX__) && defined(__SSE2__)
    {"__extendhfsf2", ADDRESS(half_to_float)},
    {"__truncsfhf2", ADDRESS(float_to_half)},
#endif
    SAME(rt_odd_float) SAME(rt_fraction) SAME(rt_fractionf) SAME(rt_exponent)
    SAME(rt_cpu_parallel) SAME(rt_cpu_slots) SAME(rt_cpu_partials) SAME(rt_cpu_kernel_worker) SAME(rt_cpu_page)
    SAME(rt_cpu_reserve) SAME(rt_cpu_over) SAME(rt_cpu_room) SAME(rt_cpu_save) SAME(rt_cpu_restore)
    SAME(rt_cpu_tasks) SAME(rt_cpu_over_tasks) SAME(rt_cpu_thin)
    SAME(rt_cpu_private) SAME(rt_cpu_private_add) SAME(rt_cpu_temp) SAME(rt_cpu_temp_again)
    SAME(rt_cpu_scratch) SAME(rt_cpu_assert) SAME(rt_cpu_cancelled) SAME(rt_cpu_subscript) SAME(rt_cpu_print)
    /* code of GPU threads, which rt/simt plays */
    SAME(rt_gpu_enter) SAME(rt_gpu_leave) SAME(rt_gpu_alone) SAME(rt_gpu_reads) SAME(rt_gpu_writes)
    SAME(rt_gpu_resume) SAME(rt_gpu_pause) SAME(rt_gpu_settle) SAME(rt_gpu_phase)
    SAME(rt_gpu_begin) SAME(rt_gpu_next) SAME(rt_gpu_end) SAME(rt_gpu_partials) SAME(rt_gpu_slots)
    SAME(rt_gpu_private) SAME(rt_gpu_private_add)
    SAME(rt_gpu_fixed_most) SAME(rt_gpu_fixed_pieces) SAME(rt_gpu_fixed_begin) SAME(rt_gpu_fixed_room)
    SAME(rt_gpu_fixed_clear) SAME(rt_gpu_fixed_add)
    SAME(rt_gpu_temp) SAME(rt_gpu_temp_again) SAME(rt_gpu_record) SAME(rt_gpu_page) SAME(rt_gpu_reserve) SAME(rt_gpu_over)
    SAME(rt_gpu_room) SAME(rt_gpu_thin) SAME(rt_gpu_save) SAME(rt_gpu_restore) SAME(rt_gpu_tasks) SAME(rt_gpu_over_tasks)
    SAME(rt_gpu_poll) SAME(rt_gpu_poll_all) SAME(rt_gpu_assert) SAME(rt_gpu_subscript) SAME(rt_gpu_print)
    SAME(rt_warp_lane) SAME(rt_warp_ballot) SAME(rt_warp_take32) SAME(rt_warp_take64) SAME(rt_warp_swap32) SAME(rt_warp_swap64)
    SAME(rt_warp_turn) SAME(rt_warp_sync) SAME(rt_grid_warp) SAME(rt_grid_warps)
};
/* clang-format on */

void *
rt_symbol_find(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return (void *)(uintptr_t)symbols[i].address;
    return rt_symbol_vector(name);
}
