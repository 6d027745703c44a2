/* Pages of tape. SPDX-License-Identifier: Apache-2.0
 *
 * A warp takes pages from the pool's beginning by counting them, chains them upwards through `next` and finds them
 * there when it comes down and goes up again. So the numbers of a chain's pages rise, and the pages that a task has
 * taken are those from a number on. Pages of the kernel-level code come from the pool's end. */
#include "rt/gpu/inside.h"

enum { FEW_PAGES = 64 };

/* -- taking one -------------------------------------------------------------------------------------------------- */

/* The pool has no more. A piece that can be run again is, as long as fewer warps can share the pool. */
static RT_SLOW void
out_of_pages(rt_gpu_worker *worker, uint64_t more, int32_t place)
{
    uint64_t taken = rt_gpu_page_limit(worker);
    if (worker->repeats && worker->share > 1) {
        worker->failed = 2;
        return;
    }
    rt_gpu_fail(worker, RT_FAULT_BUDGET, place, (taken + worker->held + more) * RT_GPU_PAGE);
}

/* `count` successive ones; NULL: there are not so many. */
static char *
take_pages(rt_gpu_worker *worker, uint32_t count)
{
    rt_gpu_launch *launch = worker->launch;
    uint32_t limit = rt_gpu_page_limit(worker), own = rt_gpu_own_pages(worker), first = 0;
    /* who asks in vain stops: the counter stays near the limit unless for many at once */
    if (rt_warp_lane() == 0 && (count <= FEW_PAGES || rt_grid_load32(&launch->top) + own < limit))
        first = rt_grid_add32(&launch->top, count) + own;
    else
        first = limit;
    first = rt_warp_take32(first, 0);
    if (first > limit || count > limit - first)
        return NULL;
    return launch->pool + (uint64_t)first * RT_GPU_PAGE;
}

/* The one that is the warp's own: nobody is asked for it, and a block's lie side by side. NULL: it has none. */
static struct rt_page *
own_page(rt_gpu_worker *worker)
{
    rt_gpu_launch *launch = worker->launch;
    if (!rt_gpu_own_pages(worker))
        return NULL;
    if (rt_warp_lane() == 0)
        rt_grid_store32(&launch->begun, 1);
    return (struct rt_page *)(launch->pool + (uint64_t)(launch->now_top + (uint32_t)worker->index) * RT_GPU_PAGE);
}

/* one for a warp's tape, behind `here` (NULL: the first) */
static struct rt_page *
chain_page(rt_gpu_worker *worker, struct rt_page *here)
{
    struct rt_page *page = here ? NULL : own_page(worker);
    if (!page)
        page = (struct rt_page *)take_pages(worker, 1);
    if (!page)
        return NULL;
    if (rt_warp_lane() == 0) {
        page->next = NULL;
        page->depth = here ? here->depth + 1 : 1;
        if (here)
            here->next = page;
    }
    rt_warp_sync();
    if (!here) {
        worker->first_page = page;
        rt_gpu_set_bottom(worker);
    }
    worker->pages++;
    return page;
}

/* Fresh ones in a row, chained behind `here`; all threads write headers. */
static struct rt_page *
more_kernel_pages(rt_gpu_worker *worker, struct rt_page *here, int64_t count, int32_t place)
{
    rt_gpu_thread *thread = rt_gpu_thread_of(worker);
    int64_t threads = (int64_t)rt_grid_blocks() * rt_block_threads();
    uint32_t depth = here ? here->depth : 0, taken = thread->launch->now_top;
    char *row = NULL;
    if (taken + (uint64_t)count <= rt_gpu_page_limit(worker))
        row = rt_gpu_heap_take(thread, (uint64_t)count * RT_GPU_PAGE, RT_GPU_PAGE);
    if (!row) {
        rt_gpu_fail(worker, RT_FAULT_BUDGET, place, (taken + worker->pages + (uint64_t)count) * RT_GPU_PAGE);
        return NULL;
    }
    for (int64_t i = (int64_t)rt_grid_block() * rt_block_threads() + rt_block_thread(); i < count; i += threads) {
        rt_gpu_kernel_page *page = (rt_gpu_kernel_page *)(row + i * RT_GPU_PAGE);
        page->page.next = i + 1 < count ? (struct rt_page *)(row + (i + 1) * RT_GPU_PAGE) : NULL;
        page->page.depth = depth + 1 + (uint32_t)i;
        page->after = (uint32_t)(count - 1 - i);
        page->before = (uint32_t)i;
    }
    if (here && rt_gpu_alone(thread))
        here->next = (struct rt_page *)row;
    if (!here)
        worker->first_page = (struct rt_page *)row;
    thread->wrote = 2;
    worker->pages += (uint32_t)count;
    return (struct rt_page *)row;
}

int32_t
rt_gpu_kernel_pages(rt_gpu_worker *worker, struct rt_page *here, int64_t count, int32_t place)
{
    rt_gpu_thread *thread = rt_gpu_thread_of(worker);
    struct rt_page *above = here ? here->next : worker->first_page;
    while (above) { /* from one row to the next */
        uint32_t after = ((rt_gpu_kernel_page *)above)->after;
        count -= (int64_t)after + 1;
        if (count <= 0)
            return 1;
        here = (struct rt_page *)((char *)above + (uint64_t)after * RT_GPU_PAGE);
        above = here->next;
    }
    if (count <= 0)
        return 1;
    rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING); /* all have seen the chain's end */
    if (!more_kernel_pages(worker, here, count, place))
        return 0;
    rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    return 1;
}

/* The page above `here`, after which `more` are needed. */
static struct rt_page *
page_above(rt_gpu_worker *worker, struct rt_page *here, uint64_t more, int32_t place)
{
    struct rt_page *above;
    if (rt_gpu_at_kernel_level(worker) && here)
        rt_gpu_reads(rt_gpu_thread_of(worker));
    above = here ? here->next : worker->first_page;
    if (above)
        return above;
    if (rt_gpu_at_kernel_level(worker)) {
        rt_gpu_writes(rt_gpu_thread_of(worker));
        return more_kernel_pages(worker, here, 1, place);
    }
    above = chain_page(worker, here);
    if (!above)
        out_of_pages(worker, more + 1, place);
    return above;
}

/* Where the chain goes on downwards; what stood there may still be asked for by lanes that are behind. */
static void
set_below(struct rt_page *page, char *cursor)
{
    rt_warp_sync();
    if (rt_warp_lane() == 0)
        page->below = cursor;
    rt_warp_sync();
}

RT_SLOW char *
rt_gpu_page(rt_gpu_worker *worker, char *cursor, int32_t place)
{
    struct rt_page *above = page_above(worker, rt_gpu_page_of(cursor), 0, place);
    if (!above)
        return NULL;
    if (rt_gpu_at_kernel_level(worker)) {
        rt_gpu_writes(rt_gpu_thread_of(worker));
        if (rt_gpu_alone(rt_gpu_thread_of(worker)))
            above->below = cursor;
    } else {
        set_below(above, cursor);
    }
    worker->turned = UINT32_MAX;
    return (char *)above + RT_GPU_HEADER;
}

RT_SLOW char *
rt_gpu_reserve(rt_gpu_worker *worker, char *cursor, int64_t bytes, int32_t frame, int32_t place)
{
    struct rt_page *page = rt_gpu_page_of(cursor);
    int64_t here = page ? RT_GPU_PAGE - (int64_t)rt_gpu_place_in_page(cursor) - frame : 0;
    int64_t each = RT_GPU_PAGE - RT_GPU_HEADER - frame;
    bytes -= here > 0 ? here : 0;
    for (int64_t n = bytes > 0 ? (bytes - 1) / each + 1 : 0; n > 0; n--) {
        page = page_above(worker, page, (uint64_t)n - 1, place);
        if (!page)
            return NULL;
    }
    return cursor;
}

/* The chain goes up from the cursor's page; what was taken before the task stays. */
void
rt_gpu_pages_cut(rt_gpu_worker *worker)
{
    const char *end = worker->launch->pool + (uint64_t)worker->launch->now_top * RT_GPU_PAGE;
    struct rt_page *page = rt_gpu_page_of(worker->cursor);
    if (worker->scratch >= end) {
        worker->scratch = NULL;
        worker->scratch_size = 0;
    }
    if (!worker->first_page)
        return;
    if ((char *)worker->first_page >= end) {
        worker->first_page = NULL;
        worker->pages = 0;
        rt_gpu_set_bottom(worker);
        return;
    }
    if (!page)
        page = worker->first_page;
    while (page->next && (char *)page->next < end)
        page = page->next;
    rt_warp_sync(); /* all lanes are there */
    if (rt_warp_lane() == 0)
        page->next = NULL;
    rt_warp_sync();
    worker->pages = page->depth;
}

/* -- how much is left -------------------------------------------------------------------------------------------- */

/* Pages above this depth that the worker may use: what it holds, and its share of what nobody holds. */
static int64_t
pages_left(const rt_gpu_worker *worker, int64_t depth)
{
    int64_t limit = rt_gpu_page_limit(worker), top = worker->launch->now_top;
    if (!rt_gpu_at_kernel_level(worker))
        top = rt_warp_take32(rt_grid_load32(&worker->launch->top), 0) + rt_gpu_own_pages(worker);
    return worker->pages - depth + (top < limit ? (uint32_t)(limit - top) / (uint32_t)worker->share : 0);
}

static int32_t
takes_too_much(const rt_gpu_worker *worker, const char *cursor, const char *mark, int32_t parts, int64_t room)
{
    int64_t below, used;
    if (!parts)
        return rt_gpu_height(cursor) - rt_gpu_height(mark) > room;
    below = rt_gpu_pages_below(mark);
    used = rt_gpu_depth(cursor) - below;
    /* nothing of 64 bits is divided: that is a long function on a GPU */
    return used > 0 && ((used + 1) * RT_GPU_PAGE + room) * parts > pages_left(worker, below) * RT_GPU_PAGE;
}

/* If so, frames above `mark` are dropped and a state is written over them: not before all lanes have written theirs. */
static int32_t
is_over(const rt_gpu_worker *worker, const char *cursor, const char *mark, int32_t parts, int64_t room)
{
    int32_t over;
    if (rt_gpu_at_kernel_level(worker))
        rt_gpu_reads(rt_gpu_thread_of(worker));
    over = takes_too_much(worker, cursor, mark, parts, room);
    if (over)
        rt_warp_sync();
    return over;
}

RT_SLOW int32_t
rt_gpu_over(rt_gpu_worker *worker, char *cursor, char *mark, int32_t level, int32_t parts, int64_t room)
{
    worker->turned &= ~((uint32_t)1 << level);
    return is_over(worker, cursor, mark, parts, room);
}

RT_SLOW char *
rt_gpu_room(rt_gpu_worker *worker, char *cursor, char *mark, int32_t parts, int64_t room, int32_t place)
{
    return is_over(worker, cursor, mark, parts, room) ? cursor : rt_gpu_page(worker, cursor, place);
}

/* -- dropping states --------------------------------------------------------------------------------------------- */

/* Copies with the 32 lanes of a warp from above to below, where the two may overlap. */
static void
warp_move(char *to, const char *from, int64_t bytes)
{
    int64_t lane = rt_warp_lane();
    if (to == from)
        return;
    if ((((uintptr_t)to | (uintptr_t)from | (uintptr_t)bytes) & 3) == 0)
        for (int64_t i = 0; i < bytes; i += 4 * RT_WARP) {
            uint32_t word = i + 4 * lane < bytes ? *(const uint32_t *)(from + i + 4 * lane) : 0;
            rt_warp_sync();
            if (i + 4 * lane < bytes)
                *(uint32_t *)(to + i + 4 * lane) = word;
            rt_warp_sync();
        }
    else
        for (int64_t i = 0; i < bytes; i += RT_WARP) {
            char byte = i + lane < bytes ? from[i + lane] : 0;
            rt_warp_sync();
            if (i + lane < bytes)
                to[i + lane] = byte;
            rt_warp_sync();
        }
}

/* who moves frames and writes headers: the warp itself; at kernel level, the grid's first */
static int32_t
moves(const rt_gpu_worker *worker)
{
    return !rt_gpu_at_kernel_level(worker) || rt_grid_warp() == 0;
}

/* where a frame of this size begins that was (or will be) pushed at `cursor`: there, or in the next page */
static char *
frame_at(rt_gpu_worker *worker, char *cursor, int64_t size, int32_t enter)
{
    const struct rt_page *here = rt_gpu_page_of(cursor);
    struct rt_page *above;
    if (rt_gpu_place_in_page(cursor) + (uint64_t)size < RT_GPU_PAGE)
        return cursor;
    above = here ? here->next : worker->first_page;
    if (enter && moves(worker))
        set_below(above, cursor);
    return (char *)above + RT_GPU_HEADER;
}

/* A state from one place to another below: arrays, each several frames, then a frame of numbers. */
static void
move_state(rt_gpu_worker *worker, char **from, char **to, const int64_t *sizes, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int64_t left = i + 1 < n ? rt_gpu_whole_frame(sizes[i]) : sizes[i], size; left > 0; left -= size) {
            char *frame, *place;
            size = left < RT_GPU_BLOCK_BYTES ? left : RT_GPU_BLOCK_BYTES;
            frame = frame_at(worker, *from, size, 0);
            *from = frame + size;
            if (!to)
                continue;
            place = frame_at(worker, *to, size, 1);
            if (moves(worker))
                warp_move(place, frame, size);
            *to = place + size;
        }
}

static int32_t
is_thin(rt_gpu_worker *worker, const char *header, const char *mark, int64_t most)
{
    int64_t below = rt_gpu_pages_below(header);
    if (most)
        return rt_gpu_height(mark) - rt_gpu_height(header) <= most;
    return rt_gpu_depth(mark) - below <= pages_left(worker, below) / 2;
}

RT_SLOW char *
rt_gpu_thin(rt_gpu_worker *worker, char *header, char *mark, int64_t most, const int64_t *sizes, int32_t n)
{
    char *from = header, *to = header;
    if (rt_gpu_at_kernel_level(worker))
        rt_gpu_reads(rt_gpu_thread_of(worker));
    if (is_thin(worker, header, mark, most))
        return mark;
    if (rt_gpu_at_kernel_level(worker))
        rt_gpu_writes(rt_gpu_thread_of(worker));
    for (int32_t keep = 1; from != mark; keep = !keep)
        move_state(worker, &from, keep ? &to : NULL, sizes, n);
    return to;
}

/* -- local arrays that all lanes share --------------------------------------------------------------------------- */

RT_SLOW char *
rt_gpu_scratch(rt_gpu_worker *worker, int64_t bytes, int32_t place)
{
    uint64_t size = bytes > 0 ? (uint64_t)bytes : 0;
    uint64_t pages = size / RT_GPU_PAGE + (size % RT_GPU_PAGE > 0);
    if (size <= worker->scratch_size && worker->scratch)
        return worker->scratch;
    if (rt_gpu_at_kernel_level(worker)) {
        worker->scratch = rt_gpu_heap_take(rt_gpu_thread_of(worker), size, 128);
        worker->scratch_size = worker->scratch ? size : 0;
        if (!worker->scratch)
            rt_gpu_fail(worker, RT_FAULT_MEMORY, place, size);
        return worker->scratch;
    }
    worker->scratch = pages <= rt_gpu_page_limit(worker) ? take_pages(worker, (uint32_t)pages) : NULL;
    worker->scratch_size = worker->scratch ? pages * RT_GPU_PAGE : 0;
    if (!worker->scratch)
        out_of_pages(worker, pages, place);
    return worker->scratch;
}
