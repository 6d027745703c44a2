/* What all threads of a launch share, in memory of the device. SPDX-License-Identifier: Apache-2.0
 *
 * The host fills the first part once; the rest is 0 before the first launch, and each launch leaves it so. Launches
 * that share any of it run one after the other.
 *
 * The pool is one piece of memory: pages of tape are taken from its beginning, what the kernel-level code takes from
 * its end (how much that is, every thread counts for itself).
 *
 *     pool                                                                  pool + pages * RT_GPU_PAGE
 *     | page | page | page | ...  ->  top               <- heap ... | temp | kernel's page | temp |
 *
 * While a task runs that frees all its pages, and there are plenty, the first ones above now_top are the warps' own, and top
 * counts those behind them.
 */
#ifndef RT_GPU_LAUNCH_H
#define RT_GPU_LAUNCH_H

#include "rt/gpu/gpu.h"

/* Arrays lie on the kernel's tape in frames of so many bytes, the last one shorter: one fills a page. */
enum { RT_GPU_BLOCK_BYTES = RT_GPU_PAGE - 2 * RT_GPU_HEADER };

/* A page of the kernel's tape. Those that were taken together follow one another in memory, too: so many of them come
 * after this one, so many before. */
typedef struct rt_gpu_kernel_page {
    struct rt_page page;
    uint32_t after, before;
} rt_gpu_kernel_page;

/* Where the host looks for what went wrong. The first fault stays until the host puts 0 there. */
typedef struct rt_gpu_report {
    uint32_t fault; /* rt_fault */
    uint32_t place;
    uint32_t program; /* rt_gpu_launch's */
    uint32_t pages;   /* the most that any launch has used */
    uint64_t needed, budget;
    uint32_t stop; /* the host's word: launches are to end */
} rt_gpu_report;

/* Prints: records one after the other, up to a 0: a head, place + 1 + (count of values << 32) + (program << 48), then the
 * values. The host reads them and clears all that was used. */
typedef struct rt_gpu_prints {
    uint64_t used; /* cells; more than `room` if records are lost */
    uint64_t lost; /* records */
    uint64_t room; /* cells that there are */
    uint64_t cells[];
} rt_gpu_prints;

/* Partial results of warps: RT_GPU_CELLS numbers for each warp, twice; what needs more takes it from the pool. */
enum { RT_GPU_CELLS = 8, RT_GPU_QUEUES = 8 };

typedef struct rt_gpu_queue {
    _Alignas(128) uint32_t given; /* of its pieces; more than there are if some were asked for in vain */
} rt_gpu_queue;

/* A launch in segments (rt/gpu/segments.c) is several grids: what is a thread's own while one grid runs a whole launch lies here
 * between two of them. */
typedef struct rt_gpu_kept {
    uint32_t warps, blocks;   /* of the grids that run tasks */
    rt_gpu_thread thread;     /* of the kernel level, as the next segment finds it */
    rt_gpu_thread task;       /* as a task leaves it, of which some warps may not have begun when others end */
    rt_gpu_worker worker[];   /* of each warp */
} rt_gpu_kept;

/* A warp that finds no page notes two pieces at most, and stops. Each later phase has an eighth of the warps of the one before:
 * 2 (1 + 1/8 + 1/64 + ...) < 3. */
enum { RT_GPU_NOTES = 3 };

struct rt_gpu_launch {
    char *pool; /* aligned to a page */
    uint64_t pages;
    uint64_t tape_pages;   /* that tapes may take of them */
    uint64_t budget;       /* bytes for tapes, as reports name it */
    rt_gpu_report *report; /* memory that the host sees */
    rt_gpu_prints *prints; /* NULL: nothing prints */
    uint64_t *partials;    /* 2 * RT_GPU_CELLS for each warp of the grid */
    uint64_t *again;       /* RT_GPU_NOTES for each warp: pieces to be run again */
    uint32_t program;
    /* of launches in segments, else NULL, NULL and 0: values of the kernel level; the number of the function that a grid runs */
    rt_gpu_kept *kept;
    char *record;
    uint32_t step;

    /* counters, each group in a cache line of its own */
    _Alignas(128) uint32_t top; /* pages taken, but for the warps' own; more than there are if some were not given */
    _Alignas(128) uint32_t fault; /* not 0: who met it fills the three behind it */
    uint32_t place;
    uint64_t needed, limit;
    uint32_t looked; /* when a warp has last looked whether the host wants launches to end (rt_grid_clock); it stays, too */
    rt_gpu_queue queues[RT_GPU_QUEUES]; /* of the pieces behind all rows */
    _Alignas(128) uint32_t head, tail; /* of `again` */
    uint32_t begun; /* a warp has begun the page that was its own; as the launch ends it may come too late for the peak */
    uint64_t taped;                    /* bytes and pages that recording tasks have left with their warps */
    uint64_t depths;
    _Alignas(128) uint32_t arrived; /* blocks, at a barrier */
    uint32_t left;                  /* blocks that have ended */
    /* of the barrier: goes on from launch to launch, in twos; odd: pieces of the launch's last task are left */
    _Alignas(128) uint32_t generation;
    /* what the last block at the barrier has found, for all to read until the next */
    uint32_t now_top, now_head, now_tail, now_fault;
    uint32_t now_left; /* whether the task has pieces that nobody has run */
    uint32_t most; /* pages used */
    uint32_t told; /* the most that a launch has reported: it stays from launch to launch */
    _Alignas(128) uint32_t turn; /* of a task with an order whose tapes are kept: pieces that have run; at its end 0 */
};

#endif
