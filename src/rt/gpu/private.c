/* Sums over all threads of a task, formed in f64 cells of a few blocks each. SPDX-License-Identifier: Apache-2.0
 *
 * Warps add to the cells of their block's row, atomically, so that few wait for each other at a cell. When the task has
 * ended all warps of the grid add the rows up, an element each, and leave the cells 0. */
#include "rt/gpu/cells.h"

enum { LINE = 128 };

static uint32_t
row_count(void)
{
    return rt_grid_blocks() < RT_GPU_ROWS ? rt_grid_blocks() : RT_GPU_ROWS;
}

RT_IN_PLACE double *
rt_gpu_private(rt_gpu_thread *thread, int64_t cells)
{
    uint64_t rows = row_count();
    if (cells <= 0 || cells > RT_GPU_ROW_MAX)
        return NULL;
    if (cells > thread->row) {
        int64_t row = (cells + 15) & ~(int64_t)15;
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

static RT_SLOW void
add_rows(double *privates, int64_t row, int64_t first, int64_t n, void *array, int32_t bytes)
{
    uint32_t rows = row_count();
    for (int64_t i = rt_grid_warp(); i < n; i += rt_grid_warps()) {
        double sum = 0;
        for (uint32_t k = rt_warp_lane(); k < rows; k += RT_WARP) {
            double *cell = privates + (int64_t)k * row + first + i;
            sum += *cell;
            *cell = 0;
        }
        sum = sum_of_lanes(sum);
        if (rt_warp_lane() == 0)
            add_to_element(array, i, sum, bytes);
    }
}

RT_IN_PLACE void
rt_gpu_private_add(rt_gpu_thread *thread, int64_t first, int64_t n, void *array, int32_t bytes, int32_t apart)
{
    if (!apart && thread->wrote == 2)
        rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    add_rows(thread->privates, thread->row, first, n, array, bytes);
    thread->wrote = 2;
}
