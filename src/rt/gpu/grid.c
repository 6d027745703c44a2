/* The grid: beginning and end of a launch, barriers, faults. SPDX-License-Identifier: Apache-2.0
 *
 * At a barrier one warp of each block arrives for it. The last block to arrive is alone for a moment: it decides what
 * all threads have to see alike (whether there was a fault, how many pages are taken, what has to be run again) and lets
 * them go. The last block that leaves the kernel puts everything back to 0.
 *
 * At the end of a launch blocks do not wait until what they wrote is seen by all, a microsecond or two: the launch's end sees to
 * that. Those that have had a fault or noted a piece do, and say so as they arrive. */
#include "rt/gpu/inside.h"

/* A block that has something to tell counts for so much more as it arrives; of a grid's blocks there are fewer. */
enum { ODD = 1 << 16 };

/* A warp's other fields are set where a task begins: each store is one of every thread of the grid. */
RT_IN_PLACE void
rt_gpu_reset_worker(rt_gpu_worker *worker, int32_t index, rt_gpu_launch *launch)
{
    worker->cursor = rt_gpu_no_page();
    worker->index = worker->seat = index;
    worker->atomic = 1;
    worker->turned = 0;
    worker->first_page = NULL;
    worker->pages = 0;
    worker->scratch = NULL;
    worker->scratch_size = 0;
    worker->launch = launch;
}

RT_IN_PLACE void
rt_gpu_enter(rt_gpu_thread *thread, rt_gpu_worker *worker, rt_gpu_launch *launch)
{
    thread->launch = launch;
    thread->worker = worker;
    rt_gpu_reset_worker(worker, (int32_t)rt_grid_warp(), launch);
    rt_gpu_reset_worker(&thread->kernel, -1, launch);
    thread->kernel.heap = 0;
    thread->kernel.failed = worker->failed = thread->kernel.owns = worker->owns = 0;
    thread->kernel.share = 1; /* nobody else takes pages while it runs */
    thread->wrote = thread->read = thread->ended = 0;
    thread->partials[0] = thread->partials[1] = NULL;
    thread->cells = 0;
    thread->tasks = 0;
    thread->privates = NULL;
    thread->row = 0;
    if (rt_block_thread() == 0) {
        rt_block_set32(0, 0);
        rt_block_set32(1, 0);
    }
    rt_block_sync();
}

RT_IN_PLACE int32_t
rt_gpu_alone(rt_gpu_thread *thread)
{
    (void)thread;
    return rt_grid_block() == 0 && rt_block_thread() == 0;
}

/* -- barriers ---------------------------------------------------------------------------------------------------- */

/* By one thread, while all others wait or have left, at the end of a task or of a phase of it. Only tasks take pages, so what
 * was taken before it still stands in now_top; the rest is free again where the task leaves nothing on its tapes. */
static void
settle_pages(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap, int32_t frees)
{
    uint32_t taken = rt_grid_load32(&launch->top), before = rt_grid_load32(&launch->now_top);
    uint32_t most = rt_grid_load32(&launch->most), begun = rt_grid_load32(&launch->begun);
    uint32_t top;
    taken += begun ? own : 0;
    top = taken < limit ? taken : limit;
    launch->begun = 0;
    launch->most = top + heap > most ? top + heap : most;
    launch->top = launch->now_top = frees && top > before ? before : top;
}

static uint32_t
queues_hold(const rt_gpu_launch *launch, uint32_t shared)
{
    uint32_t some = 0;
    for (uint32_t q = 0; q < RT_GPU_QUEUES; q++)
        some |= launch->queues[q].given < rt_gpu_queue_length(q, shared);
    return some;
}

static void
clear_queues(rt_gpu_launch *launch)
{
    for (uint32_t q = 0; q < RT_GPU_QUEUES; q++)
        launch->queues[q].given = 0;
}

/* what is left to run, once it is known whether there was a fault */
static void
settle_pieces(rt_gpu_launch *launch, uint32_t fault, uint32_t shared)
{
    uint32_t asked = launch->head, noted = launch->now_tail, tail = launch->tail;
    uint32_t head = asked > noted ? noted : asked; /* some asked in vain */
    uint32_t left = !fault && (head < tail || queues_hold(launch, shared));
    launch->now_left = left;
    launch->head = launch->now_head = left ? head : 0;
    launch->tail = launch->now_tail = left ? tail : 0;
    if (shared && !left)
        clear_queues(launch);
}

/* By one thread, while all others wait: what all have to see alike. What is read is read first: each wait is one of the whole
 * grid. */
static void
settle(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap, int32_t shared, rt_gpu_settles what)
{
    uint32_t fault = launch->fault;
    launch->now_fault = fault;
    launch->arrived = 0;
    if (what == RT_SETTLES_NOTHING)
        return;
    settle_pages(launch, limit, own, heap, what != RT_SETTLES_TASK);
    settle_pieces(launch, fault, (uint32_t)shared);
}

void
rt_gpu_settle_all(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap, int32_t shared, rt_gpu_settles what)
{
    settle(launch, limit, own, heap, shared, what);
}

/* The host's memory is far away: it is not touched where there is nothing to tell. */
static void
report(rt_gpu_launch *launch, rt_gpu_report *to)
{
    uint32_t most = rt_grid_load32(&launch->most), fault = rt_grid_load32(&launch->fault);
    if (most > rt_grid_load32(&launch->told)) {
        launch->told = most;
        if (most > to->pages)
            to->pages = most;
    }
    if (!fault || to->fault)
        return;
    rt_grid_fence(); /* who met it has filled the others */
    to->place = launch->place;
    to->program = launch->program;
    to->needed = launch->needed;
    to->budget = launch->limit;
    to->fault = fault;
}

static void
clean(rt_gpu_launch *launch)
{
    launch->top = launch->head = launch->tail = launch->now_left = 0;
    launch->now_top = launch->now_head = launch->now_tail = launch->now_fault = 0;
    launch->fault = launch->most = launch->arrived = launch->left = 0;
    launch->place = 0;
    launch->needed = launch->limit = 0;
    launch->taped = launch->depths = launch->begun = launch->turn = 0;
    clear_queues(launch);
}

/* The next generation. Its highest bit stays 0. */
static uint32_t
next_of(uint32_t generation)
{
    return ((generation | 1) + 1) & (UINT32_MAX >> 1);
}

/* Takes no thread's record, which else would have to be in memory. */
RT_SLOW void
rt_gpu_meet(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap, int32_t shared, rt_gpu_settles what)
{
    /* it stands still until this block arrives, which it does when all lanes have looked */
    uint32_t generation = rt_block_thread() < RT_WARP ? rt_grid_load32(&launch->generation) : 0;
    rt_block_sync();
    if (rt_block_thread() < RT_WARP) {
        if (rt_warp_lane() == 0) {
            if (rt_grid_arrive(&launch->arrived, 1) == rt_grid_blocks() - 1) {
                rt_grid_fence();
                settle(launch, limit, own, heap, shared, what);
                rt_grid_fence();
                rt_grid_store32(&launch->generation, next_of(generation));
            }
        }
        rt_warp_sync();
        while (rt_warp_take32(rt_grid_load32(&launch->generation), 0) == generation)
            rt_grid_wait();
        rt_grid_fence();
    }
    rt_block_sync();
}

/* By the last thread that ends: the launch is as the next one wants it. Others may still be about to leave: they look at the
 * generation alone. */
RT_SLOW void
rt_gpu_end_launch(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap)
{
    settle_pages(launch, limit, own, heap, 0);
    report(launch, launch->report);
    clean(launch);
}

/* One thread of each block. (The sum makes it wait for the generation: who arrives may not look for it any more.) */
static void
arrive_last(rt_gpu_launch *launch, uint32_t generation, uint32_t limit, uint32_t own, uint32_t heap, int32_t shared,
            int32_t odd)
{
    uint32_t n = 1 + (generation >> 31), next = next_of(generation);
    uint32_t before = odd ? rt_grid_arrive(&launch->arrived, n + ODD) : rt_grid_add32(&launch->arrived, n);
    if (before % ODD != rt_grid_blocks() - 1)
        return;
    if (odd || before >= ODD) {
        rt_grid_fence();
        settle(launch, limit, own, heap, shared, RT_SETTLES_PAGES);
        rt_grid_fence();
        next |= launch->now_left;
    }
    rt_grid_store32(&launch->generation, next);
    if (!(next & 1))
        rt_gpu_end_launch(launch, limit, own, heap);
}

RT_SLOW int32_t
rt_gpu_meet_last(rt_gpu_launch *launch, uint32_t limit, uint32_t own, uint32_t heap, int32_t shared, int32_t odd)
{
    uint32_t generation = rt_block_thread() < RT_WARP ? rt_grid_load32(&launch->generation) : 0, now = 0;
    odd = rt_block_any(odd);
    if (rt_block_thread() < RT_WARP) {
        generation = rt_warp_take32(generation, 0);
        if (rt_warp_lane() == 0)
            arrive_last(launch, generation, limit, own, heap, shared, odd);
        rt_warp_sync();
        while ((now = rt_warp_take32(rt_grid_load32(&launch->generation), 0)) == generation)
            rt_grid_wait();
    }
    if (!rt_block_any(now & 1))
        return 0;
    rt_gpu_meet(launch, 0, 0, 0, 0, RT_SETTLES_NOTHING); /* what all wrote, all see */
    return 1;
}

RT_IN_PLACE void
rt_gpu_barrier(rt_gpu_thread *thread, int32_t shared, rt_gpu_settles what)
{
    if (what == RT_SETTLES_NOTHING) /* a constant wherever this stands */
        rt_gpu_meet(thread->launch, 0, 0, 0, 0, what);
    else
        rt_gpu_meet(thread->launch, rt_gpu_page_limit(&thread->kernel), rt_gpu_own_pages(thread->worker),
                    rt_gpu_heap_pages(&thread->kernel), shared, what);
    thread->wrote = thread->read = 0;
}

RT_IN_PLACE void
rt_gpu_reads(rt_gpu_thread *thread)
{
    if (thread->wrote)
        rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    thread->read = 1;
}

RT_IN_PLACE void
rt_gpu_writes(rt_gpu_thread *thread)
{
    if (thread->read || thread->wrote == 2)
        rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    thread->wrote = 1;
}

/* -- faults ------------------------------------------------------------------------------------------------------ */

RT_SLOW void
rt_gpu_fault(rt_gpu_launch *launch, int32_t mine, rt_fault fault, int32_t place, uint64_t needed, uint64_t limit)
{
    if (mine && rt_grid_swap32(&launch->fault, 0, (uint32_t)fault) == 0) {
        launch->place = (uint32_t)place;
        launch->needed = needed;
        launch->limit = limit;
    }
}

/* Its address stays where it is: a slow path gets what it needs of the record. */
RT_IN_PLACE void
rt_gpu_no_memory(rt_gpu_thread *thread, int32_t place, uint64_t needed)
{
    thread->kernel.failed = 1;
    rt_gpu_fault(thread->launch, rt_gpu_alone(thread), RT_FAULT_MEMORY, place, needed, thread->launch->budget);
}

void
rt_gpu_fail(rt_gpu_worker *worker, rt_fault fault, int32_t place, uint64_t needed)
{
    int32_t mine = rt_gpu_at_kernel_level(worker) ? rt_gpu_alone(NULL) : rt_warp_lane() == 0;
    worker->failed = 1;
    rt_gpu_fault(worker->launch, mine, fault, place, needed, worker->launch->budget);
}

RT_SLOW void
rt_gpu_assert(rt_gpu_worker *worker, int32_t place)
{
    rt_gpu_fail(worker, RT_FAULT_ASSERT, place, 0);
}

RT_SLOW void
rt_gpu_subscript(rt_gpu_worker *worker, int32_t place, int32_t mine, int64_t index, int64_t extent)
{
    if (rt_gpu_at_kernel_level(worker))
        mine = rt_gpu_alone(NULL);
    worker->failed = 1;
    rt_gpu_fault(worker->launch, mine, RT_FAULT_SUBSCRIPT, place, (uint64_t)index, (uint64_t)extent);
}

/* -- the end before its time ------------------------------------------------------------------------------------- */

enum { LOOKS_EACH = 1000 /* microseconds */ };

static int32_t
is_stopped(const rt_gpu_launch *launch)
{
    return *(const volatile uint32_t *)&launch->report->stop != 0;
}

/* The host's memory is for one warp in a millisecond: if each of thousands looked there, all would wait for the bus, which took
 * most of the time of a gradient. The others see the fault. */
static uint32_t
is_cancelled(rt_gpu_launch *launch, int32_t place)
{
    uint32_t now = rt_grid_clock(), last = rt_grid_load32(&launch->looked);
    if (now - last >= LOOKS_EACH && rt_grid_swap32(&launch->looked, last, now) == last && is_stopped(launch)) {
        rt_gpu_fault(launch, 1, RT_FAULT_CANCELLED, place, 0, 0);
        rt_grid_fence();
    }
    return rt_grid_load32(&launch->fault);
}

/* One lane looks, so that all see the same. The fault is there before this warp arrives anywhere. */
RT_SLOW int32_t
rt_gpu_poll(rt_gpu_launch *launch, int32_t place)
{
    return rt_warp_one32(rt_warp_lane() == 0 ? is_cancelled(launch, place) : 0) != 0;
}

RT_SLOW int32_t
rt_gpu_poll_all(rt_gpu_launch *launch, int32_t place)
{
    if (rt_gpu_alone(NULL) && is_stopped(launch))
        rt_gpu_fault(launch, 1, RT_FAULT_CANCELLED, place, 0, 0);
    rt_gpu_meet(launch, 0, 0, 0, 0, RT_SETTLES_NOTHING);
    return launch->now_fault != 0;
}

/* -- the end ----------------------------------------------------------------------------------------------------- */

RT_IN_PLACE void
rt_gpu_leave(rt_gpu_thread *thread)
{
    rt_gpu_launch *launch = thread->launch;
    int32_t odd;
    if (thread->ended)
        return;
    odd = rt_block_any(thread->worker->failed || thread->kernel.failed);
    if (rt_block_thread() != 0)
        return;
    if ((odd ? rt_grid_arrive(&launch->left, 1) : rt_grid_add32(&launch->left, 1)) != rt_grid_blocks() - 1)
        return;
    rt_gpu_end_launch(launch, rt_gpu_page_limit(&thread->kernel), rt_gpu_own_pages(thread->worker),
               rt_gpu_heap_pages(&thread->kernel));
}
