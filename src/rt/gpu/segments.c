/* Launches in segments: what a thread knows between two grids, and what one warp does for all of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every grid begins with what the one before has left in memory, and leaves it there for the next. A grid of a task leaves the
 * kernel level's part apart: some of its warps may not have begun yet when others end. */
#include "rt/gpu/inside.h"

static inline rt_gpu_worker *
kept_worker(const rt_gpu_launch *launch)
{
    return &launch->kept->worker[rt_grid_warp()];
}

/* One warp. */
void
rt_gpu_cut_begin(rt_gpu_launch *launch, const rt_arg *args)
{
    rt_gpu_kept *kept = launch->kept;
    (void)args;
    rt_gpu_enter(&kept->thread, &kept->worker[0], launch);
    for (uint32_t w = rt_warp_lane(); w < kept->warps; w += RT_WARP) {
        rt_gpu_reset_worker(&kept->worker[w], (int32_t)w, launch);
        kept->worker[w].failed = kept->worker[w].owns = kept->worker[w].lent = 0;
    }
    rt_warp_sync();
}

/* One warp. */
void
rt_gpu_cut_end(rt_gpu_launch *launch, const rt_arg *args)
{
    const rt_gpu_worker *kernel = &launch->kept->thread.kernel;
    (void)args;
    if (rt_warp_lane() == 0)
        rt_gpu_end_launch(launch, rt_gpu_page_limit(kernel), 0, rt_gpu_heap_pages(kernel));
}

RT_IN_PLACE void
rt_gpu_resume(rt_gpu_thread *thread, rt_gpu_worker *worker, rt_gpu_launch *launch, int32_t what)
{
    *thread = what == RT_GPU_SETTLES ? launch->kept->task : launch->kept->thread;
    *worker = *kept_worker(launch);
    thread->launch = launch;
    thread->worker = worker;
    if (what != RT_GPU_TASK)
        return;
    if (rt_block_thread() == 0) {
        rt_block_set32(0, 0);
        rt_block_set32(1, 0);
    }
    rt_block_sync();
}

/* All lanes have read what they began with. */
RT_IN_PLACE void
rt_gpu_pause(rt_gpu_thread *thread, int32_t what)
{
    rt_gpu_kept *kept = thread->launch->kept;
    rt_warp_sync();
    thread->wrote = thread->read = 0;
    if (what == RT_GPU_TASK && !thread->worker->lent && rt_warp_lane() == 0)
        *kept_worker(thread->launch) = *thread->worker;
    if (!rt_gpu_alone(thread))
        return;
    if (what == RT_GPU_TASK)
        kept->task = *thread;
    else
        kept->thread = *thread;
}

int32_t
rt_gpu_settle_task(rt_gpu_thread *thread, int32_t shared, rt_gpu_settles what)
{
    rt_gpu_launch *launch = thread->launch;
    rt_gpu_kept *kept = launch->kept;
    if (rt_gpu_alone(thread))
        rt_gpu_settle_all(launch, rt_gpu_page_limit(&thread->kernel), 0, rt_gpu_heap_pages(&thread->kernel), shared, what);
    rt_warp_sync();
    for (uint32_t w = 0; what == RT_SETTLES_PAGES && w < kept->warps; w++)
        rt_gpu_pages_cut(&kept->worker[w]);
    return launch->now_fault || launch->now_left;
}

RT_IN_PLACE int32_t
rt_gpu_phase(const rt_gpu_thread *thread)
{
    return thread->worker->phase;
}
