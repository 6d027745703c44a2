/* Sums over all threads of a task, formed in f64 cells of a few blocks each. SPDX-License-Identifier: Apache-2.0
 *
 * Warps add to the cells of their block's row, atomically, so that few wait for each other at a cell. When the task has
 * ended all warps of the grid add the rows up, an element each, and leave the cells 0. */
#include "rt/element.h"
#include "rt/gpu/inside.h"

enum { LINE = 128 };

static uint32_t
row_count(const rt_gpu_launch *launch)
{
    uint32_t blocks = rt_gpu_task_blocks(launch);
    return blocks < RT_GPU_ROWS ? blocks : RT_GPU_ROWS;
}

RT_IN_PLACE double *
rt_gpu_private(rt_gpu_thread *thread, int64_t cells)
{
    uint64_t rows = row_count(thread->launch);
    if (cells <= 0 || cells > RT_GPU_ROW_MAX)
        return NULL;
    if (cells > thread->row) {
        int64_t row = RT_PRIVATE_ROW(cells);
        uint64_t bytes = rows * (uint64_t)row * sizeof(double);
        double *made = rt_gpu_heap_take(thread, bytes, LINE);
        if (!made)
            return NULL;
        rt_gpu_grid_zero((char *)made, bytes);
        thread->wrote = 2;
        thread->privates = made;
        thread->row = row;
    }
    return thread->privates + (int64_t)(rt_grid_block() % rows) * thread->row;
}

/* -- adding up --------------------------------------------------------------------------------------------------- */

static double
sum_of_lanes(double mine)
{
    union { double value; uint64_t bits; } u = {.value = mine};
    for (uint32_t n = RT_WARP / 2; n; n /= 2) {
        union { double value; uint64_t bits; } other = {.bits = rt_warp_take64(u.bits, rt_warp_lane() ^ n)};
        u.value += other.value;
    }
    return u.value;
}

/* A warp for each element; lane l has rows l, l + 32, ... of it. */
static RT_SLOW void
add_rows(double *cells, int64_t row, int64_t rows, int64_t n, void *array, int32_t bytes, int32_t clears)
{
    for (int64_t i = rt_grid_warp(); i < n; i += rt_grid_warps()) {
        double sum = 0;
        for (int64_t k = rt_warp_lane(); k < rows; k += RT_WARP) {
            sum += cells[k * row + i];
            if (clears)
                cells[k * row + i] = 0;
        }
        sum = sum_of_lanes(sum);
        if (rt_warp_lane() == 0)
            rt_add_to_element(array, i, sum, bytes);
        rt_warp_sync(); /* one way back to the head of a loop with a loop in it (codegen/llvm/latch.c) */
    }
}

RT_IN_PLACE void
rt_gpu_add_rows(rt_gpu_thread *thread, double *cells, int64_t row, int64_t rows, int64_t n, void *array, int32_t bytes,
                int32_t clears, int32_t apart)
{
    if (!apart && thread->wrote == 2)
        rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    add_rows(cells, row, rows, n, array, bytes, clears);
    thread->wrote = 2;
}

RT_IN_PLACE void
rt_gpu_private_add(rt_gpu_thread *thread, int64_t first, int64_t n, void *array, int32_t bytes, int32_t apart)
{
    rt_gpu_add_rows(thread, thread->privates + first, thread->row, row_count(thread->launch), n, array, bytes, 1, apart);
}
