/* The memory of a played GPU, its launches and prints. SPDX-License-Identifier: Apache-2.0 */
#include "rt/simt/simt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rt/fpenv.h"
#include "rt/simt/grid.h"

/* For what kernels take beside tapes; as nothing is touched before it is used, more costs nothing. */
enum { TEMPS = 1 << 28, MOST_WARPS = 32, PRINT_CELLS = 1 << 16 };
static const uint64_t most_budget = (uint64_t)1 << 32;

static bool
make_pool(rt_simt *simt, uint64_t budget)
{
    rt_gpu_launch *launch = &simt->launch;
    launch->budget = budget;
    launch->tape_pages = (launch->budget < most_budget ? launch->budget : most_budget) / RT_GPU_PAGE;
    launch->pages = launch->tape_pages + TEMPS / RT_GPU_PAGE;
    simt->memory_bytes = (size_t)(launch->pages + 1) * RT_GPU_PAGE;
    simt->memory = mmap(NULL, simt->memory_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (simt->memory == MAP_FAILED) {
        simt->memory = NULL;
        return false;
    }
    launch->pool = (char *)(((uintptr_t)simt->memory + RT_GPU_PAGE - 1) & ~(uintptr_t)(RT_GPU_PAGE - 1));
    return true;
}

static bool
make_rows(rt_simt *simt, uint64_t print_room)
{
    rt_gpu_launch *launch = &simt->launch;
    size_t warps = (size_t)simt->blocks * simt->block_warps;
    simt->warps = calloc(warps, sizeof *simt->warps);
    simt->stacks = rt_fiber_stacks(warps * RT_WARP);
    launch->partials = calloc(warps * 2 * RT_GPU_CELLS, sizeof *launch->partials);
    launch->again = calloc(warps * RT_GPU_NOTES, sizeof *launch->again);
    launch->prints = calloc(1, sizeof *launch->prints + print_room * sizeof(uint64_t));
    if (launch->prints)
        launch->prints->room = print_room;
    launch->report = &simt->report;
    return simt->warps && simt->stacks && launch->partials && launch->again && launch->prints;
}

rt_simt *
rt_simt_create(const rt_simt_desc *desc)
{
    rt_simt *simt = aligned_alloc(_Alignof(rt_simt), sizeof *simt);
    if (!simt)
        return NULL;
    memset(simt, 0, sizeof *simt);
    simt->blocks = desc->blocks ? desc->blocks : 2;
    simt->block_warps = desc->warps ? desc->warps : 4;
    simt->order = desc->order;
    if (simt->block_warps > MOST_WARPS)
        simt->block_warps = MOST_WARPS;
    if (!make_pool(simt, desc->budget) || !make_rows(simt, desc->print_room ? desc->print_room : PRINT_CELLS)) {
        rt_simt_destroy(simt);
        return NULL;
    }
    return simt;
}

void
rt_simt_destroy(rt_simt *simt)
{
    if (!simt)
        return;
    rt_fiber_stacks_free(simt->stacks, (size_t)simt->blocks * simt->block_warps * RT_WARP);
    if (simt->memory)
        munmap(simt->memory, simt->memory_bytes);
    free(simt->warps);
    free(simt->launch.partials);
    free(simt->launch.again);
    free(simt->launch.prints);
    free(simt);
}

/* Counters as the first launch finds them: after one that was left half-way. */
static void
clear_counters(rt_gpu_launch *launch)
{
    size_t first = offsetof(rt_gpu_launch, top);
    memset((char *)launch + first, 0, sizeof *launch - first);
}

static void
begin(rt_simt *simt, const rt_arg *args, uint32_t program)
{
    simt->args = args;
    simt->launch.program = program;
    simt->trouble[0] = 0;
    __atomic_store_n(&simt->report.stop, 0, __ATOMIC_RELAXED);
    atomic_store_explicit(&simt->running, true, memory_order_relaxed);
}

static void
run_grid(rt_simt *simt, rt_simt_kernel *kernel)
{
    rt_fpenv callers = rt_fpenv_enter();
    simt->kernel = kernel;
    simt_run(simt);
    rt_fpenv_leave(callers);
}

static const char *
end(rt_simt *simt)
{
    atomic_store_explicit(&simt->running, false, memory_order_relaxed);
    if (!simt->trouble[0])
        return NULL;
    clear_counters(&simt->launch);
    return simt->trouble;
}

const char *
rt_simt_launch(rt_simt *simt, rt_simt_kernel *kernel, const rt_arg *args, uint32_t program)
{
    begin(simt, args, program);
    run_grid(simt, kernel);
    return end(simt);
}

/* -- launches in segments ------------------------------------------------------------------------------------------ */

const char *
rt_simt_begin(rt_simt *simt, const rt_arg *args, uint32_t program, size_t record)
{
    uint32_t warps = simt->blocks * simt->block_warps;
    rt_gpu_launch *launch = &simt->launch;
    begin(simt, args, program);
    launch->kept = calloc(1, sizeof *launch->kept + warps * sizeof launch->kept->worker[0]);
    launch->record = calloc(1, record ? record : 1);
    if (!launch->kept || !launch->record) {
        snprintf(simt->trouble, sizeof simt->trouble, "out of memory for the record of a launch");
        return simt->trouble;
    }
    launch->kept->warps = warps;
    launch->kept->blocks = simt->blocks;
    return rt_simt_grid(simt, rt_gpu_cut_begin, 0, 1);
}

const char *
rt_simt_grid(rt_simt *simt, rt_simt_kernel *kernel, uint32_t step, int32_t one_warp)
{
    uint32_t blocks = simt->blocks, block_warps = simt->block_warps;
    simt->launch.step = step;
    if (one_warp)
        simt->blocks = simt->block_warps = 1;
    run_grid(simt, kernel);
    simt->blocks = blocks;
    simt->block_warps = block_warps;
    return simt->trouble[0] ? simt->trouble : NULL;
}

const char *
rt_simt_end(rt_simt *simt)
{
    rt_gpu_launch *launch = &simt->launch;
    if (!simt->trouble[0])
        rt_simt_grid(simt, rt_gpu_cut_end, 0, 1);
    free(launch->kept);
    free(launch->record);
    launch->kept = NULL;
    launch->record = NULL;
    return end(simt);
}

const char *
rt_simt_record(const rt_simt *simt)
{
    return simt->launch.record;
}

int32_t
rt_simt_pieces_are_left(const rt_simt *simt)
{
    return simt->launch.now_left != 0;
}

int32_t
rt_simt_has_failed(rt_simt *simt, uint32_t place)
{
    rt_gpu_launch *launch = &simt->launch;
    if (!launch->fault && __atomic_load_n(&simt->report.stop, __ATOMIC_RELAXED)) { /* grids too short to look themselves */
        launch->fault = RT_FAULT_CANCELLED;
        launch->place = place;
    }
    return launch->fault != 0;
}

void
rt_simt_cancel(rt_simt *simt)
{
    if (atomic_load_explicit(&simt->running, memory_order_relaxed))
        __atomic_store_n(&simt->report.stop, 1, __ATOMIC_RELAXED);
}

rt_gpu_report *
rt_simt_report(rt_simt *simt)
{
    return &simt->report;
}

uint64_t
rt_simt_prints(rt_simt *simt, rt_simt_printed *each, void *user)
{
    rt_gpu_prints *prints = simt->launch.prints;
    uint64_t lost = prints->lost, end = prints->used < prints->room ? prints->used : prints->room;
    for (uint64_t at = 0; at < end && prints->cells[at];) {
        uint64_t head = prints->cells[at];
        uint32_t n = (uint32_t)(head >> 32 & 0xffff);
        each(user, (uint32_t)(head >> 48), (uint32_t)head - 1, &prints->cells[at + 1], n);
        at += 1 + n;
    }
    memset(prints->cells, 0, end * sizeof(uint64_t));
    prints->used = prints->lost = 0;
    return lost;
}

int
rt_simt_is_clean(const rt_simt *simt)
{
    rt_gpu_launch now = simt->launch;
    const char *bytes = (const char *)&now;
    now.generation = now.told = 0; /* they go on from launch to launch */
    for (size_t i = offsetof(rt_gpu_launch, top); i < sizeof now; i++)
        if (bytes[i])
            return 0;
    return 1;
}
