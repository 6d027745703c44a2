/* What all entries of a launch on Vulkan or Metal share, in memory of the device. SPDX-License-Identifier: Apache-2.0
 *
 * Compiled code (codegen/spirv) reads and writes this by offset; there is no runtime on the device beside it. Addresses are the
 * device's (bufferDeviceAddress), 0: none. The host fills the first part before each launch and zeroes what stands behind it.
 *
 * A workgroup of RT_WARP invocations is a warp. It has a tape as a warp of rt/gpu has one: its cursor lies in its worker between
 * tasks. Which pieces of a task it runs: codegen/spirv/task.c.
 *
 *     pool                                                                     pool + pages * RT_GPU_PAGE
 *     | page | page | page | ...  ->  top                     <-  heap ... temp | the kernel's page | temp |
 *
 * Pages of tapes are taken from the beginning, what segments make from the end (heap). Pages that are kept until the launch ends lie below
 * `top`; behind them lie those of a task that gives all back as it ends. */
#ifndef RT_VULKAN_LAUNCH_H
#define RT_VULKAN_LAUNCH_H

#include "rt/gpu/launch.h"

enum {
    RT_VULKAN_GROUPS = 8192, /* workgroups of a task at most */
    RT_VULKAN_TAPES = 4064,  /* where they have tapes */
    RT_VULKAN_FIXED = 1024,  /* rows of deterministic code at most */
    RT_VULKAN_LADDER = 16,   /* pieces that found no page: so many times fewer workgroups run them, */
    RT_VULKAN_LAST = 32,     /* behind so many or fewer one alone */
    RT_VULKAN_STOPPED = 1 << 16,
    RT_VULKAN_ROW = 4096, RT_VULKAN_CELLS = 1 << 22 /* for sums into arrays: of a row, of all of them at most */
};
_Static_assert(8 * RT_VULKAN_TAPES + 8 <= RT_GPU_PAGE - RT_GPU_HEADER, "the cursors of all are a frame (codegen/spirv/snapshot.c)");

/* Of a row of pieces, which one workgroup runs, and one more behind all of them: the kernel level's. All zero: it has no tape yet. */
typedef struct rt_vulkan_worker {
    uint64_t cursor;     /* where its tape stands; 0: no page */
    uint64_t first_page; /* an rt_page */
    uint64_t next, end;  /* the row is not done: 1 + where it goes on, and to where (codegen/spirv/again.c); zero between tasks */
    uint32_t pages;      /* of its tape */
    uint32_t turned;     /* as rt_worker's */
} rt_vulkan_worker;

/* Workgroups of steps behind a condition. */
typedef struct rt_vulkan_counts {
    uint32_t run[3], task[3];
} rt_vulkan_counts;

/* The task that runs. All but `most` is zero between tasks, whose last workgroup sees to that. */
typedef struct rt_vulkan_task {
    uint32_t groups[3]; /* of the next grid, which runs what is left; [0] is 0: nothing is */
    uint32_t batches;   /* of pieces that were taken */
    uint32_t pages;     /* that were taken, from `top` on */
    uint32_t ended;     /* workgroups of this grid that have ended, and RT_VULKAN_STOPPED for each that found no page */
    uint32_t most;      /* top + pages, over all tasks */
    uint32_t room;
} rt_vulkan_task;

typedef struct rt_vulkan_launch {
    /* by the host */
    uint64_t record;   /* ll_gpu_info.record bytes, zeroed, aligned to 16 */
    uint64_t pool;     /* pages * RT_GPU_PAGE bytes of any content, aligned to RT_GPU_PAGE */
    uint64_t workers;  /* rows + 1 rt_vulkan_worker, zeroed */
    uint64_t partials; /* rows * spirv_code.cells * 8 bytes of any content */
    uint64_t sums;     /* rows * row cells of 8 bytes of any content; sums into arrays (codegen/spirv/sums.c) */
    uint64_t prints;   /* an rt_gpu_prints; 0: nothing prints */
    uint64_t budget;   /* bytes for tapes, as reports name it */
    uint64_t counts;   /* rt_vulkan_counts; zero where a condition is not as expected */
    uint32_t pages;
    uint32_t tape_pages; /* that tapes may take of them */
    uint32_t groups;     /* workgroups of a task, RT_VULKAN_GROUPS at most; the same in all tasks of a launch */
    uint32_t program;    /* as rt_gpu_launch's */
    uint32_t stop;       /* not 0: the launch is to end. The host may set it at any time */
    uint32_t row;        /* cells that a row of sums has there */
    uint32_t rows;       /* of sums, and tapes: groups; of deterministic code RT_VULKAN_FIXED at most, as many as its arguments ask for */
    uint32_t missed;     /* zero before each submission; the number of the condition that was not as expected */
    uint64_t task;       /* an rt_vulkan_task, zeroed */
    uint64_t lane_sums;  /* rows * spirv_code.lane_cells * RT_WARP * 8 bytes of any content */

    /* zero at first */
    uint32_t fault; /* rt_fault; not 0: who met it first fills the three behind it, all entries return at once */
    uint32_t place;
    uint64_t needed, limit; /* bytes and budget; a subscript and its extent */
    uint32_t top;           /* pages taken from the pool's beginning; more than there are if some were not given */
    uint32_t most;          /* pages that the kernel level has taken from its end */
    uint64_t heap;          /* bytes taken from its end */
    uint32_t taped, depths; /* units of 8 bytes and pages that recording tasks have left with their workgroups */
    uint32_t reached;       /* rt_vulkan_task.most */
    uint32_t space;
} rt_vulkan_launch;

/* A condition that the next step asks for, which a segment compares as it ends. Where it is not as expected the segment zeroes the counts
 * and says so in `missed`: no step behind it runs. */
typedef struct rt_vulkan_ask {
    uint32_t place;  /* of the condition, in the record */
    uint32_t number; /* 2 * its number in the submission, from 1, and 1 more if it is expected to hold; 0: nothing is asked for */
} rt_vulkan_ask;

/* How many workgroups run what so many have left. The last of those says so to the next grid (codegen/spirv/again.c, end_grid): the host
 * records as many grids as that asks for. */
static inline uint32_t
rt_vulkan_fewer(uint32_t groups)
{
    return groups > RT_VULKAN_LAST ? groups / RT_VULKAN_LADDER : 1;
}

/* push constants of every entry */
typedef struct rt_vulkan_push {
    uint64_t launch;
    uint64_t args; /* of rt_arg, as the kernel's parameters and then its results; planes are device addresses */
    rt_vulkan_ask ask;
} rt_vulkan_push;

#endif
