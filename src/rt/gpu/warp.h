/* What the runtime on a GPU and compiled code ask of the machine. SPDX-License-Identifier: Apache-2.0
 *
 * Defined once for each kind: nvptx.c, and rt/simt for the host. All lanes of a warp call the functions that
 * combine lanes together; where they do not, it is our fault, which rt/simt reports and a GPU hangs on. */
#ifndef RT_GPU_WARP_H
#define RT_GPU_WARP_H

#include <stdint.h>

uint32_t rt_warp_lane(void);                               /* 0 to RT_WARP - 1 */
uint32_t rt_warp_ballot(int32_t mine);                     /* bit l: lane l has a value that is not 0 */
uint32_t rt_warp_take32(uint32_t mine, uint32_t lane);     /* what that lane has; it may differ from lane to lane */
uint64_t rt_warp_take64(uint64_t mine, uint32_t lane);
uint32_t rt_warp_one32(uint32_t mine);                     /* what the first lane has; the others have 0 */
uint32_t rt_warp_swap32(uint32_t mine, uint32_t bits);      /* what the lane has whose number differs in these bits */
uint64_t rt_warp_swap64(uint64_t mine, uint32_t bits);
int32_t rt_warp_turn(uint64_t key, int32_t mine);          /* how many lanes before this one have its key, which is not 0; -1: not mine */
void rt_warp_sync(void);                                   /* what lanes wrote before, all see after it */
uint32_t rt_grid_warp(void), rt_grid_warps(void);          /* number of this warp, of all */
uint32_t rt_grid_block(void), rt_grid_blocks(void), rt_block_thread(void), rt_block_threads(void);
void rt_block_sync(void);
int32_t rt_block_any(int32_t mine);                        /* the same; whether any thread of the block has not 0 */
/* Two counters of each block: atomic for its threads; not set when a launch begins. */
uint32_t rt_block_next32(uint32_t counter);                /* adds 1 once for the warp; the old value, for all lanes */
uint32_t rt_block_swap32(uint32_t counter, uint32_t value); /* the old value */
void rt_block_set32(uint32_t counter, uint32_t value);
void rt_grid_fence(void);                                  /* orders this thread's accesses for all of the device */
uint32_t rt_grid_add32(uint32_t *at, uint32_t n);          /* atomic, device-wide; the old value */
uint32_t rt_grid_next32(uint32_t *at);                     /* adds 1 once for the warp; the old value, for all lanes */
uint64_t rt_grid_add64(uint64_t *at, uint64_t n);
uint32_t rt_grid_arrive(uint32_t *at, uint32_t n);         /* adds behind all that this thread did; the old value */
uint32_t rt_grid_swap32(uint32_t *at, uint32_t expected, uint32_t desired); /* compare and exchange; the old value */
uint32_t rt_grid_load32(const uint32_t *at);               /* past caches */
void rt_grid_store32(uint32_t *at, uint32_t value);
uint32_t rt_grid_clock(void);                              /* about microseconds, the same for all; goes round */
void rt_grid_wait(void);                                   /* between two looks at something that others will change */

#endif
