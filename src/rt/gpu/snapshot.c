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

typedef struct sixteen {
    uint64_t low, high;
} sixteen;

/* `bytes` of the array, from so many on, to or from a frame, by the threads of this block. */
static void
copy_part(const elements *e, int64_t from, char *frame, int64_t bytes, int32_t save)
{
    char *dense = (char *)e->array->plane[0] + from;
    uint32_t thread = rt_block_thread(), threads = rt_block_threads();
    if (e->dense && (((uintptr_t)dense | (uintptr_t)frame | (uintptr_t)bytes) & 15) == 0) {
        sixteen *to = (sixteen *)(save ? frame : dense);
        const sixteen *source = (const sixteen *)(save ? dense : frame);
        for (int64_t i = thread; i < bytes / 16; i += threads)
            to[i] = source[i];
        return;
    }
    int64_t first = from / e->size, n = bytes / e->size;
    for (int64_t i = thread; i < n; i += threads) {
        char *element = element_at(e, first + i), *kept = frame + i * e->size;
        copy_one(save ? kept : element, save ? element : kept, e->size);
    }
}

/* A block copies so much at once: few bytes, so that the array is dealt out to many. */
enum { PART = 2048, PARTS = (RT_GPU_BLOCK_BYTES + PART - 1) / PART };

/* Frames of an array that lie in successive pages, `first` being the number of the one at `frame`. They are `apart` bytes
 * apart, and full unless there is one alone, of `bytes`. */
static void
copy_frames(const elements *e, int64_t first, int64_t n, char *frame, int64_t bytes, int64_t apart, int32_t save)
{
    for (int64_t i = rt_grid_block(); i < n * PARTS; i += rt_grid_blocks()) {
        int64_t k = i / PARTS, at = i % PARTS * PART, left = bytes - at;
        if (left > 0)
            copy_part(e, (first + k) * RT_GPU_BLOCK_BYTES + at, frame + k * apart + at, left < PART ? left : PART, save);
    }
}

/* What was written before is there, and nobody reads it any more; then all threads write. */
static void
take_turns(rt_gpu_thread *thread)
{
    if (thread->wrote || thread->read)
        rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    thread->wrote = 2;
}

static int32_t
fits(const char *cursor, int64_t bytes)
{
    return rt_gpu_place_in_page(cursor) + (uint64_t)bytes < RT_GPU_PAGE;
}

static rt_gpu_kernel_page *
above_of(const rt_gpu_worker *worker, const char *cursor)
{
    struct rt_page *here = rt_gpu_page_of(cursor);
    return (rt_gpu_kernel_page *)(here ? here->next : worker->first_page);
}

/* the bottom of the next page, which is there */
static char *
entered(char *cursor, rt_gpu_worker *worker)
{
    struct rt_page *above = &above_of(worker, cursor)->page;
    if (rt_gpu_alone(rt_gpu_thread_of(worker)))
        above->below = cursor;
    worker->turned = UINT32_MAX;
    return (char *)above + RT_GPU_HEADER;
}

/* Full frames `at` to `full`, one a page, in rows of pages that are successive in memory. */
static char *
save_rows(rt_gpu_worker *worker, char *cursor, const elements *e, int64_t at, int64_t full)
{
    int64_t thread = (int64_t)rt_grid_block() * rt_block_threads() + rt_block_thread();
    int64_t threads = (int64_t)rt_grid_blocks() * rt_block_threads();
    for (int64_t n; at < full; at += n) {
        rt_gpu_kernel_page *row = above_of(worker, cursor);
        char *pages = (char *)row;
        n = full - at <= row->after ? full - at : (int64_t)row->after + 1;
        for (int64_t i = thread; i < n; i += threads)
            ((struct rt_page *)(pages + i * RT_GPU_PAGE))->below =
                i ? pages + i * RT_GPU_PAGE - RT_GPU_HEADER : cursor;
        copy_frames(e, at, n, pages + RT_GPU_HEADER, RT_GPU_BLOCK_BYTES, RT_GPU_PAGE, 1);
        cursor = pages + n * RT_GPU_PAGE - RT_GPU_HEADER;
        worker->turned = UINT32_MAX;
    }
    return cursor;
}

RT_SLOW char *
rt_gpu_save(rt_gpu_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank, int32_t place)
{
    elements e = elements_of(array, size, rank);
    int64_t all = e.count * e.size, full = all / RT_GPU_BLOCK_BYTES, rest = all % RT_GPU_BLOCK_BYTES, at = 0;
    take_turns(rt_gpu_thread_of(worker));
    if (!rt_gpu_kernel_pages(worker, rt_gpu_page_of(cursor), full + (rest > 0), place))
        return NULL;
    if (full && fits(cursor, RT_GPU_BLOCK_BYTES)) {
        copy_frames(&e, at++, 1, cursor, RT_GPU_BLOCK_BYTES, 0, 1);
        cursor += RT_GPU_BLOCK_BYTES;
    }
    cursor = save_rows(worker, cursor, &e, at, full);
    if (rest) {
        if (!fits(cursor, rt_gpu_whole_frame(rest)))
            cursor = entered(cursor, worker);
        copy_frames(&e, full, 1, cursor, rest, 0, 1);
        cursor += rt_gpu_whole_frame(rest);
    }
    rt_gpu_thread_of(worker)->wrote = 2;
    return cursor;
}

static char *
above_bottom(char *cursor)
{
    if (rt_gpu_place_in_page(cursor) == RT_GPU_HEADER)
        return ((struct rt_page *)(cursor - RT_GPU_HEADER))->below;
    return cursor;
}

/* The frames come off last to first, all full but the last. Where the first one began, only what is below the page of the
 * second says. */
RT_SLOW char *
rt_gpu_restore(rt_gpu_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank)
{
    elements e = elements_of(array, size, rank);
    int64_t all = e.count * e.size, full = all / RT_GPU_BLOCK_BYTES, rest = all % RT_GPU_BLOCK_BYTES;
    take_turns(rt_gpu_thread_of(worker));
    if (rest) {
        cursor = above_bottom(cursor) - rt_gpu_whole_frame(rest);
        copy_frames(&e, full, 1, cursor, rest, 0, 0);
    }
    for (int64_t n; full > 0; full -= n) {
        cursor = above_bottom(cursor);
        int64_t before = ((rt_gpu_kernel_page *)rt_gpu_page_of(cursor))->before;
        n = full == 1 ? 1 : full - 1 <= before ? full - 1 : before + 1;
        cursor -= RT_GPU_BLOCK_BYTES + (n - 1) * RT_GPU_PAGE;
        copy_frames(&e, full - n, n, cursor, RT_GPU_BLOCK_BYTES, RT_GPU_PAGE, 0);
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

/* The cursors of warps first, first + 1, ... go into a row; a segment's warp writes all of them. */
static void
write_cursors(const rt_gpu_thread *thread, char **row, uint32_t first, uint32_t n)
{
    uint32_t warp = rt_grid_warp();
    if (rt_gpu_is_cut(thread->launch)) {
        for (uint32_t i = rt_warp_lane(); i < n; i += RT_WARP)
            row[i] = thread->launch->kept->worker[first + i].cursor;
        return;
    }
    if (warp >= first && warp < first + n && rt_warp_lane() == 0)
        row[warp - first] = thread->worker->cursor;
}

RT_SLOW char *
rt_gpu_tasks(rt_gpu_worker *worker, char *cursor, int32_t place)
{
    rt_gpu_thread *thread = rt_gpu_thread_of(worker);
    uint32_t warps = rt_gpu_task_warps(thread->launch);
    take_turns(thread);
    if (!rt_gpu_kernel_pages(worker, rt_gpu_page_of(cursor), warps / ROW + 2, place))
        return NULL;
    for (uint32_t first = 0, n; first < warps; first += n) {
        n = warps - first < ROW ? warps - first : ROW;
        if (!fits(cursor, 8 * n))
            cursor = entered(cursor, worker);
        write_cursors(thread, (char **)cursor, first, n);
        cursor += 8 * n;
    }
    if (!fits(cursor, sizeof(standing)))
        cursor = entered(cursor, worker);
    if (rt_gpu_alone(thread)) {
        ((standing *)cursor)->taped = thread->launch->taped;
        ((standing *)cursor)->depths = thread->launch->depths;
    }
    worker->turned = UINT32_MAX;
    thread->wrote = 2;
    return cursor + sizeof(standing);
}

/* a warp's cursor, in the rows below */
static char *
stood(const rt_gpu_launch *launch, char *cursor, uint32_t warp)
{
    uint32_t warps = rt_gpu_task_warps(launch);
    for (uint32_t first = (warps - 1) / ROW * ROW;; first -= ROW) {
        uint32_t n = warps - first < ROW ? warps - first : ROW;
        cursor = above_bottom(cursor) - 8 * n;
        if (warp >= first)
            return ((char **)cursor)[warp - first];
    }
}

static void
stand_again(rt_gpu_thread *thread, char *rows)
{
    rt_gpu_launch *launch = thread->launch;
    if (!rt_gpu_is_cut(launch)) {
        thread->worker->cursor = stood(launch, rows, rt_grid_warp());
        return;
    }
    for (uint32_t warp = rt_warp_lane(); warp < launch->kept->warps; warp += RT_WARP)
        launch->kept->worker[warp].cursor = stood(launch, rows, warp);
    rt_warp_sync();
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
    stand_again(thread, tasks - sizeof(standing));
    rt_gpu_writes(thread); /* all have read the sums */
    if (rt_gpu_alone(thread)) {
        launch->taped = s->taped;
        launch->depths = s->depths;
    }
    return 1;
}
