/* Inside of rt/simt: the grid. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_SIMT_GRID_H
#define RT_SIMT_GRID_H

#include "rt/gpu/warp.h"
#include "rt/simt/fiber.h"
#include "rt/simt/simt.h"

#include <stdatomic.h>

/* where lanes meet; from SIMT_BLOCK on the warp then waits */
typedef enum simt_meeting {
    SIMT_NOWHERE,
    SIMT_BALLOT,
    SIMT_TAKE,
    SIMT_SYNC,
    SIMT_BLOCK,
    SIMT_GRID,
    SIMT_LEFT
} simt_meeting;

typedef enum simt_state { SIMT_RUNS, SIMT_WAITS, SIMT_POLLS, SIMT_GONE } simt_state;

typedef struct simt_lane {
    rt_fiber fiber;
    struct simt_warp *warp;
    uint32_t number;
} simt_lane;

typedef struct simt_warp {
    struct rt_simt *simt;
    uint32_t number; /* in the grid */
    uint32_t arrived, round;
    uint8_t at[RT_WARP];         /* simt_meeting of each lane */
    uint64_t values[2][RT_WARP]; /* what lanes bring, by round */
    uint32_t ballot[2];
    uint32_t counters[2]; /* of the block, with its first warp */
    int32_t any;          /* of the block, too: whether a lane brought something to where it met last */
    simt_state state;
    simt_lane *resume; /* that goes on first */
    simt_lane lanes[RT_WARP];
} simt_warp;

struct rt_simt {
    rt_gpu_launch launch;
    rt_gpu_report report;
    uint32_t blocks, block_warps;
    simt_warp *warps;
    char *stacks;
    rt_fiber host;
    rt_simt_kernel *kernel;
    const rt_arg *args;
    atomic_bool running;
    uint64_t changes; /* of memory that others wait for */
    uint64_t order;   /* the random numbers that say who runs when; 0: none do */
    uint32_t stride;  /* from a lane to the one that it hands over to */
    void *memory;     /* around the pool */
    size_t memory_bytes;
    char trouble[200];
};

void simt_run(rt_simt *simt);

#endif
