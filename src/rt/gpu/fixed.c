/* Sums with the same bits whenever warps run, and however many there are. SPDX-License-Identifier: Apache-2.0
 *
 * What a piece of a task adds is kept by piece: numbers of its own for reductions, a row of f64 cells for arrays, to which its
 * warp alone adds. When the task has ended they are added up in a tree that follows from the number of pieces alone. */
#include "rt/gpu/inside.h"

enum { LINE = 128 };

/* A power of two: what grows leaves no more behind than there is in the end. */
RT_IN_PLACE void *
rt_gpu_fixed_room(rt_gpu_thread *thread, int64_t numbers, int32_t rows)
{
    int64_t *room = rows ? &thread->row : &thread->cells, wanted = LINE;
    void *made;
    if (numbers <= *room && *room)
        return rows ? (void *)thread->privates : thread->partials[0];
    while (wanted < numbers)
        wanted *= 2;
    made = rt_gpu_heap_take(thread, (uint64_t)wanted * sizeof(double), LINE);
    if (!made) {
        rt_gpu_no_memory(thread, 0, (uint64_t)wanted * sizeof(double));
        return NULL;
    }
    *room = wanted;
    if (rows)
        thread->privates = made;
    else
        thread->partials[0] = made;
    return made;
}

/* As the piece begins, so that one that is run again begins anew. */
RT_SLOW double *
rt_gpu_fixed_clear(double *rows, int64_t row, int32_t piece)
{
    double *cells = rows + piece * row;
    rt_warp_sync();
    for (int64_t i = rt_warp_lane(); i < row; i += RT_WARP)
        cells[i] = 0;
    rt_warp_sync();
    return cells;
}

RT_IN_PLACE void
rt_gpu_fixed_add(rt_gpu_thread *thread, double *cells, int64_t row, int64_t pieces, int64_t n, void *array, int32_t bytes,
                 int32_t apart)
{
    rt_gpu_add_rows(thread, cells, row, pieces, n, array, bytes, 0, apart);
}
