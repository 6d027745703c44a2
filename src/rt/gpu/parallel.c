/* Parallel loops: who runs which piece. SPDX-License-Identifier: Apache-2.0
 *
 *   plain        warp w runs pieces w, w + warps, ...: no memory is touched to find them
 *   balanced     block b has the row of pieces b, b + blocks, ...: its warps take from it in turn, so that all warps of a
 *                multiprocessor end together. What stands behind all rows, a sixteenth, is in a few queues and goes to whoever
 *                asks first. (A counter of the whole grid is what all warps wait for: 1 ns each on an H200, 5 where threads add
 *                to memory.)
 *   kept tapes   plain; the task that rewinds runs them last to first
 *   repeated     balanced; a warp that finds no page notes its piece and what is left of its block's row, and stops.
 *                When all have come together all pages go back, and an eighth of the warps runs what is noted, and what
 *                nobody had asked for; then an eighth of these, at last one alone. What does not fit then is a fault.
 *   once         a piece that has changed arrays before it asks for pages must find them: the first warps alone run pieces, so
 *                many as have RT_GPU_SHARE pages each of what is left. Where tapes are kept, of all that there is: the task that
 *                takes them back has the same warps.
 *   fixed        by any of these ways; where a piece begins and ends the number of threads alone says, and not who runs it
 *   cut          a launch in segments: the grid of a phase ends with it, and one warp decides what comes next (segments.c). Where an
 *                ordered task keeps tapes the first warp runs the pieces of all, with the tape of the warp that each belongs to.
 *   ordered      one warp, first piece to last, none of them twice. Kept tapes: each warp its own, when those before have run. (All
 *                other warps wait for that, which their tapes are worth: what recorded them ran side by side.)
 */
#include "rt/gpu/inside.h"

enum {
    LADDER = 3,  /* log2 of how many times fewer warps run the next phase */
    SHARED = 4,  /* log2 of the part of the pieces that is behind all rows */
    PIECES = 30, /* log2 of how many there are at most; a block's counter beyond it: its row is at its end */
    LOOKS = 256  /* a fault ends a task no later than so many pieces of each block after it */
};
static const uint32_t ALL_GIVEN = 1u << 31; /* a block's counter from there on: so are those behind the rows, or a fault ended all */

static inline int32_t
smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t
larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline int32_t
keeps_tapes(int32_t flags)
{
    return flags & (RT_KEEP_RECORDS | RT_KEEP_REWINDS);
}

/* Kept tapes are never balanced. */
static inline int32_t
is_balanced(int32_t flags)
{
    return !keeps_tapes(flags) && (flags & (RT_GPU_BALANCES | RT_GPU_REPEATS));
}

static inline int32_t
is_repeated(int32_t flags)
{
    return is_balanced(flags) && (flags & RT_GPU_REPEATS);
}

/* Log2 of the threads of a piece: up to 8 groups, as many as leave each warp several pieces. Where a task's code is for one
 * group alone, it needs no registers to count them. */
static inline int32_t
piece_shift(int64_t n, int32_t warps, int32_t flags)
{
    int32_t group = flags & RT_GPU_LANES ? 5 : 0, shift = 0;
    int64_t groups = (n + ((1 << group) - 1)) >> group;
    if (flags & RT_GPU_SINGLE)
        return group;
    while (!is_balanced(flags) && shift < 3 && groups >> shift >= (int64_t)warps * 8)
        shift++;
    while (groups >> shift >= (int64_t)1 << PIECES)
        shift++;
    return group + shift;
}
_Static_assert(RT_WARP == 1 << 5, "a group");

/* Pieces that belong to blocks: the first so many. Each warp begins in its block's row. */
static inline int32_t
rows_of(const rt_gpu_launch *launch, int32_t pieces, int32_t warps, int32_t flags)
{
    if (warps < (int32_t)rt_gpu_task_warps(launch))
        return 0;
    return flags & RT_GPU_BALANCES ? smaller(pieces, larger(warps, pieces - (pieces >> SHARED))) : pieces;
}

static inline uint32_t
pieces_of_block(int32_t rows)
{
    uint32_t last = (uint32_t)rows - 1 - rt_grid_block();
    return rt_grid_block() < (uint32_t)rows ? last / rt_grid_blocks() + 1 : 0;
}

/* How many warps may run pieces. */
static inline int32_t
warps_for(const rt_gpu_thread *thread, rt_gpu_launch *launch, int32_t flags)
{
    int64_t warps = rt_gpu_task_warps(launch), pages = warps * RT_GPU_SHARE;
    if (keeps_tapes(flags))
        pages = (int64_t)(launch->pages < launch->tape_pages ? launch->pages : launch->tape_pages);
    else if (flags & RT_GPU_ONCE)
        pages = (int64_t)rt_gpu_page_limit(&thread->kernel) - launch->now_top;
    return pages < RT_GPU_SHARE ? 1 : pages / RT_GPU_SHARE < warps ? (int32_t)(pages / RT_GPU_SHARE) : (int32_t)warps;
}

/* what slow paths may ask for */
static inline void
prepare_worker(rt_gpu_worker *worker, const rt_gpu_worker *kernel, int32_t active, int32_t flags)
{
    worker->failed = 0;
    rt_gpu_set_bottom(worker);
    worker->heap = kernel->heap;
    worker->held = kernel->pages;
    worker->share = active;
    worker->repeats = is_repeated(flags);
    worker->phase = worker->idle = worker->at = 0;
    worker->owns = !rt_gpu_is_cut(worker->launch) && !keeps_tapes(flags) && (flags & (RT_GPU_REPEATS | RT_GPU_ONCE));
}

/* They are known without a register, but for tasks that may have fewer. */
static inline int32_t
warps_of(const rt_gpu_task *task, int32_t flags)
{
    return flags & RT_GPU_ONCE ? task->slots : (int32_t)rt_grid_warps();
}

/* of so many threads, two to the power of shift in each */
static inline int64_t
pieces_of(int64_t n, int32_t shift)
{
    return (n + (((int64_t)1 << shift) - 1)) >> shift;
}

/* Of a task that is fixed: as few threads as leave `most` pieces. */
static inline int32_t
fixed_shift(int64_t n, int64_t most, int32_t flags)
{
    int32_t group = flags & RT_GPU_LANES ? 5 : 0, shift = group;
    while (pieces_of(n, shift) > most)
        shift++;
    return shift;
}

RT_IN_PLACE int64_t
rt_gpu_fixed_most(int64_t cells, int32_t flags)
{
    int64_t rows = RT_GPU_FIXED_ROOM / RT_PRIVATE_ROW(cells > 0 ? cells : 1);
    if (keeps_tapes(flags))
        return RT_GPU_FIXED_ROWS;
    return cells <= 0 ? RT_GPU_FIXED_PIECES : rows < RT_GPU_FIXED_ROWS ? rows : RT_GPU_FIXED_ROWS;
}

RT_IN_PLACE int64_t
rt_gpu_fixed_pieces(int64_t n, int64_t most, int32_t flags)
{
    return n > 0 ? pieces_of(n, fixed_shift(n, most, flags)) : 0;
}

/* The flag is a constant, so other tasks have none of this. */
static inline int32_t
keeps_order(const rt_gpu_task *task, int32_t flags)
{
    return (flags & RT_KEEP_ORDERED) && task->ordered;
}

/* the flags for rows_of: a task with an order has no queues */
static inline int32_t
row_flags(const rt_gpu_task *task, int32_t flags)
{
    return keeps_order(task, flags) ? flags & ~RT_GPU_BALANCES : flags;
}

static inline int32_t
pieces_behind_rows(const rt_gpu_task *task, int32_t warps, int32_t flags)
{
    if (!is_balanced(flags) || keeps_order(task, flags))
        return 0;
    return task->pieces - rows_of(task->launch, task->pieces, warps, flags);
}

static inline int32_t
acts_for_all(const rt_gpu_task *task, int32_t flags)
{
    return keeps_tapes(flags) && keeps_order(task, flags) && rt_gpu_is_cut(task->launch);
}

/* The pieces, and how many warps run them; returns how many take part. */
static inline int32_t
cut_into_pieces(const rt_gpu_thread *thread, rt_gpu_task *task, rt_gpu_launch *launch, int64_t n, int32_t flags, int64_t most,
                int32_t ordered)
{
    int32_t warps = ordered && !keeps_tapes(flags) ? 1 : warps_for(thread, launch, flags);
    task->launch = launch;
    task->n = n > 0 ? n : 0;
    task->shift = flags & RT_KEEP_FIXED ? fixed_shift(task->n, most, flags) : piece_shift(task->n, warps, flags);
    task->ordered = ordered;
    task->pieces = (int32_t)pieces_of(task->n, task->shift);
    task->slots = is_balanced(flags) ? warps : smaller(warps, task->pieces);
    task->step = warps;
    return smaller(warps, task->pieces);
}

/* A phase of a task that is cut, in a grid of its own: who runs what is noted. */
static inline void
begin_phase(rt_gpu_worker *worker, rt_gpu_task *task)
{
    worker->phase++;
    worker->share = worker->share >> LADDER ? worker->share >> LADDER : 1;
    worker->idle = worker->index >= worker->share;
    worker->failed = 0;
    worker->at = -1;
    task->left = 1;
}

static inline void
begin_task(rt_gpu_thread *thread, rt_gpu_task *task, rt_gpu_launch *launch, int64_t n, int32_t flags, int64_t most, int32_t ordered)
{
    int32_t warps, active, warp = (int32_t)rt_grid_warp(), again = rt_gpu_is_cut(launch) && launch->now_left;
    if (thread->wrote || thread->read)
        rt_gpu_barrier(thread, 0, RT_SETTLES_NOTHING);
    active = cut_into_pieces(thread, task, launch, n, flags, most, ordered);
    warps = task->step;
    task->mine = pieces_of_block(rows_of(launch, task->pieces, warps, flags));
    task->at = warp < warps ? warp : -1;
    if (flags & RT_KEEP_REWINDS) {
        task->at = warp < active ? warp + (task->pieces - 1 - warp) / warps * warps : -1;
        task->step = -warps;
    }
    if (acts_for_all(task, flags)) {
        int32_t back = flags & RT_KEEP_REWINDS;
        task->at = warp > 0 ? -1 : back ? task->pieces - 1 : 0;
        task->step = back ? -1 : 1;
    }
    task->cursor = thread->worker->cursor;
    task->left = 0;
    task->fuel = RT_GPU_FUEL;
    task->ran = -1;
    if (again)
        begin_phase(thread->worker, task);
    else
        prepare_worker(thread->worker, &thread->kernel, active, flags);
    thread->tasks += !again;
    task->counter = thread->tasks & 1;
    /* nobody asks for the other counter before the barrier that ends this task */
    if (rt_block_thread() == 0)
        rt_block_set32(task->counter ^ 1, 0);
}

RT_IN_PLACE void
rt_gpu_begin(rt_gpu_thread *thread, rt_gpu_task *task, rt_gpu_launch *launch, int64_t n, int32_t flags)
{
    begin_task(thread, task, launch, n, flags, 0, 0);
}

RT_IN_PLACE void
rt_gpu_fixed_begin(rt_gpu_thread *thread, rt_gpu_task *task, rt_gpu_launch *launch, int64_t n, int32_t flags, int64_t most,
                   int32_t ordered)
{
    begin_task(thread, task, launch, n, flags, most, ordered);
}

/* -- balanced tasks ---------------------------------------------------------------------------------------------- */

/* Whether there was a fault: as it was a moment ago, for all lanes alike, which must not see it at different times. */
static inline int32_t
is_over(const rt_gpu_launch *launch)
{
    return rt_warp_one32(rt_warp_lane() == 0 ? rt_grid_load32(&launch->fault) : 0) != 0;
}

/* The next noted piece, and whether all behind it in its block's row are meant too; -1: there is none. */
static int32_t
noted_piece(rt_gpu_worker *worker)
{
    rt_gpu_launch *launch = worker->launch;
    uint32_t i = 0;
    uint64_t noted = 0;
    if (rt_warp_lane() == 0 && (i = rt_grid_add32(&launch->head, 1)) < launch->now_tail)
        noted = launch->again[i];
    noted = rt_warp_take64(noted, 0);
    worker->at = noted & 1 ? (int32_t)(noted >> 1) : -1;
    return (int32_t)(noted >> 1) - 1;
}

/* the block's i-th, whatever that is; -1: there are not so many */
static inline int32_t
piece_in_row(uint32_t i, int32_t rows)
{
    uint64_t piece = (uint64_t)i * rt_grid_blocks() + rt_grid_block();
    return piece < (uint32_t)rows ? (int32_t)piece : -1;
}

/* The next of the block's row, from which nobody takes any more: it and all behind it are the caller's. */
static int32_t
rest_of_row(uint32_t counter, int32_t rows)
{
    uint32_t i = rt_warp_lane() == 0 ? rt_block_swap32(counter, 1u << PIECES) : 0;
    return piece_in_row(rt_warp_take32(i, 0), rows);
}

/* The next of a queue, one of those that hold what is behind the rows. */
static inline int32_t
next_in_queue(rt_gpu_launch *launch, uint32_t queue, int32_t rows, int32_t pieces)
{
    uint32_t i = rt_grid_next32(&launch->queues[queue].given);
    return i < rt_gpu_queue_length(queue, (uint32_t)(pieces - rows)) ? rows + (int32_t)(i * RT_GPU_QUEUES + queue) : -1;
}

/* ... of one that is not empty, if any. Blocks of one queue look at the others in different orders. */
static int32_t
next_of_others(rt_gpu_launch *launch, int32_t rows, int32_t pieces)
{
    uint32_t lane = rt_warp_lane(), start = rt_grid_block() / RT_GPU_QUEUES, other = (start + lane) % RT_GPU_QUEUES;
    int32_t piece = -1;
    while (piece < 0) {
        uint32_t given = rt_grid_load32(&launch->queues[other].given);
        uint32_t some = rt_warp_ballot(given < rt_gpu_queue_length(other, (uint32_t)(pieces - rows)));
        if (!some || is_over(launch))
            return -1;
        piece = next_in_queue(launch, (start + (uint32_t)__builtin_ctz(some)) % RT_GPU_QUEUES, rows, pieces);
    }
    return piece;
}

/* Of those behind the rows: of the block's queue, then of others. */
static inline int32_t
next_of_all(rt_gpu_launch *launch, int32_t rows, int32_t pieces)
{
    int32_t piece = next_in_queue(launch, rt_grid_block() % RT_GPU_QUEUES, rows, pieces);
    return piece >= 0 ? piece : next_of_others(launch, rows, pieces);
}

static inline void
set_counter(uint32_t counter, uint32_t value)
{
    if (rt_warp_lane() == 0)
        rt_block_swap32(counter, value);
}

/* What the warp runs when its block's row is empty, or a fault is to be looked for first. While one looks into other blocks'
 * queues the block's others end: at the end of a task nothing is there, and looking takes as long as a short piece. */
static RT_SLOW int32_t
next_beyond(rt_gpu_launch *launch, uint32_t counter, uint32_t i, int32_t pieces, int32_t warps, int32_t flags)
{
    int32_t rows = rows_of(launch, pieces, warps, flags), piece = -1;
    if (i >= ALL_GIVEN)
        return -1;
    if (i % LOOKS == LOOKS - 1 && is_over(launch)) {
        set_counter(counter, ALL_GIVEN);
        return -1;
    }
    if ((piece = piece_in_row(i, rows)) >= 0)
        return piece;
    if (rows < pieces)
        piece = next_in_queue(launch, rt_grid_block() % RT_GPU_QUEUES, rows, pieces);
    if (piece >= 0)
        return piece;
    set_counter(counter, ALL_GIVEN);
    if (rows < pieces)
        piece = next_of_others(launch, rows, pieces);
    if (piece >= 0)
        set_counter(counter, 1u << PIECES);
    return piece;
}

/* Of a task that balances; few warps have no rows. Most pieces are found by their number in the block's row alone. */
static inline int32_t
next_balanced(const rt_gpu_task *task, int32_t flags)
{
    uint32_t i;
    if ((flags & RT_GPU_ONCE) && (int32_t)rt_grid_warp() >= task->slots)
        return -1;
    i = rt_block_next32(task->counter);
    if (__builtin_expect(i < task->mine && i % LOOKS != LOOKS - 1, 1))
        return (int32_t)(i * rt_grid_blocks() + rt_grid_block());
    return next_beyond(task->launch, task->counter, i, task->pieces, warps_of(task, flags), flags);
}

static void
note(rt_gpu_launch *launch, int32_t piece, uint32_t row)
{
    if (rt_warp_lane() == 0)
        launch->again[rt_grid_add32(&launch->tail, 1)] = (uint64_t)(piece + 1) << 1 | row;
    rt_warp_sync();
}

/* What the worker has run came to the end of the pool: it stops here, as its next piece would, and so does its block. */
static void
stop(rt_gpu_worker *worker, uint32_t counter, int32_t rows, int32_t ran)
{
    int32_t rest = worker->at;
    if (worker->phase == 0)
        rest = rest_of_row(counter, rows);
    note(worker->launch, ran, 0);
    if (rest >= 0 && rest < rows)
        note(worker->launch, rest, 1);
    worker->failed = 0;
    worker->idle = 1;
}

/* All wait; whether there is more to do, by fewer warps. last: if there is not, the launch has ended. */
static int32_t
next_phase(rt_gpu_worker *worker, int32_t shared, int32_t last)
{
    rt_gpu_launch *launch = worker->launch;
    uint32_t limit = rt_gpu_page_limit(worker), own = rt_gpu_own_pages(worker), heap = rt_gpu_heap_pages(worker);
    if (rt_gpu_is_cut(launch))
        return 0;
    if (!last)
        rt_gpu_meet(launch, limit, own, heap, shared, RT_SETTLES_PAGES);
    else if (!rt_gpu_meet_last(launch, limit, own, heap, shared, worker->failed || worker->idle))
        return 0;
    worker->owns = 0;
    rt_gpu_pages_cut(worker);
    if (launch->now_fault || !launch->now_left)
        return 0;
    worker->phase++;
    worker->share = worker->share >> LADDER ? worker->share >> LADDER : 1;
    worker->idle = worker->index >= worker->share;
    worker->at = -1;
    return 1;
}

/* A noted piece for this warp in this phase, or -1. */
static int32_t
repeated_piece(rt_gpu_worker *worker, uint32_t counter, int32_t rows, int32_t pieces, int32_t ran)
{
    int32_t piece = worker->at;
    if (worker->failed == 2)
        stop(worker, counter, rows, ran);
    if (worker->phase == 0 || worker->idle || worker->failed)
        return -1;
    if (is_over(worker->launch))
        return -1;
    if (piece < 0 || piece >= rows)
        piece = noted_piece(worker);
    if (worker->at >= 0)
        worker->at = piece + (int32_t)rt_grid_blocks();
    return piece >= 0 || rows >= pieces ? piece : next_of_all(worker->launch, rows, pieces);
}

/* What the warp runs when its block's row is empty, or when it has found no page; -1: nothing, and all have waited. */
static RT_SLOW int32_t
next_repeated(rt_gpu_worker *worker, uint32_t counter, int32_t pieces, int32_t ran, int32_t warps, int32_t flags)
{
    int32_t rows = rows_of(worker->launch, pieces, warps, flags);
    do {
        int32_t piece = repeated_piece(worker, counter, rows, pieces, ran);
        if (piece >= 0)
            return piece;
    } while (next_phase(worker, pieces - rows, flags & RT_GPU_LAST));
    return -1;
}

/* -- tasks with an order ------------------------------------------------------------------------------------------ */

/* how many pieces run before it */
static inline uint32_t
pieces_before(const rt_gpu_task *task, int32_t piece, int32_t flags)
{
    return (uint32_t)(flags & RT_KEEP_REWINDS ? task->pieces - 1 - piece : piece);
}

/* All that the warp's lanes did is there for whoever is next; behind the last one the count is as it was. */
static RT_SLOW void
pass_turn(rt_gpu_launch *launch, uint32_t done, uint32_t pieces)
{
    rt_warp_sync();
    if (rt_warp_lane() == 0) {
        rt_grid_fence();
        rt_grid_store32(&launch->turn, done < pieces ? done : 0);
    }
}

/* 0: a fault came before */
static RT_SLOW int32_t
wait_for_turn(rt_gpu_launch *launch, uint32_t before)
{
    while (rt_warp_take32(rt_grid_load32(&launch->turn), 0) != before) {
        if (is_over(launch))
            return 0;
        rt_grid_wait();
    }
    rt_grid_fence();
    return 1;
}

/* What the warp holds on its tape now, beside what it held when the task began, goes into the sums of all. */
static inline void
count_taped(rt_gpu_launch *launch, const char *now, const char *then)
{
    if (now == then || rt_warp_lane() != 0)
        return;
    rt_grid_add64(&launch->taped, (uint64_t)(rt_gpu_height(now) - rt_gpu_height(then)));
    rt_grid_add64(&launch->depths, (uint64_t)(rt_gpu_depth(now) - rt_gpu_depth(then)));
}

/* of the warp that a piece belongs to, as that warp finds it when its next piece begins */
static RT_SLOW void
give_tape_back(rt_gpu_launch *launch, rt_gpu_worker *worker, char *cursor, int32_t owner)
{
    count_taped(launch, cursor, worker->cursor);
    worker->cursor = cursor;
    rt_warp_sync();
    if (rt_warp_lane() == 0)
        launch->kept->worker[owner] = *worker;
    rt_warp_sync();
}

/* -- all tasks --------------------------------------------------------------------------------------------------- */

/* What is asked before each piece is in registers, but for the counter of a block. */
RT_IN_PLACE int32_t
rt_gpu_next(rt_gpu_thread *thread, rt_gpu_task *task, int32_t flags, int64_t *lo, int64_t *hi)
{
    int32_t piece = -1;
    if (acts_for_all(task, flags) && !task->left && task->ran >= 0)
        give_tape_back(task->launch, thread->worker, task->cursor, task->ran % warps_for(thread, task->launch, flags));
    else if (keeps_tapes(flags) && keeps_order(task, flags) && !task->left && task->ran >= 0)
        pass_turn(task->launch, pieces_before(task, task->ran, flags) + 1, (uint32_t)task->pieces);
    if (!task->left) {
        piece = is_balanced(flags) && !keeps_order(task, flags) ? next_balanced(task, flags) : task->at;
        task->at += task->step;
    }
    if ((uint32_t)piece >= (uint32_t)task->pieces) {
        if (!is_repeated(flags))
            return 0;
        piece = next_repeated(thread->worker, task->counter, task->pieces, task->ran, warps_of(task, flags), row_flags(task, flags));
        task->left = 1; /* the next one is looked for here, too */
        if (piece < 0)
            return 0;
    }
    if (acts_for_all(task, flags)) {
        int32_t warps = warps_for(thread, task->launch, flags);
        *thread->worker = task->launch->kept->worker[piece % warps];
        prepare_worker(thread->worker, &thread->kernel, smaller(warps, task->pieces), flags);
        task->cursor = thread->worker->cursor;
    } else if (keeps_tapes(flags) && keeps_order(task, flags) && !wait_for_turn(task->launch, pieces_before(task, piece, flags))) {
        task->left = 1;
        return 0;
    }
    if (flags & (RT_GPU_REPEATS | RT_GPU_ONCE) && !keeps_tapes(flags))
        task->cursor = thread->worker->bottom; /* read each time: else registers would hold it all the time */
    task->ran = piece;
    if (flags & RT_GPU_SINGLE) { /* a group: numbers of 32 bits */
        uint32_t first = (uint32_t)piece * RT_WARP, rest = (uint32_t)task->n - first;
        *lo = first;
        *hi = (int64_t)first + (rest < RT_WARP ? rest : RT_WARP);
        return 1;
    }
    *lo = (int64_t)piece << task->shift;
    *hi = (int64_t)(piece + 1) << task->shift;
    *hi = *hi < task->n ? *hi : task->n;
    return 1;
}

RT_IN_PLACE int32_t
rt_gpu_end(rt_gpu_thread *thread, rt_gpu_task *task, int32_t flags, int32_t waits)
{
    int32_t keeps = keeps_tapes(flags);
    if (rt_gpu_is_cut(task->launch)) {
        thread->worker->lent = acts_for_all(task, flags); /* all is with the warps that pieces belong to */
        if (keeps && !thread->worker->lent) {
            count_taped(task->launch, task->cursor, thread->worker->cursor);
            thread->worker->cursor = task->cursor;
        }
        return 0;
    }
    if (is_repeated(flags) && (flags & RT_GPU_LAST)) {
        thread->ended = 1; /* at the barrier that was its last; a fault has been reported there */
        return 0;
    }
    if (!waits && !is_repeated(flags))
        return task->left;
    if (keeps) {
        count_taped(task->launch, task->cursor, thread->worker->cursor);
        thread->worker->cursor = task->cursor;
        rt_gpu_barrier(thread, 0, RT_SETTLES_TASK);
    } else if (!is_repeated(flags)) {
        rt_gpu_barrier(thread, pieces_behind_rows(task, warps_of(task, flags), flags), RT_SETTLES_PAGES);
        rt_gpu_pages_cut(thread->worker);
    }
    return thread->launch->now_fault != 0;
}

/* -- launches in segments ------------------------------------------------------------------------------------------ */

RT_IN_PLACE int32_t
rt_gpu_settle(rt_gpu_thread *thread, rt_gpu_task *task, rt_gpu_launch *launch, int64_t n, int32_t flags, int64_t most, int32_t ordered)
{
    int32_t keeps = keeps_tapes(flags);
    cut_into_pieces(thread, task, launch, n, flags, most, ordered);
    return rt_gpu_settle_task(thread, pieces_behind_rows(task, task->step, flags), keeps ? RT_SETTLES_TASK : RT_SETTLES_PAGES);
}

/* -- partial results --------------------------------------------------------------------------------------------- */

RT_IN_PLACE uint64_t *
rt_gpu_partials(rt_gpu_thread *thread, int32_t cells)
{
    rt_gpu_launch *launch = thread->launch;
    uint32_t warps = rt_gpu_task_warps(launch);
    uint64_t row = (uint64_t)warps * (uint64_t)cells;
    uint32_t which = thread->tasks & 1;
    if (cells <= RT_GPU_CELLS)
        return launch->partials + which * warps * RT_GPU_CELLS;
    if (cells > thread->cells) {
        thread->partials[0] = rt_gpu_heap_take(thread, row * 2 * sizeof(uint64_t), 128);
        if (!thread->partials[0])
            rt_gpu_no_memory(thread, 0, row * 2 * sizeof(uint64_t));
        thread->cells = thread->partials[0] ? cells : 0;
        thread->partials[1] = thread->partials[0] ? thread->partials[0] + row : NULL;
    }
    return thread->partials[which];
}

RT_IN_PLACE int32_t
rt_gpu_slots(const rt_gpu_task *task)
{
    return task->slots;
}
