/* Inside of the runtime on GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * Functions of one file that others use; and the two kinds of callers: warps in a task, each for itself, and the
 * kernel-level code, all threads of the grid with the same values. There memory is written by the grid's first warp
 * (small things), or by all (arrays), between barriers. */
#ifndef RT_GPU_INSIDE_H
#define RT_GPU_INSIDE_H

#include "rt/gpu/launch.h"
#include "rt/gpu/warp.h"

/* pages with which loops that drop frames when the room gets narrow make do */
enum { RT_GPU_SHARE = 8 };

/* An array's last frame takes whole numbers of 8 bytes, so that what lies behind it is aligned. */
static inline int64_t
rt_gpu_whole_frame(int64_t bytes)
{
    return (bytes + 7) & ~(int64_t)7;
}

/* what seldom runs stays out of compiled code, and as short as can be: each kernel's assembler sees it */
#if __STDC_HOSTED__
#define RT_SLOW __attribute__((noinline))
#define RT_IN_PLACE
#else
#define RT_SLOW __attribute__((noinline, minsize))
/* what always runs is part of it: where no slow path takes its address, a thread's record is then in registers */
#define RT_IN_PLACE __attribute__((always_inline))
#endif

/* -- grid.c -- */
/* nothing but faults; the end of a task, or of a phase of it; and its pages are free again */
typedef enum rt_gpu_settles { RT_SETTLES_NOTHING, RT_SETTLES_TASK, RT_SETTLES_PAGES } rt_gpu_settles;
/* All threads wait for all. What they wrote before, all see. The same for all: tasks may take `limit` pages, `own` of them are
 * warps' own; the kernel-level code has `heap` pages; the task has `shared` pieces behind its rows. */
void rt_gpu_meet(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap, int32_t shared, rt_gpu_settles what);
/* The same where the launch ends unless pieces are left: whether they are. Only then all see what was written. odd: what this
 * thread did may matter to others. */
int32_t rt_gpu_meet_last(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap, int32_t shared, int32_t odd);
void rt_gpu_barrier(rt_gpu_thread *thread, int32_t shared, rt_gpu_settles what);
/* By one thread, while no other runs: what all have to see alike. */
void rt_gpu_settle_all(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap, int32_t shared, rt_gpu_settles what);
/* By the last thread of a launch. */
void rt_gpu_end_launch(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap);
/* A warp that has done nothing yet. */
void rt_gpu_reset_worker(rt_gpu_worker *worker, int32_t index, rt_gpu_launch *launch);
/* Notes a fault, if it is the launch's first and this thread the one to note it. */
void rt_gpu_fault(rt_gpu_launch *launch, int32_t mine, rt_fault fault, int32_t place, uint64_t needed, uint64_t limit);
/* ... of the kernel-level code, which finds no room for so many bytes */
void rt_gpu_no_memory(rt_gpu_thread *thread, int32_t place, uint64_t needed);
/* ... of a worker, which leaves what it does */
void rt_gpu_fail(rt_gpu_worker *worker, rt_fault fault, int32_t place, uint64_t needed);

/* -- segments.c -- */
/* What one warp does when a task's grid has ended; whether the launch goes on elsewhere: there was a fault, or pieces are left. */
int32_t rt_gpu_settle_task(rt_gpu_thread *thread, int32_t shared, rt_gpu_settles what);

/* -- heap.c -- */
/* Memory from the pool's end, aligned; NULL: there is none. */
void *rt_gpu_heap_take(rt_gpu_thread *thread, uint64_t bytes, uint64_t align);
static inline uint32_t
rt_gpu_heap_pages(const rt_gpu_worker *worker)
{
    return (uint32_t)((worker->heap + RT_GPU_PAGE - 1) / RT_GPU_PAGE);
}
/* Pages that tasks may take in all. */
static inline uint32_t
rt_gpu_page_limit(const rt_gpu_worker *worker)
{
    const rt_gpu_launch *launch = worker->launch;
    uint64_t heap = rt_gpu_heap_pages(worker), own = worker->index < 0 ? worker->pages : worker->held;
    uint64_t room = launch->pages - heap, most = launch->tape_pages > own ? launch->tape_pages - own : 0;
    return (uint32_t)(room < most ? room : most);
}
/* Pages that are warps' own while this task runs: one for each, if there are plenty for all. */
static inline uint32_t
rt_gpu_own_pages(const rt_gpu_worker *worker)
{
    uint32_t warps = rt_grid_warps();
    if (!worker->owns || rt_gpu_page_limit(worker) < worker->launch->now_top + (uint64_t)warps * (RT_GPU_SHARE + 1))
        return 0;
    return warps;
}
/* Of `shared` pieces behind all rows: how many are in that queue. They go round. */
static inline uint32_t
rt_gpu_queue_length(uint32_t queue, uint32_t shared)
{
    return (shared + RT_GPU_QUEUES - 1 - queue) / RT_GPU_QUEUES;
}
/* Zeroes, or copies, with all threads of the grid; both aligned to 16. */
void rt_gpu_grid_zero(char *to, uint64_t bytes);

/* -- private.c -- */
/* The n cells from `cells` on of so many rows, `row` numbers apart, are added to an array; clears: they are 0 afterwards. */
void rt_gpu_add_rows(rt_gpu_thread *thread, double *cells, int64_t row, int64_t rows, int64_t n, void *array, int32_t bytes,
                     int32_t clears, int32_t apart);

/* -- pages.c -- */
/* At kernel level: the chain above `here` (NULL: from its beginning) is to have so many pages. 0: a fault. The grid
 * waits before any of them is used. */
int32_t rt_gpu_kernel_pages(rt_gpu_worker *worker, struct rt_page *here, int64_t count, int32_t place);
/* Behind the barrier that has freed the task's pages: they are not the warp's any more. */
void rt_gpu_pages_cut(rt_gpu_worker *worker);

/* of the kernel-level code's: it lies in there */
static inline rt_gpu_thread *
rt_gpu_thread_of(const rt_gpu_worker *worker)
{
    return (rt_gpu_thread *)((uintptr_t)worker - offsetof(rt_gpu_thread, kernel));
}

/* Whether kernel-level code gives any function its worker. The compiler defines it: where it is 0, slow paths have nothing in
 * them that tasks do not need. */
extern const int32_t rt_gpu_kernel_worker;

/* Whether code may be a launch in segments (segments.c): the compiler defines it, too. */
extern const int32_t rt_gpu_may_be_cut;

static inline int32_t
rt_gpu_is_cut(const rt_gpu_launch *launch)
{
    return rt_gpu_may_be_cut && launch->kept;
}

/* of the grid that runs tasks: segments have one of a single warp */
static inline uint32_t
rt_gpu_task_warps(const rt_gpu_launch *launch)
{
    return rt_gpu_is_cut(launch) ? launch->kept->warps : rt_grid_warps();
}
static inline uint32_t
rt_gpu_task_blocks(const rt_gpu_launch *launch)
{
    return rt_gpu_is_cut(launch) ? launch->kept->blocks : rt_grid_blocks();
}

/* The functions that kernel-level code calls stand in place and give slow paths what they need by value: they have no
 * address of the thread's record, unless the kernel has a tape of its own. */
static inline int32_t
rt_gpu_at_kernel_level(const rt_gpu_worker *worker)
{
    return rt_gpu_kernel_worker && worker->index < 0;
}

/* where a tape stands that has no page yet */
static inline char *
rt_gpu_no_page(void)
{
    return (char *)(uintptr_t)(RT_GPU_PAGE - 1);
}

static inline uint64_t
rt_gpu_place_in_page(const char *cursor)
{
    return (uintptr_t)cursor & (RT_GPU_PAGE - 1);
}

static inline struct rt_page *
rt_gpu_page_of(const char *cursor)
{
    if (cursor == rt_gpu_no_page())
        return NULL;
    return (struct rt_page *)((uintptr_t)cursor & ~(uintptr_t)(RT_GPU_PAGE - 1));
}

/* A tape without pages begins at the bottom of its first page, once there is one: so no piece goes through the change of
 * pages that the first one made. */
static inline void
rt_gpu_set_bottom(rt_gpu_worker *worker)
{
    worker->bottom = worker->cursor;
    if (worker->cursor == rt_gpu_no_page() && worker->first_page)
        worker->bottom = (char *)worker->first_page + RT_GPU_HEADER;
}

/* number of the cursor's page in its tape, from 1; 0: none */
static inline int64_t
rt_gpu_depth(const char *cursor)
{
    const struct rt_page *page = rt_gpu_page_of(cursor);
    return page ? page->depth : 0;
}

/* of how many of its pages something lies below the cursor: not of that at whose bottom it stands */
static inline int64_t
rt_gpu_pages_below(const char *cursor)
{
    return rt_gpu_depth(cursor) - (rt_gpu_place_in_page(cursor) == RT_GPU_HEADER);
}

/* how far above the tape's beginning it stands, what pages lose at their ends included */
static inline int64_t
rt_gpu_height(const char *cursor)
{
    return rt_gpu_depth(cursor) * RT_GPU_PAGE + (int64_t)rt_gpu_place_in_page(cursor);
}

#endif
