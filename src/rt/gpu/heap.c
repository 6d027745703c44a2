/* What the kernel-level code takes from the pool's end: temporary arrays, pages of its own tape, room for partial
 * results. SPDX-License-Identifier: Apache-2.0
 *
 * Every thread counts alike, so an address costs no memory access. While a task runs the count stands still, and what is
 * below is its pages'. Nothing is given back before the launch ends. */
#include "rt/gpu/inside.h"

enum { LINE = 128 };

/* in front of a temporary array */
typedef union temp_head {
    uint64_t bytes;
    char line[LINE];
} temp_head;

RT_IN_PLACE void *
rt_gpu_heap_take(rt_gpu_thread *thread, uint64_t bytes, uint64_t align)
{
    const rt_gpu_launch *launch = thread->launch;
    uint64_t all = launch->pages * RT_GPU_PAGE, most = all - (uint64_t)launch->now_top * RT_GPU_PAGE;
    if (bytes > most || thread->kernel.heap + bytes + align > most)
        return NULL;
    thread->kernel.heap = (thread->kernel.heap + bytes + align - 1) & ~(align - 1);
    return launch->pool + (all - thread->kernel.heap);
}

RT_SLOW void
rt_gpu_grid_zero(char *to, uint64_t bytes)
{
    typedef struct sixteen {
        uint64_t low, high;
    } sixteen;
    uint64_t threads = (uint64_t)rt_grid_blocks() * rt_block_threads();
    uint64_t first = (uint64_t)rt_grid_block() * rt_block_threads() + rt_block_thread();
    sixteen *cells = (sixteen *)to, zero = {0, 0};
    for (uint64_t i = first; i < (bytes + 15) / 16; i += threads)
        cells[i] = zero;
}

RT_IN_PLACE void *
rt_gpu_record(rt_gpu_thread *thread, int64_t bytes, int32_t place)
{
    void *record = rt_gpu_heap_take(thread, (uint64_t)bytes, LINE);
    if (!record)
        rt_gpu_no_memory(thread, place, (uint64_t)bytes);
    return record;
}

RT_IN_PLACE void *
rt_gpu_temp(rt_gpu_thread *thread, int64_t bytes, int32_t place)
{
    uint64_t size = bytes > 0 ? (uint64_t)bytes : 0;
    uint64_t whole = size > UINT64_MAX / 2 ? size : ((size + LINE - 1) & ~(uint64_t)(LINE - 1)) + sizeof(temp_head);
    temp_head *head = rt_gpu_heap_take(thread, whole, LINE);
    if (!head) {
        rt_gpu_no_memory(thread, place, size);
        return NULL;
    }
    if (rt_gpu_alone(thread))
        head->bytes = size;
    rt_gpu_grid_zero((char *)(head + 1), size);
    thread->wrote = 2;
    return head + 1;
}

/* Its size was written when it was made, at least one barrier ago. */
RT_IN_PLACE void *
rt_gpu_temp_again(rt_gpu_thread *thread, int64_t bytes, void *last, int32_t place)
{
    if (last && (thread->wrote || thread->read))
        rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    if (!last || bytes < 0 || (uint64_t)bytes > ((temp_head *)last - 1)->bytes)
        return rt_gpu_temp(thread, bytes, place);
    rt_gpu_grid_zero(last, (uint64_t)bytes);
    thread->wrote = 2;
    return last;
}
