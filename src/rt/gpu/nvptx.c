/* The primitives of warp.h on NVIDIA's GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * Compiled code has each of them in place. Lanes of a warp are free to run apart from one another, so what combines
 * them names all of them: the machine waits until they have come together. */
#include "rt/gpu/gpu.h"
#include "rt/gpu/warp.h"

#define IN_PLACE __attribute__((always_inline))

enum { LAST_LANE = RT_WARP - 1, NAP = 64 /* nanoseconds */, REDUX = 800 /* sm_80 */ };
static const uint32_t ALL_LANES = 0xffffffff;

/* -- a warp ------------------------------------------------------------------------------------------------------ */

IN_PLACE uint32_t
rt_warp_lane(void)
{
    return (uint32_t)__nvvm_read_ptx_sreg_laneid();
}

IN_PLACE uint32_t
rt_warp_ballot(int32_t mine)
{
    return (uint32_t)__nvvm_vote_ballot_sync(ALL_LANES, mine != 0);
}

IN_PLACE uint32_t
rt_warp_take32(uint32_t mine, uint32_t lane)
{
    return (uint32_t)__nvvm_shfl_sync_idx_i32(ALL_LANES, (int)mine, (int)lane, LAST_LANE);
}

IN_PLACE uint64_t
rt_warp_take64(uint64_t mine, uint32_t lane)
{
    uint32_t low = rt_warp_take32((uint32_t)mine, lane), high = rt_warp_take32((uint32_t)(mine >> 32), lane);
    return (uint64_t)high << 32 | low;
}

/* Where there is one, an instruction whose result the machine knows to be the warp's: branches on it need not ask whether
 * lanes go apart. */
IN_PLACE uint32_t
rt_warp_one32(uint32_t mine)
{
    uint32_t all;
    if (__nvvm_reflect("__CUDA_ARCH") < REDUX)
        return rt_warp_take32(mine, 0);
    __asm__ volatile("redux.sync.or.b32 %0, %1, 0xffffffff;" : "=r"(all) : "r"(mine));
    return all;
}

IN_PLACE uint32_t
rt_warp_swap32(uint32_t mine, uint32_t bits)
{
    return (uint32_t)__nvvm_shfl_sync_bfly_i32(ALL_LANES, (int)mine, (int)bits, LAST_LANE);
}

IN_PLACE uint64_t
rt_warp_swap64(uint64_t mine, uint32_t bits)
{
    uint32_t low = rt_warp_swap32((uint32_t)mine, bits), high = rt_warp_swap32((uint32_t)(mine >> 32), bits);
    return (uint64_t)high << 32 | low;
}

IN_PLACE int32_t
rt_warp_turn(uint64_t key, int32_t mine)
{
    uint32_t some = rt_warp_ballot(mine);
    uint32_t alike = (uint32_t)__nvvm_match_any_sync_i64(ALL_LANES, (long long)key) & some;
    return mine ? __builtin_popcount(alike & ((1u << rt_warp_lane()) - 1)) : -1;
}

IN_PLACE void
rt_warp_sync(void)
{
    __nvvm_bar_warp_sync(ALL_LANES);
}

/* -- where a thread is ------------------------------------------------------------------------------------------- */

IN_PLACE uint32_t
rt_block_thread(void)
{
    return (uint32_t)__nvvm_read_ptx_sreg_tid_x();
}

IN_PLACE uint32_t
rt_block_threads(void)
{
    return (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
}

IN_PLACE uint32_t
rt_grid_block(void)
{
    return (uint32_t)__nvvm_read_ptx_sreg_ctaid_x();
}

IN_PLACE uint32_t
rt_grid_blocks(void)
{
    return (uint32_t)__nvvm_read_ptx_sreg_nctaid_x();
}

IN_PLACE uint32_t
rt_grid_warp(void)
{
    return rt_grid_block() * (rt_block_threads() / RT_WARP) + rt_block_thread() / RT_WARP;
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
    __syncthreads();
}

IN_PLACE int32_t
rt_block_any(int32_t mine)
{
    return __nvvm_bar0_or(mine != 0);
}

/* In shared memory. Of a counter the first lane's is the one that counts. The others have theirs, so that a warp adds without a
 * branch: where lanes go apart for an atomic operation, the machine brings them together late. */
static __attribute__((address_space(3))) uint32_t counters[2][RT_WARP];

IN_PLACE uint32_t
rt_block_next32(uint32_t counter)
{
    uint32_t old = __scoped_atomic_fetch_add(&counters[counter][rt_warp_lane()], 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    return rt_warp_take32(old, 0);
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

/* A fence would throw away what the multiprocessor's other blocks have in its cache, too. (LLVM forgets the order of an
 * addition that it makes itself.) */
IN_PLACE uint32_t
rt_grid_arrive(uint32_t *at, uint32_t n)
{
    uint32_t old;
    __asm__ volatile("atom.release.gpu.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(n) : "memory");
    return old;
}

IN_PLACE uint64_t
rt_grid_add64(uint64_t *at, uint64_t n)
{
    return __scoped_atomic_fetch_add(at, n, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

IN_PLACE uint32_t
rt_grid_swap32(uint32_t *at, uint32_t expected, uint32_t desired)
{
    __scoped_atomic_compare_exchange_n(at, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __MEMORY_SCOPE_DEVICE);
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
    return (uint32_t)((uint64_t)__nvvm_read_ptx_sreg_globaltimer() >> 10);
}

IN_PLACE void
rt_grid_wait(void)
{
    __nvvm_nanosleep(NAP);
}
