/* Arrays on the kernel's tape, and what all warps hold: for time loops that drop frames. SPDX-License-Identifier: Apache-2.0
 *
 * The frames of an array are dealt out to the blocks of the grid; all threads walk over them to find the cursor behind. */
#include "rt/gpu/inside.h"

/* an array as its elements lie */
typedef struct elements {
    const rt_arg *array;
    int64_t size, count;
    uint32_t rank;
    int32_t dense;
} elements;

static elements
elements_of(const rt_arg *array, uint32_t size, uint32_t rank)
{
    elements e = {.array = array, .size = size, .count = 1, .rank = rank, .dense = 1};
    for (uint32_t k = rank; k-- > 0; e.count *= array->extent[k])
        if (array->stride[k] != e.count && array->extent[k] > 1)
            e.dense = 0;
    return e;
}

static char *
element_at(const elements *e, int64_t i)
{
    char *base = e->array->plane[0];
    int64_t offset = 0;
    if (e->dense)
        return base + i * e->size;
    for (uint32_t k = e->rank; k-- > 0; i /= e->array->extent[k])
        offset += i % e->array->extent[k] * e->array->stride[k];
    return base + offset * e->size;
}

static void
copy_one(char *to, const char *from, int64_t size)
{
    switch (size) {
    case 8:
        *(uint64_t *)to = *(const uint64_t *)from;
        break;
    case 4:
        *(uint32_t *)to = *(const uint32_t *)from;
        break;
    case 2:
        *(uint16_t *)to = *(const uint16_t *)from;
        break;
    default:
        *to = *from;
    }
}

/* The elements that begin so many bytes into the array, to or from a frame, by the threads of this block. */
static void
copy_frame(const elements *e, int64_t from, char *frame, int64_t bytes, int32_t save)
{
    int64_t first = from / e->size, n = bytes / e->size;
    for (int64_t i = rt_block_thread(); i < n; i += rt_block_threads()) {
        char *element = element_at(e, first + i), *kept = frame + i * e->size;
        copy_one(save ? kept : element, save ? element : kept, e->size);
    }
}

static int32_t
is_mine(int64_t frame)
{
    return (uint64_t)frame % rt_grid_blocks() == rt_grid_block();
}

/* What was written before is there, and nobody reads it any more; then all threads write. */
static void
take_turns(rt_gpu_thread *thread)
{
    if (thread->wrote || thread->read)
        rt_gpu_barrier(thread, RT_SETTLES_NOTHING);
    thread->wrote = 2;
}

static int64_t
frame_bytes(int64_t left)
{
    return left < RT_GPU_BLOCK_BYTES ? left : RT_GPU_BLOCK_BYTES;
}

/* what a frame takes of the tape: behind it all numbers are aligned */
static int64_t
whole_frame(int64_t bytes)
{
    return (bytes + 7) & ~(int64_t)7;
}

static char *
entered(char *cursor, const rt_gpu_worker *worker, int32_t mine)
{
    struct rt_page *here = rt_gpu_page_of(cursor), *above = here ? here->next : worker->first_page;
    if (mine && rt_block_thread() == 0)
        above->below = cursor;
    return (char *)above + RT_GPU_HEADER;
}

RT_SLOW char *
rt_gpu_save(rt_gpu_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank, int32_t place)
{
    elements e = elements_of(array, size, rank);
    int64_t all = e.count * e.size, pages = (all + RT_GPU_BLOCK_BYTES - 1) / RT_GPU_BLOCK_BYTES, frame = 0;
    take_turns(rt_gpu_thread_of(worker));
    if (!rt_gpu_kernel_pages(worker, rt_gpu_page_of(cursor), pages, place))
        return NULL;
    for (int64_t at = 0, bytes; at < all; at += bytes, frame++) {
        bytes = frame_bytes(all - at);
        if (rt_gpu_place_in_page(cursor) + (uint64_t)whole_frame(bytes) >= RT_GPU_PAGE) {
            cursor = entered(cursor, worker, is_mine(frame));
            worker->turned = UINT32_MAX;
        }
        if (is_mine(frame))
            copy_frame(&e, at, cursor, bytes, 1);
        cursor += whole_frame(bytes);
    }
    rt_gpu_thread_of(worker)->wrote = 2;
    return cursor;
}

/* The frames come off last to first, each full but the last. */
RT_SLOW char *
rt_gpu_restore(rt_gpu_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank)
{
    elements e = elements_of(array, size, rank);
    int64_t all = e.count * e.size, frame = (all - 1) / RT_GPU_BLOCK_BYTES;
    take_turns(rt_gpu_thread_of(worker));
    for (; all > 0 && frame >= 0; frame--) {
        int64_t at = frame * RT_GPU_BLOCK_BYTES, bytes = frame_bytes(all - at);
        if (rt_gpu_place_in_page(cursor) == RT_GPU_HEADER)
            cursor = ((struct rt_page *)(cursor - RT_GPU_HEADER))->below;
        cursor -= whole_frame(bytes);
        if (is_mine(frame))
            copy_frame(&e, at, cursor, bytes, 0);
    }
    /* what is read here may be written by the next push */
    rt_gpu_thread_of(worker)->read = 1;
    return cursor;
}

/* -- the warps --------------------------------------------------------------------------------------------------- */

/* behind it on the tape: the cursors of the grid's warps, in rows that are frames; then this, a frame too */
typedef struct standing {
    uint64_t taped, depths;
} standing;

enum { ROW = 128 };

RT_SLOW char *
rt_gpu_tasks(rt_gpu_worker *worker, char *cursor, int32_t place)
{
    rt_gpu_thread *thread = rt_gpu_thread_of(worker);
    uint32_t warps = rt_grid_warps(), warp = rt_grid_warp();
    take_turns(thread);
    if (!rt_gpu_kernel_pages(worker, rt_gpu_page_of(cursor), warps / ROW + 2, place))
        return NULL;
    for (uint32_t first = 0, n; first < warps; first += n) {
        n = warps - first < ROW ? warps - first : ROW;
        if (rt_gpu_place_in_page(cursor) + 8 * n >= RT_GPU_PAGE)
            cursor = entered(cursor, worker, rt_grid_block() == 0);
        if (warp >= first && warp < first + n && rt_warp_lane() == 0)
            ((char **)cursor)[warp - first] = thread->worker.cursor;
        cursor += 8 * n;
    }
    if (rt_gpu_place_in_page(cursor) + sizeof(standing) >= RT_GPU_PAGE)
        cursor = entered(cursor, worker, rt_grid_block() == 0);
    if (rt_gpu_alone(thread)) {
        ((standing *)cursor)->taped = thread->launch->taped;
        ((standing *)cursor)->depths = thread->launch->depths;
    }
    worker->turned = UINT32_MAX;
    thread->wrote = 2;
    return cursor + sizeof(standing);
}

static char *
below_bottom(char *cursor)
{
    if (rt_gpu_place_in_page(cursor) == RT_GPU_HEADER)
        return ((struct rt_page *)(cursor - RT_GPU_HEADER))->below;
    return cursor;
}

/* this warp's cursor, in the rows below */
static char *
stood(char *cursor)
{
    uint32_t warps = rt_grid_warps(), warp = rt_grid_warp();
    for (uint32_t first = (warps - 1) / ROW * ROW;; first -= ROW) {
        uint32_t n = warps - first < ROW ? warps - first : ROW;
        cursor = below_bottom(cursor) - 8 * n;
        if (warp >= first)
            return ((char **)cursor)[warp - first];
    }
}

RT_SLOW int32_t
rt_gpu_over_tasks(rt_gpu_worker *worker, char *cursor, char *mark, char *tasks, int32_t parts, int64_t room)
{
    rt_gpu_thread *thread = rt_gpu_thread_of(worker);
    rt_gpu_launch *launch = thread->launch;
    const standing *s = (const standing *)(tasks - sizeof(standing));
    int64_t used, bytes, below, left;
    rt_gpu_reads(thread);
    used = rt_gpu_depth(cursor) - rt_gpu_depth(mark) + (int64_t)(launch->depths - s->depths);
    bytes = rt_gpu_height(cursor) - rt_gpu_height(mark) + (int64_t)(launch->taped - s->taped);
    below = rt_gpu_depth(mark) + (int64_t)s->depths;
    left = (int64_t)launch->tape_pages - below;
    if (parts ? used <= 0 || (used + 1) * RT_GPU_PAGE + room <= left * RT_GPU_PAGE / parts : bytes <= room)
        return 0;
    thread->worker.cursor = stood(tasks - sizeof(standing));
    rt_gpu_writes(thread); /* all have read the sums */
    if (rt_gpu_alone(thread)) {
        launch->taped = s->taped;
        launch->depths = s->depths;
    }
    return 1;
}
