/* Parallel loops: who runs which piece. SPDX-License-Identifier: Apache-2.0
 *
 *   plain        warp w runs pieces w, w + warps, ...: no memory is touched to find them
 *   balanced     block b has the row of pieces b, b + blocks, ...: its warps take from it in turn. What stands behind all
 *                rows, a quarter, goes to whoever asks first. (A counter of the whole grid for all pieces would be what all
 *                warps wait for: 1 ns each on an H200.)
 *   kept tapes   plain; the task that rewinds runs them last to first
 *   repeated     balanced; a warp that finds no page notes its piece and what is left of its block's row, and stops.
 *                When all have come together all pages go back, and an eighth of the warps runs what is noted, and what
 *                nobody had asked for; then an eighth of these, at last one alone. What does not fit then is a fault.
 *   once         a piece that has changed arrays before it asks for pages must find them: the first warps alone run pieces, so
 *                many as have SHARE pages each of what is left. Where tapes are kept, of all that there is: the task that
 *                takes them back has the same warps.
 */
#include "rt/gpu/inside.h"

enum {
    SHARE = 8, /* pages: loops that drop frames when the room gets narrow make do with so many */
    LADDER = 3, /* log2 of how many times fewer warps run the next phase */
    SHARED = 2, /* log2 of the part of the pieces that is behind all rows */
    PIECES = 28 /* log2 of how many there are at most: all warps of a block may skip a row to its end */
};

static int64_t
smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Kept tapes are never balanced. */
static inline int32_t
is_balanced(int32_t flags)
{
    return !(flags & (RT_KEEP_RECORDS | RT_KEEP_REWINDS)) && (flags & (RT_GPU_BALANCES | RT_GPU_REPEATS));
}

/* As many groups as leave each warp several pieces; pieces have to be few enough to be counted in 32 bits. */
static int64_t
piece_size(int64_t n, int64_t group, int64_t warps, int32_t flags)
{
    int64_t groups = (n + group - 1) / group, size = groups >> PIECES;
    if (!is_balanced(flags))
        size = smaller(groups / (warps * 4), 8);
    return (size > 1 ? size : 1) * group;
}

/* How many warps may run pieces. */
static inline int64_t
warps_for(const rt_gpu_thread *thread, int32_t flags)
{
    const rt_gpu_launch *launch = thread->launch;
    int64_t warps = rt_grid_warps(), pages = warps * SHARE;
    if (flags & (RT_KEEP_RECORDS | RT_KEEP_REWINDS))
        pages = smaller((int64_t)launch->pages, (int64_t)launch->tape_pages);
    else if (flags & RT_GPU_ONCE)
        pages = (int64_t)rt_gpu_page_limit(thread) - launch->now_top;
    return pages < SHARE ? 1 : smaller(pages / SHARE, warps);
}

RT_IN_PLACE void
rt_gpu_begin(rt_gpu_thread *thread, int64_t n, int32_t flags)
{
    int64_t warps, warp = thread->worker.index;
    if (thread->wrote || thread->read)
        rt_gpu_barrier(thread, RT_SETTLES_NOTHING);
    warps = warps_for(thread, flags);
    thread->n = n > 0 ? n : 0;
    thread->piece = piece_size(thread->n, flags & RT_GPU_LANES ? RT_WARP : 1, warps, flags);
    thread->pieces = (thread->n + thread->piece - 1) / thread->piece;
    thread->rows = thread->pieces;
    if (is_balanced(flags) && warps < rt_grid_warps())
        thread->rows = 0;
    else if (is_balanced(flags) && (flags & RT_GPU_BALANCES))
        thread->rows -= thread->pieces >> SHARED;
    thread->flags = is_balanced(flags) ? flags : flags & ~(RT_GPU_BALANCES | RT_GPU_REPEATS);
    thread->at = warp < warps ? warp : -1;
    thread->step = warps;
    if (flags & RT_KEEP_REWINDS) {
        thread->at = warp < smaller(thread->pieces, warps) ? warp + (thread->pieces - 1 - warp) / warps * warps : -1;
        thread->step = -warps;
    }
    thread->phase = thread->idle = 0;
    thread->active = (int32_t)smaller(warps, thread->pieces);
    thread->slots = is_balanced(flags) ? (int32_t)warps : thread->active;
    thread->base = thread->launch->now_top;
    thread->start = thread->bottom = thread->worker.cursor;
    thread->worker.failed = 0;
    thread->tasks++;
    /* nobody asks for the other counter before the barrier that ends this task */
    if (rt_block_thread() == 0)
        rt_block_set32((thread->tasks + 1) & 1, 0);
}

static int32_t
give(rt_gpu_thread *thread, int64_t piece, int64_t *lo, int64_t *hi)
{
    thread->ran = piece;
    *lo = piece * thread->piece;
    *hi = smaller(*lo + thread->piece, thread->n);
    return 1;
}

/* -- balanced tasks ---------------------------------------------------------------------------------------------- */

/* The next noted piece, and whether all behind it in its block's row are meant too; -1: there is none. */
static int64_t
noted_piece(rt_gpu_thread *thread)
{
    rt_gpu_launch *launch = thread->launch;
    uint32_t i = 0;
    uint64_t noted = 0;
    if (rt_warp_lane() == 0 && (i = rt_grid_add32(&launch->head, 1)) < launch->now_tail)
        noted = launch->again[i];
    noted = rt_warp_take64(noted, 0);
    thread->at = noted & 1 ? (int64_t)(noted >> 1) : -1;
    return (int64_t)(noted >> 1) - 1;
}

/* The next of the block's row that none of its warps has run; at least `rows`: there is none, or a fault has ended the
 * task. One lane looks for all: they must not see a fault at different times. */
static inline int64_t
next_in_row(rt_gpu_thread *thread, uint32_t taken)
{
    uint32_t i = 1u << PIECES;
    if (rt_warp_lane() == 0 && !thread->launch->fault)
        i = rt_block_add32(thread->tasks & 1, taken);
    return (int64_t)rt_warp_take32(i, 0) * rt_grid_blocks() + rt_grid_block();
}

/* ... and of those behind the rows; at least `pieces`. */
static inline int64_t
next_of_all(rt_gpu_thread *thread)
{
    rt_gpu_launch *launch = thread->launch;
    uint32_t i = 1u << PIECES;
    if (rt_warp_lane() == 0 && !launch->fault)
        i = rt_grid_add32(&launch->given, 1);
    return thread->rows + rt_warp_take32(i, 0);
}

/* Of a task that balances; few warps have no rows. */
static inline int64_t
next_balanced(rt_gpu_thread *thread, int32_t flags)
{
    int64_t piece = thread->rows;
    if ((flags & RT_GPU_ONCE) && thread->worker.index >= thread->slots)
        return -1;
    if (piece > 0)
        piece = next_in_row(thread, 1);
    return piece < thread->rows ? piece : next_of_all(thread);
}

static void
note(rt_gpu_thread *thread, int64_t piece, uint32_t row)
{
    rt_gpu_launch *launch = thread->launch;
    if (rt_warp_lane() == 0)
        launch->again[rt_grid_add32(&launch->tail, 1)] = (uint64_t)(piece + 1) << 1 | row;
    rt_warp_sync();
}

/* What the worker has run came to the end of the pool: it stops here, as its next piece would, and so does its block. */
static void
stop(rt_gpu_thread *thread)
{
    int64_t rest = thread->at;
    if (thread->phase == 0)
        rest = next_in_row(thread, 1u << PIECES);
    note(thread, thread->ran, 0);
    if (rest >= 0 && rest < thread->rows)
        note(thread, rest, 1);
    thread->worker.failed = 0;
    thread->worker.cursor = thread->start;
    thread->idle = 1;
}

/* What the task has taken of the pool is not the warp's any more. */
static void
give_back(rt_gpu_thread *thread)
{
    rt_gpu_pages_cut(&thread->worker, thread->base);
    thread->worker.cursor = thread->bottom;
}

/* All wait; whether there is more to do, by fewer warps. */
static int32_t
next_phase(rt_gpu_thread *thread)
{
    rt_gpu_barrier(thread, RT_SETTLES_TASK);
    give_back(thread);
    if (thread->launch->now_fault || !thread->launch->now_left)
        return 0;
    thread->phase++;
    thread->active = thread->active >> LADDER ? thread->active >> LADDER : 1;
    thread->idle = thread->worker.index >= thread->active;
    thread->at = -1;
    return 1;
}

/* A noted piece for this warp in this phase, or -1. */
static int64_t
repeated_piece(rt_gpu_thread *thread)
{
    int64_t piece = thread->at;
    if (thread->worker.failed == 2)
        stop(thread);
    if (thread->phase == 0 || thread->idle || thread->worker.failed)
        return -1;
    if (rt_warp_take32(thread->launch->fault, 0)) /* as it was lately, for all lanes alike */
        return -1;
    if (piece < 0 || piece >= thread->rows)
        piece = noted_piece(thread);
    if (thread->at >= 0)
        thread->at = piece + rt_grid_blocks();
    if (piece < 0)
        piece = next_of_all(thread);
    return piece < thread->pieces ? piece : -1;
}

/* What the warp runs when its block's row is empty, or when it has found no page. */
static RT_SLOW int32_t
next_repeated(rt_gpu_thread *thread, int64_t *lo, int64_t *hi)
{
    do {
        int64_t piece = repeated_piece(thread);
        if (piece >= 0) {
            thread->start = thread->worker.cursor;
            return give(thread, piece, lo, hi);
        }
    } while (next_phase(thread));
    return 0;
}

/* -- all tasks --------------------------------------------------------------------------------------------------- */

RT_IN_PLACE int32_t
rt_gpu_next(rt_gpu_thread *thread, int32_t flags, int64_t *lo, int64_t *hi)
{
    int64_t piece = thread->at;
    if (thread->worker.failed || thread->phase)
        piece = thread->pieces;
    else if (is_balanced(flags))
        piece = next_balanced(thread, flags);
    else
        thread->at = piece + thread->step;
    if ((uint64_t)piece < (uint64_t)thread->pieces) {
        thread->start = thread->worker.cursor;
        return give(thread, piece, lo, hi);
    }
    return is_balanced(flags) && (flags & RT_GPU_REPEATS) ? next_repeated(thread, lo, hi) : 0;
}

/* What the warp holds on its tape now, beside what it held when the task began, goes into the sums of all. */
static void
count_taped(rt_gpu_thread *thread)
{
    rt_gpu_launch *launch = thread->launch;
    const char *now = thread->worker.cursor, *then = thread->bottom;
    if (now == then || rt_warp_lane() != 0)
        return;
    rt_grid_add64(&launch->taped, (uint64_t)(rt_gpu_height(now) - rt_gpu_height(then)));
    rt_grid_add64(&launch->depths, (uint64_t)(rt_gpu_depth(now) - rt_gpu_depth(then)));
}

RT_IN_PLACE int32_t
rt_gpu_end(rt_gpu_thread *thread, int32_t flags, int32_t waits)
{
    int32_t keeps = flags & (RT_KEEP_RECORDS | RT_KEEP_REWINDS), failed;
    int32_t settled = is_balanced(flags) && (flags & RT_GPU_REPEATS);
    if (!waits && !settled)
        return thread->worker.failed;
    if (keeps)
        count_taped(thread);
    if (!settled) {
        rt_gpu_barrier(thread, RT_SETTLES_TASK);
        if (!keeps)
            give_back(thread);
    }
    failed = thread->launch->now_fault != 0;
    thread->worker.failed = 0;
    thread->flags = 0;
    return failed;
}

/* -- partial results --------------------------------------------------------------------------------------------- */

RT_SLOW uint64_t *
rt_gpu_partials(rt_gpu_thread *thread, int32_t cells)
{
    rt_gpu_launch *launch = thread->launch;
    uint64_t row = (uint64_t)rt_grid_warps() * (uint64_t)cells;
    uint32_t which = thread->tasks & 1;
    if (cells <= RT_GPU_CELLS)
        return launch->partials + which * rt_grid_warps() * RT_GPU_CELLS;
    if (cells > thread->cells) {
        thread->partials[0] = rt_gpu_heap_take(thread, row * 2 * sizeof(uint64_t), 128);
        if (!thread->partials[0])
            rt_gpu_fail(&thread->kernel, RT_FAULT_MEMORY, 0, row * 2 * sizeof(uint64_t));
        thread->cells = thread->partials[0] ? cells : 0;
        thread->partials[1] = thread->partials[0] ? thread->partials[0] + row : NULL;
    }
    return thread->partials[which];
}

RT_IN_PLACE int32_t
rt_gpu_slots(rt_gpu_thread *thread)
{
    return thread->slots;
}
