/* The primitives of warp.h on AMD's GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * A wave is a warp. Where waves have 64 lanes (CDNA, GCN) the upper 32 leave as the kernel begins: a wave's lanes run in lockstep, and
 * of two warps in one wave neither could come to a barrier, or wait for the other, by itself. So one text, compiled once, is right for
 * waves of both lengths; how many lanes they have only the numbers of threads depend on (rt_amd_wave, which the compiler defines). */
#include "rt/gpu/gpu.h"
#include "rt/gpu/warp.h"

#define IN_PLACE __attribute__((always_inline))
#define SHARED   __attribute__((address_space(3), loader_uninitialized))
#define CONSTANT __attribute__((address_space(4)))

enum { LANE_BYTES = 4, CLOCK_SHIFT = 7 /* 100 MHz */ };

extern const int32_t rt_amd_wave;

/* What the driver adds to a kernel's arguments, from code objects of version 5 on: its beginning. */
typedef struct hidden_arguments {
    uint32_t blocks[3];
    uint16_t threads[3];
} hidden_arguments;

static inline const hidden_arguments CONSTANT *
hidden(void)
{
    return (const hidden_arguments CONSTANT *)__builtin_amdgcn_implicitarg_ptr();
}

/* -- a warp ------------------------------------------------------------------------------------------------------ */

/* RT_WARP in the lanes that are to leave */
IN_PLACE uint32_t
rt_warp_lane(void)
{
    return __builtin_amdgcn_mbcnt_lo(~0u, 0);
}

IN_PLACE uint32_t
rt_warp_ballot(int32_t mine)
{
    return (uint32_t)__builtin_amdgcn_ballot_w64(mine != 0);
}

IN_PLACE uint32_t
rt_warp_take32(uint32_t mine, uint32_t lane)
{
    return (uint32_t)__builtin_amdgcn_ds_bpermute((int)(lane % RT_WARP * LANE_BYTES), (int)mine);
}

IN_PLACE uint64_t
rt_warp_take64(uint64_t mine, uint32_t lane)
{
    uint32_t low = rt_warp_take32((uint32_t)mine, lane), high = rt_warp_take32((uint32_t)(mine >> 32), lane);
    return (uint64_t)high << 32 | low;
}

/* In a scalar register: branches on it are the wave's. */
IN_PLACE uint32_t
rt_warp_one32(uint32_t mine)
{
    return (uint32_t)__builtin_amdgcn_readfirstlane((int)mine);
}

IN_PLACE uint32_t
rt_warp_swap32(uint32_t mine, uint32_t bits)
{
    return rt_warp_take32(mine, rt_warp_lane() ^ bits);
}

IN_PLACE uint64_t
rt_warp_swap64(uint64_t mine, uint32_t bits)
{
    return rt_warp_take64(mine, rt_warp_lane() ^ bits);
}

/* One round for each key that there is. */
IN_PLACE int32_t
rt_warp_turn(uint64_t key, int32_t mine)
{
    int32_t turn = -1;
    for (uint32_t left = rt_warp_one32(rt_warp_ballot(mine)); left;) {
        uint64_t first = rt_warp_take64(key, (uint32_t)__builtin_ctz(left));
        uint32_t alike = rt_warp_one32(rt_warp_ballot(mine && key == first));
        if (mine && key == first)
            turn = __builtin_popcount(alike & ((1u << rt_warp_lane()) - 1));
        left &= ~alike;
    }
    return turn;
}

/* The lanes are together; what is left to say is said to the compiler. */
IN_PLACE void
rt_warp_sync(void)
{
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
}

/* -- where a thread is ------------------------------------------------------------------------------------------- */

IN_PLACE uint32_t
rt_block_thread(void)
{
    return __builtin_amdgcn_workitem_id_x() / (uint32_t)rt_amd_wave * RT_WARP + rt_warp_lane();
}

IN_PLACE uint32_t
rt_block_threads(void)
{
    return (hidden()->threads[0] + (uint32_t)rt_amd_wave - 1) / (uint32_t)rt_amd_wave * RT_WARP;
}

IN_PLACE uint32_t
rt_grid_block(void)
{
    return __builtin_amdgcn_workgroup_id_x();
}

IN_PLACE uint32_t
rt_grid_blocks(void)
{
    return hidden()->blocks[0];
}

/* the wave's, which the compiler would not see */
IN_PLACE uint32_t
rt_grid_warp(void)
{
    uint32_t warp = rt_warp_one32(__builtin_amdgcn_workitem_id_x() / (uint32_t)rt_amd_wave);
    return rt_grid_block() * (rt_block_threads() / RT_WARP) + warp;
}

IN_PLACE uint32_t
rt_grid_warps(void)
{
    return rt_grid_blocks() * (rt_block_threads() / RT_WARP);
}

/* -- a block, the device ----------------------------------------------------------------------------------------- */

IN_PLACE void
rt_block_sync(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

static SHARED uint32_t some;

IN_PLACE int32_t
rt_block_any(int32_t mine)
{
    if (rt_block_thread() == 0)
        __scoped_atomic_store_n(&some, 0, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    rt_block_sync();
    if (mine)
        __scoped_atomic_store_n(&some, 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    rt_block_sync();
    uint32_t any = __scoped_atomic_load_n(&some, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    rt_block_sync(); /* before the next one begins with 0 */
    return (int32_t)rt_warp_one32(any);
}

/* As on NVIDIA's GPUs: of a counter the first lane's counts, and a warp adds without a branch. */
static SHARED uint32_t counters[2][RT_WARP];

IN_PLACE uint32_t
rt_block_next32(uint32_t counter)
{
    uint32_t old = __scoped_atomic_fetch_add(&counters[counter][rt_warp_lane()], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    return rt_warp_one32(old);
}

IN_PLACE uint32_t
rt_block_swap32(uint32_t counter, uint32_t value)
{
    return __scoped_atomic_exchange_n(&counters[counter][0], value, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}

IN_PLACE void
rt_block_set32(uint32_t counter, uint32_t value)
{
    __scoped_atomic_store_n(&counters[counter][0], value, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}

IN_PLACE void
rt_grid_fence(void)
{
    __scoped_atomic_thread_fence(__ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
}

IN_PLACE uint32_t
rt_grid_add32(uint32_t *at, uint32_t n)
{
    return __scoped_atomic_fetch_add(at, n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

IN_PLACE uint32_t
rt_grid_next32(uint32_t *at)
{
    uint32_t old = 0;
    if (rt_warp_lane() == 0)
        old = rt_grid_add32(at, 1);
    return rt_warp_one32(old);
}

IN_PLACE uint32_t
rt_grid_arrive(uint32_t *at, uint32_t n)
{
    return __scoped_atomic_fetch_add(at, n, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
}

IN_PLACE uint64_t
rt_grid_add64(uint64_t *at, uint64_t n)
{
    return __scoped_atomic_fetch_add(at, n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

IN_PLACE uint32_t
rt_grid_swap32(uint32_t *at, uint32_t expected, uint32_t desired)
{
    __scoped_atomic_compare_exchange_n(at, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    return expected;
}

IN_PLACE uint32_t
rt_grid_load32(const uint32_t *at)
{
    return __scoped_atomic_load_n(at, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

IN_PLACE void
rt_grid_store32(uint32_t *at, uint32_t value)
{
    __scoped_atomic_store_n(at, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

IN_PLACE uint32_t
rt_grid_clock(void)
{
    return (uint32_t)(__builtin_readsteadycounter() >> CLOCK_SHIFT);
}

IN_PLACE void
rt_grid_wait(void)
{
    __builtin_amdgcn_s_sleep(1);
}
