/* The runtime of GPU code, played by rt/simt, under kernels written by hand. SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel here does in each of its threads is what compiled code does. */
#include "rt/gpu/inside.h"
#include "rt/simt/simt.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { BIG = (1 << 24) };

static rt_simt *
open_simt(uint64_t budget, uint32_t blocks, uint32_t warps)
{
    return rt_simt_create(&(rt_simt_desc){.budget = budget, .blocks = blocks, .warps = warps, .print_room = 64});
}

/* runs it; the fault */
static uint32_t
run(rt_simt *simt, rt_simt_kernel *kernel, void *data)
{
    rt_arg arg = {.plane = {data}};
    rt_gpu_report *report = rt_simt_report(simt);
    report->fault = 0;
    const char *trouble = rt_simt_launch(simt, kernel, &arg, 7);
    CHECK(!trouble, "%s", trouble);
    CHECK(rt_simt_is_clean(simt), "counters are left");
    return report->fault;
}

/* -- every piece once ---------------------------------------------------------------------------------------------- */

typedef struct visit {
    int64_t n;
    int32_t flags, back;
    uint8_t *seen;
    uint16_t *warp_of, *back_warp_of;
    int64_t *order; /* by warp: the last piece that it ran */
    int32_t slots, ordered;
} visit;

static void
visit_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    visit *v = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    int64_t lo, hi;
    rt_gpu_enter(&thread, &worker, launch);
    rt_gpu_begin(&thread, &task, launch, v->n, v->flags);
    while (rt_gpu_next(&thread, &task, v->flags, &lo, &hi)) {
        CHECK(lo < hi && hi <= v->n && (!(v->flags & RT_GPU_LANES) || lo % RT_WARP == 0), "piece");
        for (int64_t i = lo; i < hi && rt_warp_lane() == 0; i++) {
            v->seen[i]++;
            v->warp_of[i] = (uint16_t)worker.index;
        }
        rt_warp_sync();
    }
    rt_gpu_end(&thread, &task, v->flags, 1);
    v->slots = rt_gpu_slots(&task);
    if (v->flags & RT_KEEP_RECORDS) {
        rt_gpu_begin(&thread, &task, launch, v->n, (v->flags & ~RT_KEEP_RECORDS) | RT_KEEP_REWINDS);
        while (rt_gpu_next(&thread, &task, (v->flags & ~RT_KEEP_RECORDS) | RT_KEEP_REWINDS, &lo, &hi)) {
            if (rt_warp_lane() == 0) {
                v->ordered &= lo < v->order[worker.index];
                v->order[worker.index] = lo;
                for (int64_t i = lo; i < hi; i++)
                    v->back_warp_of[i] = (uint16_t)worker.index;
            }
            rt_warp_sync();
        }
        rt_gpu_end(&thread, &task, (v->flags & ~RT_KEEP_RECORDS) | RT_KEEP_REWINDS, 0);
    }
    rt_gpu_leave(&thread);
}

static void
test_pieces(int64_t n, int32_t flags)
{
    rt_simt *simt = open_simt(BIG, 2, 4);
    visit v = {.n = n, .flags = flags, .ordered = 1};
    v.seen = calloc((size_t)n + 1, 1);
    v.warp_of = calloc((size_t)n + 1, 2);
    v.back_warp_of = calloc((size_t)n + 1, 2);
    v.order = malloc(8 * sizeof(int64_t));
    for (int w = 0; w < 8; w++)
        v.order[w] = INT64_MAX;
    for (int twice = 0; twice < 2; twice++)
        CHECK(run(simt, visit_kernel, &v) == RT_OK, "fault");
    int64_t bad = 0, moved = 0;
    for (int64_t i = 0; i < n; i++) {
        bad += v.seen[i] != 2;
        moved += (flags & RT_KEEP_RECORDS) && v.warp_of[i] != v.back_warp_of[i];
    }
    CHECK(bad == 0 && moved == 0, "n %lld flags %d: %lld bad, %lld moved", (long long)n, flags, (long long)bad, (long long)moved);
    CHECK(v.slots <= 8 && (n == 0 || v.slots > 0), "%d slots", v.slots);
    free(v.seen);
    free(v.warp_of);
    free(v.back_warp_of);
    free(v.order);
    rt_simt_destroy(simt);
}

/* -- sums over threads --------------------------------------------------------------------------------------------- */

typedef struct sums {
    int64_t n;
    int32_t cells, rounds;
    uint64_t total[3];
} sums;

static void
sums_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    sums *s = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    int64_t lo, hi;
    rt_gpu_enter(&thread, &worker, launch);
    for (int32_t round = 0; round < s->rounds; round++) {
        rt_gpu_begin(&thread, &task, launch, s->n, RT_GPU_LANES | RT_GPU_BALANCES);
        uint64_t *rows = rt_gpu_partials(&thread, s->cells), total = 0;
        uint64_t *mine = rows + worker.index * s->cells;
        if (rt_warp_lane() == 0)
            memset(mine, 0, (size_t)s->cells * 8);
        rt_warp_sync();
        while (rt_gpu_next(&thread, &task, RT_GPU_LANES | RT_GPU_BALANCES, &lo, &hi)) {
            uint64_t lane = lo + rt_warp_lane() < hi ? (uint64_t)lo + rt_warp_lane() : 0, all = 0;
            for (uint32_t l = 0; l < RT_WARP; l++)
                all += rt_warp_take64(lane, l);
            if (rt_warp_lane() == 0)
                mine[s->cells - 1] += all;
            rt_warp_sync();
        }
        CHECK(!rt_gpu_end(&thread, &task, RT_GPU_LANES | RT_GPU_BALANCES, 1), "task");
        for (int32_t w = 0; w < rt_gpu_slots(&task); w++)
            total += rows[w * s->cells + s->cells - 1];
        if (rt_gpu_alone(&thread))
            s->total[round] = total;
        CHECK(total == (uint64_t)(s->n * (s->n - 1) / 2), "total %llu", (unsigned long long)total);
    }
    rt_gpu_leave(&thread);
}

static void
test_sums(void)
{
    static const int32_t cells[] = {1, RT_GPU_CELLS, RT_GPU_CELLS + 3};
    rt_simt *simt = open_simt(BIG, 2, 2);
    for (size_t i = 0; i < 3; i++) {
        sums s = {.n = 1000, .cells = cells[i], .rounds = 3};
        CHECK(run(simt, sums_kernel, &s) == RT_OK, "fault");
        CHECK(s.total[2] == 499500, "%llu", (unsigned long long)s.total[2]);
    }
    rt_simt_destroy(simt);
}

/* Two arrays, the second of which begins inside the first, and an array of f16; each round adds to cells of all. */
typedef struct privates {
    float first[8];
    uint16_t half[4];
    int32_t rounds;
} privates;

static void
privates_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    privates *p = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    int64_t lo, hi;
    rt_gpu_enter(&thread, &worker, launch);
    for (int32_t round = 0; round < p->rounds; round++) {
        double *row = rt_gpu_private(&thread, 12 + 8 * round);
        CHECK(row && !rt_gpu_private(&thread, RT_GPU_ROW_MAX + 1), "room");
        rt_gpu_begin(&thread, &task, launch, 4096, RT_GPU_LANES);
        while (rt_gpu_next(&thread, &task, RT_GPU_LANES, &lo, &hi))
            for (int64_t i = lo + rt_warp_lane(); i < hi; i += RT_WARP) {
                row[i % 6] += 0.5; /* one thread of the host plays them all */
                row[6 + i % 2] += 1;
                row[8 + i % 4] += i % 4 == 3 ? 1e6 : 0x1p-12;
            }
        CHECK(!rt_gpu_end(&thread, &task, RT_GPU_LANES, 1), "task");
        rt_gpu_private_add(&thread, 0, 6, p->first, 4, 0);
        rt_gpu_private_add(&thread, 6, 2, p->first + 5, 4, 0);
        rt_gpu_private_add(&thread, 8, 4, p->half, 2, 0);
    }
    rt_gpu_leave(&thread);
}

static void
test_privates(void)
{
    rt_simt *simt = open_simt(BIG, 3, 2);
    privates p = {.rounds = 2, .half = {0x3c00, 0xbc00, 0x0001, 0}}; /* 1, -1, 2^-24 */
    CHECK(run(simt, privates_kernel, &p) == RT_OK, "fault");
    /* 4096 = 6 * 682 + 4 */
    CHECK(p.first[0] == 683 && p.first[4] == 682 && p.first[5] == 682 + 2 * 2048 && p.first[6] == 2 * 2048 && p.first[7] == 0,
          "%g %g %g %g", (double)p.first[0], (double)p.first[4], (double)p.first[5], (double)p.first[6]);
    CHECK(p.half[0] == 0x3e00 && p.half[1] == 0xb800 && p.half[2] == 0x3800 && p.half[3] == 0x7c00, "%x %x %x %x", p.half[0],
          p.half[1], p.half[2], p.half[3]);
    rt_simt_destroy(simt);
}

/* -- the tape of a warp -------------------------------------------------------------------------------------------- */

/* a frame of 4 bytes for each lane, pushed and popped as compiled code does it */
enum { FRAME = 4 * RT_WARP };

static char *
push(rt_gpu_worker *worker, char *cursor, uint32_t value)
{
    if (((uintptr_t)cursor & (RT_GPU_PAGE - 1)) + FRAME >= RT_GPU_PAGE)
        cursor = rt_gpu_page(worker, cursor, 3);
    if (!cursor)
        return NULL;
    ((uint32_t *)cursor)[rt_warp_lane()] = value + rt_warp_lane();
    return cursor + FRAME;
}

static char *
pop(char *cursor, uint32_t *value)
{
    if (((uintptr_t)cursor & (RT_GPU_PAGE - 1)) == RT_GPU_HEADER)
        cursor = ((rt_page *)(cursor - RT_GPU_HEADER))->below;
    cursor -= FRAME;
    *value = ((uint32_t *)cursor)[rt_warp_lane()] - rt_warp_lane();
    return cursor;
}

typedef struct taped {
    int64_t n;
    int32_t flags;
    uint32_t steps, reserve; /* of each group; of group number `long_one` ten times as many */
    int64_t long_one;
    uint32_t *done; /* by group */
} taped;

static void
taped_task(taped *t, int64_t lo, int64_t hi, rt_gpu_worker *worker, rt_gpu_task *task)
{
    for (int64_t at = lo; at < hi; at += RT_WARP) {
        uint32_t group = (uint32_t)(at / RT_WARP), value, bad = 0, steps = t->steps * (group == t->long_one ? 10 : 1);
        char *cursor = task->cursor;
        task->left = 1; /* unless it comes to its end */
        if (t->reserve && !rt_gpu_reserve(worker, cursor, (int64_t)steps * FRAME, FRAME, 4))
            return;
        for (uint32_t i = 0; i < steps; i++) {
            cursor = push(worker, cursor, group * 1000 + i);
            if (!cursor)
                return;
        }
        for (uint32_t i = steps; i-- > 0;) {
            cursor = pop(cursor, &value);
            bad += value != group * 1000 + i;
        }
        CHECK(!bad, "group %u: %u bad", group, bad);
        task->cursor = cursor;
        if (rt_warp_lane() == 0)
            t->done[group]++;
        rt_warp_sync();
        task->left = 0;
    }
}

enum { TASKS = 3 };
typedef struct several {
    int32_t count;
    taped tasks[TASKS];
} several;

/* tasks one after the other, of which the last need not wait */
static void
several_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    several *s = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    int64_t lo, hi;
    rt_gpu_enter(&thread, &worker, launch);
    for (int32_t k = 0; k < s->count; k++) {
        taped *t = &s->tasks[k];
        rt_gpu_begin(&thread, &task, launch, t->n, t->flags);
        while (rt_gpu_next(&thread, &task, t->flags, &lo, &hi))
            taped_task(t, lo, hi, &worker, &task);
        if (rt_gpu_end(&thread, &task, t->flags, k + 1 < s->count))
            break;
    }
    rt_gpu_leave(&thread);
}

/* The fault; bad: how many groups were not run once, or after a fault more than once. */
static uint32_t
run_several(rt_simt *simt, several *s, uint32_t *bad)
{
    for (int32_t k = 0; k < s->count; k++)
        s->tasks[k].done = calloc((size_t)s->tasks[k].n / RT_WARP + 1, sizeof *s->tasks[k].done);
    uint32_t fault = run(simt, several_kernel, s);
    *bad = 0;
    for (int32_t k = 0; k < s->count; k++) {
        for (int64_t g = 0; g < (s->tasks[k].n + RT_WARP - 1) / RT_WARP; g++)
            *bad += fault ? s->tasks[k].done[g] > 1 : s->tasks[k].done[g] != 1;
        free(s->tasks[k].done);
    }
    return fault;
}

static uint32_t
run_taped(rt_simt *simt, taped t, uint32_t *bad)
{
    several s = {.count = 1, .tasks = {t}};
    return run_several(simt, &s, bad);
}

static void
test_tape(void)
{
    enum { PER_PAGE = RT_GPU_PAGE / FRAME };
    uint32_t bad;
    rt_simt *simt = open_simt(BIG, 2, 2);
    taped t = {.n = 40 * RT_WARP, .flags = RT_GPU_LANES, .steps = 3 * PER_PAGE, .long_one = 5};
    CHECK(run_taped(simt, t, &bad) == RT_OK && !bad, "%u groups", bad);
    t.flags |= RT_GPU_BALANCES;
    CHECK(run_taped(simt, t, &bad) == RT_OK && !bad, "%u groups", bad);
    t.reserve = 1;
    CHECK(run_taped(simt, t, &bad) == RT_OK && !bad, "%u groups", bad);
    CHECK(rt_simt_report(simt)->pages >= 33, "%u pages", rt_simt_report(simt)->pages);
    rt_simt_destroy(simt);

    /* plenty: the first page is a warp's own, whether it takes it or not */
    for (int last = 0; last < 2; last++) {
        simt = open_simt(BIG, 2, 2);
        t = (taped){.n = 40 * RT_WARP, .flags = RT_GPU_LANES | RT_GPU_BALANCES | RT_GPU_REPEATS, .long_one = -1};
        t.flags |= last ? RT_GPU_LAST : 0;
        CHECK(run_taped(simt, t, &bad) == RT_OK && !bad && rt_simt_report(simt)->pages == 0, "%u pages", rt_simt_report(simt)->pages);
        t.steps = 5;
        CHECK(run_taped(simt, t, &bad) == RT_OK && !bad && rt_simt_report(simt)->pages == 4, "%u pages", rt_simt_report(simt)->pages);
        t.steps = PER_PAGE + 5;
        CHECK(run_taped(simt, t, &bad) == RT_OK && !bad && rt_simt_report(simt)->pages > 4 && rt_simt_report(simt)->pages <= 8,
              "%u pages", rt_simt_report(simt)->pages);
        rt_simt_destroy(simt);
    }
    /* 8 warps of 4 pages want 32: fewer and fewer of them run what is left */
    for (uint32_t pages = 4; pages < 36; pages += 3) {
        simt = open_simt((uint64_t)pages * RT_GPU_PAGE, 2, 4);
        t = (taped){.n = 64 * RT_WARP, .flags = RT_GPU_LANES | RT_GPU_BALANCES | RT_GPU_REPEATS,
                    .steps = 3 * PER_PAGE, .long_one = -1};
        t.flags |= pages % 2 ? RT_GPU_LAST : 0;
        for (t.reserve = 0; t.reserve < 2; t.reserve++)
            CHECK(run_taped(simt, t, &bad) == RT_OK && !bad, "%u pages: %u groups", pages, bad);
        CHECK(rt_simt_report(simt)->pages <= pages, "%u of %u pages", rt_simt_report(simt)->pages, pages);
        rt_simt_destroy(simt);
    }
    /* one alone does not fit either */
    simt = open_simt(3 * RT_GPU_PAGE, 2, 4);
    for (int last = 0; last < 2; last++, t.flags ^= RT_GPU_LAST)
        CHECK(run_taped(simt, t, &bad) == RT_FAULT_BUDGET, "fault");
    const rt_gpu_report *report = rt_simt_report(simt);
    CHECK(report->place == 4 && report->program == 7 && report->budget == 3 * RT_GPU_PAGE &&
              report->needed == 4 * RT_GPU_PAGE, "place %u, %llu of %llu", report->place,
          (unsigned long long)report->needed, (unsigned long long)report->budget);
    /* what may not be run again fails at once; and the next launch is as good as ever */
    t.flags = RT_GPU_LANES;
    CHECK(run_taped(simt, t, &bad) == RT_FAULT_BUDGET, "fault");
    t.steps = 5;
    t.n = 3 * RT_WARP;
    CHECK(run_taped(simt, t, &bad) == RT_OK && !bad, "after a fault");
    rt_simt_destroy(simt);
    /* where pieces cannot be run again few warps run them from the start */
    for (uint32_t pages = 4; pages < 70; pages += 3)
        for (uint32_t balances = 0; balances < 2; balances++) {
            simt = open_simt((uint64_t)pages * RT_GPU_PAGE, 2, 4);
            t = (taped){.n = 64 * RT_WARP, .flags = RT_GPU_LANES | RT_GPU_ONCE | (balances ? RT_GPU_BALANCES : 0),
                        .steps = 3 * PER_PAGE, .long_one = -1};
            for (int twice = 0; twice < 2; twice++)
                CHECK(run_taped(simt, t, &bad) == RT_OK && !bad, "%u pages: %u groups", pages, bad);
            rt_simt_destroy(simt);
        }
    /* 33 warps: an eighth of an eighth of them is none */
    simt = open_simt(40 * RT_GPU_PAGE, 11, 3);
    t = (taped){.n = 500 * RT_WARP, .flags = RT_GPU_LANES | RT_GPU_REPEATS, .steps = 3 * PER_PAGE, .long_one = 70};
    CHECK(run_taped(simt, t, &bad) == RT_OK && !bad, "%u groups", bad);
    rt_simt_destroy(simt);
}

/* -- tasks one after the other, on grids and pools of all sizes ---------------------------------------------------------- */

static uint32_t
chance(uint32_t n)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(state >> 8) * n >> 24);
}

static void
make_several(several *s)
{
    static const int32_t kinds[] = {0, RT_GPU_BALANCES, RT_GPU_ONCE, RT_GPU_ONCE | RT_GPU_BALANCES, RT_GPU_REPEATS,
                                    RT_GPU_REPEATS | RT_GPU_BALANCES};
    s->count = 1 + (int32_t)chance(TASKS);
    for (int32_t k = 0; k < s->count; k++) {
        taped *t = &s->tasks[k];
        *t = (taped){.n = chance(8) ? chance(RT_WARP * (chance(3) ? 100 : 600)) : 0, .steps = chance(600), .long_one = -1};
        t->flags = RT_GPU_LANES | kinds[chance(sizeof kinds / sizeof kinds[0])] | (chance(2) ? RT_GPU_SINGLE : 0);
        t->flags |= k + 1 == s->count && chance(2) ? RT_GPU_LAST : 0;
        t->long_one = chance(3) ? -1 : (int64_t)chance(50);
    }
}

static void
test_several(void)
{
    enum { ROUNDS = 40, AGAIN = 3 };
    uint32_t faults = 0, bad;
    several s;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t blocks = 1 + chance(12), warps = 1 + chance(chance(4) ? 5 : 16);
        uint32_t pages = 3 + chance(chance(2) ? 40 : blocks * warps * 12);
        rt_simt *simt = open_simt((uint64_t)pages * RT_GPU_PAGE, blocks, warps);
        for (int again = 0; again < AGAIN; again++) {
            make_several(&s);
            uint32_t fault = run_several(simt, &s, &bad);
            CHECK(!bad && (!fault || fault == RT_FAULT_BUDGET), "%u groups, fault %u", bad, fault);
            faults += fault != 0;
        }
        CHECK(rt_simt_report(simt)->pages <= pages, "%u of %u pages", rt_simt_report(simt)->pages, pages);
        rt_simt_destroy(simt);
    }
    CHECK(faults < ROUNDS * AGAIN / 2, "%u faults", faults);
    /* one whose pieces are all in rows and are run again leaves nothing behind for one that has others */
    rt_simt *simt = open_simt(8 * RT_GPU_PAGE, 11, 1);
    s = (several){.count = 2};
    s.tasks[0] = (taped){.n = 60 * RT_WARP, .flags = RT_GPU_LANES | RT_GPU_REPEATS, .steps = 500, .long_one = -1};
    s.tasks[1] = (taped){.n = 300 * RT_WARP, .flags = RT_GPU_LANES | RT_GPU_BALANCES, .steps = 0, .long_one = -1};
    CHECK(run_several(simt, &s, &bad) == RT_OK && !bad, "%u groups", bad);
    rt_simt_destroy(simt);
}

/* -- tapes that tasks leave, and how many pages they take ---------------------------------------------------------- */

typedef struct kept {
    int64_t n;
    uint32_t steps, rounds, drop;
    uint32_t bad, dropped;
} kept;

static void
keep_task(rt_gpu_worker *worker, rt_gpu_task *task, int64_t lo, int64_t hi, uint32_t steps)
{
    char *cursor = task->cursor;
    for (int64_t at = lo; at < hi; at += RT_WARP)
        for (uint32_t i = 0; i < steps && cursor; i++)
            cursor = push(worker, cursor, (uint32_t)at * 100 + i);
    task->left = !cursor;
    if (cursor)
        task->cursor = cursor;
}

static void
rewind_task(kept *k, rt_gpu_task *task, int64_t lo, int64_t hi)
{
    char *cursor = task->cursor;
    uint32_t value;
    for (int64_t at = (hi - 1) / RT_WARP * RT_WARP; at >= lo; at -= RT_WARP)
        for (uint32_t i = k->steps; i-- > 0;) {
            cursor = pop(cursor, &value);
            k->bad += value != (uint32_t)at * 100 + i;
        }
    task->cursor = cursor;
}

/* rounds of a recording task and one that balances, then all rounds are taken back; or dropped */
static void
kept_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    const int32_t once = RT_GPU_LANES | RT_GPU_BALANCES | RT_GPU_ONCE;
    kept *k = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    int64_t lo, hi;
    rt_gpu_enter(&thread, &worker, launch);
    char *start = thread.kernel.cursor, *tasks = rt_gpu_tasks(&thread.kernel, start, 1), *bottom = worker.cursor;
    for (uint32_t round = 0; round < k->rounds; round++) {
        rt_gpu_begin(&thread, &task, launch, k->n, RT_GPU_LANES | RT_KEEP_RECORDS);
        while (rt_gpu_next(&thread, &task, RT_GPU_LANES | RT_KEEP_RECORDS, &lo, &hi))
            keep_task(&worker, &task, lo, hi, k->steps);
        if (rt_gpu_end(&thread, &task, RT_GPU_LANES | RT_KEEP_RECORDS, 1)) {
            rt_gpu_leave(&thread);
            return;
        }
        rt_gpu_begin(&thread, &task, launch, k->n, once);
        while (rt_gpu_next(&thread, &task, once, &lo, &hi)) {
            char *before = task.cursor;
            keep_task(&worker, &task, lo, hi, 300);
            task.cursor = before;
        }
        if (rt_gpu_end(&thread, &task, once, 1)) {
            rt_gpu_leave(&thread);
            return;
        }
        CHECK(!rt_gpu_over_tasks(&thread.kernel, tasks, start, tasks, 1, 0), "all pages");
    }
    if (k->drop && rt_gpu_over_tasks(&thread.kernel, tasks, start, tasks, 0, 1000)) {
        k->dropped += rt_gpu_alone(&thread);
        CHECK(worker.cursor == bottom, "cursor");
        CHECK(!rt_gpu_over_tasks(&thread.kernel, tasks, start, tasks, 0, RT_GPU_PAGE), "again");
    }
    for (uint32_t round = 0; round < k->rounds && !k->drop; round++) {
        rt_gpu_begin(&thread, &task, launch, k->n, RT_GPU_LANES | RT_KEEP_REWINDS);
        while (rt_gpu_next(&thread, &task, RT_GPU_LANES | RT_KEEP_REWINDS, &lo, &hi))
            rewind_task(k, &task, lo, hi);
        if (rt_gpu_end(&thread, &task, RT_GPU_LANES | RT_KEEP_REWINDS, 1)) {
            rt_gpu_leave(&thread);
            return;
        }
    }
    rt_gpu_leave(&thread);
}

static void
test_kept(void)
{
    rt_simt *simt = open_simt(BIG, 2, 3);
    kept k = {.n = 1000, .steps = 70, .rounds = 3};
    CHECK(run(simt, kept_kernel, &k) == RT_OK && !k.bad, "%u bad", k.bad);
    k.drop = 1;
    CHECK(run(simt, kept_kernel, &k) == RT_OK && k.dropped == 1, "%u dropped", k.dropped);
    rt_simt_destroy(simt);
    /* a grid whose cursors take several frames */
    simt = open_simt((uint64_t)1 << 30, 9, 32);
    k = (kept){.n = 1000, .steps = 3, .rounds = 1, .drop = 1};
    CHECK(run(simt, kept_kernel, &k) == RT_OK && k.dropped == 1, "%u dropped", k.dropped);
    rt_simt_destroy(simt);
    /* fewer pages than warps, for what is kept and beside it */
    simt = open_simt(7 * RT_GPU_PAGE, 2, 4);
    k = (kept){.n = 1000, .steps = 10, .rounds = 3};
    CHECK(run(simt, kept_kernel, &k) == RT_OK && !k.bad, "%u bad", k.bad);
    rt_simt_destroy(simt);
    simt = open_simt(4 * RT_GPU_PAGE, 2, 3);
    k = (kept){.n = 1000, .steps = 300, .rounds = 3};
    CHECK(run(simt, kept_kernel, &k) == RT_FAULT_BUDGET, "fault");
    rt_simt_destroy(simt);
}

/* -- the kernel-level code ------------------------------------------------------------------------------------------ */

typedef struct level {
    float *x;
    int64_t rows, columns, stride;
    int32_t steps;
    uint32_t bad;
} level;

static char *
push_number(rt_gpu_thread *thread, char *cursor, uint32_t value)
{
    rt_gpu_writes(thread);
    if (((uintptr_t)cursor & (RT_GPU_PAGE - 1)) + 4 >= RT_GPU_PAGE)
        cursor = rt_gpu_page(&thread->kernel, cursor, 5);
    if (cursor && rt_gpu_alone(thread))
        *(uint32_t *)cursor = value;
    return cursor ? cursor + 4 : NULL;
}

static char *
pop_number(rt_gpu_thread *thread, char *cursor, uint32_t *value)
{
    rt_gpu_reads(thread);
    if (((uintptr_t)cursor & (RT_GPU_PAGE - 1)) == RT_GPU_HEADER)
        cursor = ((rt_page *)(cursor - RT_GPU_HEADER))->below;
    cursor -= 4;
    *value = *(uint32_t *)cursor;
    return cursor;
}

/* numbers, an array, numbers; up and down twice */
static void
level_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    level *v = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_arg array = {.plane = {v->x}, .extent = {v->rows, v->columns}, .stride = {v->stride, 1}};
    rt_gpu_enter(&thread, &worker, launch);
    for (int again = 0; again < 2; again++) {
        char *cursor = thread.kernel.cursor;
        uint32_t value, bad = 0;
        for (int32_t i = 0; cursor && i < v->steps; i++)
            cursor = push_number(&thread, cursor, (uint32_t)i);
        for (int32_t k = 0; cursor && k < 2; k++) {
            cursor = rt_gpu_save(&thread.kernel, cursor, &array, 4, 2, 6);
            if (!cursor)
                break;
            rt_gpu_writes(&thread);
            if (rt_gpu_alone(&thread))
                for (int64_t i = 0; i < v->rows; i++)
                    v->x[i * v->stride] += 1;
        }
        for (int32_t i = 0; cursor && i < v->steps; i++)
            cursor = push_number(&thread, cursor, (uint32_t)i * 2);
        if (!cursor)
            break;
        for (int32_t i = v->steps; i-- > 0;) {
            cursor = pop_number(&thread, cursor, &value);
            bad += value != (uint32_t)i * 2;
        }
        for (int32_t k = 0; k < 2; k++)
            cursor = rt_gpu_restore(&thread.kernel, cursor, &array, 4, 2);
        for (int32_t i = v->steps; i-- > 0;) {
            cursor = pop_number(&thread, cursor, &value);
            bad += value != (uint32_t)i;
        }
        bad += ((uintptr_t)cursor & (RT_GPU_PAGE - 1)) != RT_GPU_HEADER; /* the tape's bottom */
        rt_gpu_reads(&thread);
        for (int64_t i = 0; i < v->rows; i++)
            bad += v->x[i * v->stride] != (float)(i * v->stride);
        v->bad += bad;
    }
    rt_gpu_leave(&thread);
}

static void
test_kernel_level(void)
{
    static const int64_t sizes[][3] = {{0, 5, 5}, {1, 1, 1}, {7, 9, 9}, {300, 100, 100}, {40, 70, 81}, {2, 30000, 30001}};
    rt_simt *simt = open_simt(BIG, 2, 2);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        level v = {.rows = sizes[s][0], .columns = sizes[s][1], .stride = sizes[s][2], .steps = 20};
        size_t n = (size_t)(v.rows * v.stride + 1);
        v.x = malloc(n * sizeof(float));
        for (size_t i = 0; i < n; i++)
            v.x[i] = (float)i;
        v.steps = s == 2 ? 20000 : 30;
        CHECK(run(simt, level_kernel, &v) == RT_OK && !v.bad, "size %zu: %u bad", s, v.bad);
        for (size_t i = 0; i < n; i++)
            v.bad += v.x[i] != (float)i;
        CHECK(!v.bad, "size %zu: %u bad", s, v.bad);
        free(v.x);
    }
    rt_simt_destroy(simt);
    float x[1] = {0};
    simt = open_simt(2 * RT_GPU_PAGE, 2, 2);
    level v = {.x = x, .rows = 1, .columns = 1, .stride = 1, .steps = 40000};
    CHECK(run(simt, level_kernel, &v) == RT_FAULT_BUDGET, "fault");
    const rt_gpu_report *report = rt_simt_report(simt);
    CHECK(report->place == 5 && report->needed == 3 * RT_GPU_PAGE, "%u, %llu", report->place,
          (unsigned long long)report->needed);
    rt_simt_destroy(simt);
}

/* -- dropping states ------------------------------------------------------------------------------------------------ */

typedef struct thin {
    uint32_t states, left, bad;
    int32_t level; /* of the kernel, not of a task */
    int64_t big;   /* bytes of the second part of a state */
} thin;

static char *
push_bytes(rt_gpu_worker *worker, char *cursor, int64_t bytes, uint32_t value)
{
    for (int64_t left = bytes, size; left > 0; left -= size) {
        size = left < RT_GPU_PAGE - 2 * RT_GPU_HEADER ? left : RT_GPU_PAGE - 2 * RT_GPU_HEADER;
        if (((uintptr_t)cursor & (RT_GPU_PAGE - 1)) + (uintptr_t)size >= RT_GPU_PAGE)
            cursor = rt_gpu_page(worker, cursor, 1);
        if (worker->index >= 0 || rt_grid_warp() == 0)
            for (int64_t i = 4 * rt_warp_lane(); i < size; i += 4 * RT_WARP)
                *(uint32_t *)(cursor + i) = value;
        cursor += size;
    }
    return cursor;
}

static char *
pop_bytes(char *cursor, int64_t bytes, uint32_t value, uint32_t *bad)
{
    int64_t most = RT_GPU_PAGE - 2 * RT_GPU_HEADER;
    for (int64_t left = bytes, size; left > 0; left -= size) {
        size = (left - 1) % most + 1;
        if (((uintptr_t)cursor & (RT_GPU_PAGE - 1)) == RT_GPU_HEADER)
            cursor = ((rt_page *)(cursor - RT_GPU_HEADER))->below;
        cursor -= size;
        for (int64_t i = 0; i < size; i += 4)
            *bad += *(uint32_t *)(cursor + i) != value;
    }
    return cursor;
}

static void
thin_states(thin *t, rt_gpu_worker *worker)
{
    const int64_t sizes[2] = {t->big - 3, FRAME}; /* an array, whose last frame is filled up, and numbers */
    char *header = worker->cursor, *cursor = header;
    uint32_t bad = 0, left = (t->states + 1) / 2;
    if (worker->index < 0)
        rt_gpu_writes(rt_gpu_thread_of(worker));
    for (uint32_t i = 0; i < t->states; i++) {
        cursor = push_bytes(worker, cursor, t->big, i + 1000);
        cursor = push_bytes(worker, cursor, FRAME, i);
    }
    rt_warp_sync();
    char *all = rt_gpu_thin(worker, header, cursor, INT64_MAX, sizes, 2);
    bad += all != cursor;
    cursor = rt_gpu_thin(worker, header, cursor, 1, sizes, 2);
    if (worker->index < 0)
        rt_gpu_reads(rt_gpu_thread_of(worker));
    for (uint32_t i = left; i-- > 0;) {
        cursor = pop_bytes(cursor, FRAME, 2 * i, &bad);
        cursor = pop_bytes(cursor, t->big, 2 * i + 1000, &bad);
    }
    t->bad += bad + (cursor != header && ((uintptr_t)cursor & (RT_GPU_PAGE - 1)) != RT_GPU_HEADER);
}

static void
thin_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    thin *t = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    int64_t lo, hi;
    rt_gpu_enter(&thread, &worker, launch);
    if (t->level) {
        thin_states(t, &thread.kernel);
    } else {
        rt_gpu_begin(&thread, &task, launch, 100, 0);
        while (rt_gpu_next(&thread, &task, 0, &lo, &hi))
            thin_states(t, &worker);
        rt_gpu_end(&thread, &task, 0, 0);
    }
    rt_gpu_leave(&thread);
}

static void
test_thin(void)
{
    rt_simt *simt = open_simt(BIG, 2, 2);
    for (int32_t level = 0; level < 2; level++)
        for (uint32_t states = 1; states < 9; states++)
            for (int64_t big = 8; big < 80000; big = big * 9 + 8) {
                thin t = {.states = states, .level = level, .big = big};
                CHECK(run(simt, thin_kernel, &t) == RT_OK && !t.bad, "%u of %lld: %u bad", states, (long long)big, t.bad);
            }
    rt_simt_destroy(simt);
}

/* Of a pool of 32 pages a warp among 8 has a share of 4 and what it holds: it is over where half of that is used. */
static void
over_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    uint32_t *found = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    int64_t lo, hi;
    rt_gpu_enter(&thread, &worker, launch);
    rt_gpu_begin(&thread, &task, launch, 8, 0);
    while (rt_gpu_next(&thread, &task, 0, &lo, &hi)) {
        char *mark = worker.cursor, *cursor = mark;
        int32_t over = 0;
        uint32_t pages = 0;
        while (cursor && !over) {
            char *from = cursor + (pages > 0) * (RT_GPU_PAGE - 2 * RT_GPU_HEADER);
            pages++;
            cursor = rt_gpu_room(&worker, from, mark, 2, 0, 9);
            over = cursor == from;
        }
        if (rt_warp_lane() == 0)
            found[lo] = cursor ? pages - 1 : 1000;
        CHECK(rt_gpu_over(&worker, cursor, mark, 2, 2, 10) && !(worker.turned >> 2 & 1), "over");
        rt_warp_sync();
    }
    rt_gpu_end(&thread, &task, 0, 0);
    rt_gpu_leave(&thread);
}

static void
test_over(void)
{
    uint32_t found[8] = {0}, least = 1000, most = 0;
    rt_simt *simt = open_simt(32 * RT_GPU_PAGE, 2, 4);
    CHECK(run(simt, over_kernel, found) == RT_OK, "fault");
    for (int i = 0; i < 8; i++) {
        least = found[i] < least ? found[i] : least;
        most = found[i] > most ? found[i] : most;
    }
    CHECK(least >= 1 && most <= 4, "%u to %u pages", least, most);
    rt_simt_destroy(simt);
}

/* -- temporary arrays, scratch ------------------------------------------------------------------------------------- */

typedef struct temps {
    uint32_t bad;
    int64_t huge;
    bool written;
} temps;

static void
temps_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    temps *t = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    uint32_t *last = NULL, bad = 0;
    rt_gpu_enter(&thread, &worker, launch);
    uint64_t *record = rt_gpu_record(&thread, 4096, 1);
    for (uint64_t i = 0; i < 512; i++) { /* what the first thread wrote stays */
        bad += t->written && record[i] != i + 3;
        record[i] = i + 3;
    }
    t->written = true;
    for (int32_t round = 1; round < 6; round++) {
        int64_t count = round == 4 ? 9000 : 5000 - round, lo, hi;
        uint32_t *temp = rt_gpu_temp_again(&thread, count * 4, last, 2);
        bad += !temp || (last && (temp == last) != (round != 4));
        last = temp;
        rt_gpu_reads(&thread);
        bad += temp[0] != 0 || temp[count - 1] != 0;
        rt_gpu_begin(&thread, &task, launch, count, RT_GPU_LANES);
        while (rt_gpu_next(&thread, &task, RT_GPU_LANES, &lo, &hi)) {
            uint32_t *scratch = (uint32_t *)(void *)rt_gpu_scratch(&worker, 50000, 3);
            scratch[rt_warp_lane()] = (uint32_t)lo;
            for (int64_t i = lo + rt_warp_lane(); i < hi; i += RT_WARP) {
                bad += temp[i] != 0 || scratch[rt_warp_lane()] != (uint32_t)lo;
                temp[i] = 77;
            }
        }
        rt_gpu_end(&thread, &task, RT_GPU_LANES, 1);
        rt_gpu_writes(&thread);
        if (rt_gpu_alone(&thread))
            temp[1] = 5;
    }
    t->bad += bad;
    if (t->huge)
        CHECK(!rt_gpu_temp(&thread, t->huge, 8), "more than there is");
    rt_gpu_leave(&thread);
}

static void
test_temps(void)
{
    rt_simt *simt = open_simt(BIG, 3, 2);
    temps t = {0};
    CHECK(run(simt, temps_kernel, &t) == RT_OK && !t.bad, "%u bad", t.bad);
    for (int i = 0; i < 2; i++) {
        t.huge = i ? INT64_MAX : (int64_t)1 << 40;
        t.written = false;
        CHECK(run(simt, temps_kernel, &t) == RT_FAULT_MEMORY && !t.bad, "%u bad", t.bad);
        CHECK(rt_simt_report(simt)->place == 8, "place");
    }
    rt_simt_destroy(simt);
}

/* -- asserts, prints ------------------------------------------------------------------------------------------------ */

typedef struct failing {
    int64_t at;
    int32_t flags;
    uint32_t ended;
} failing;

static void
failing_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    failing *f = args[0].plane[0];
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    int64_t lo, hi;
    rt_gpu_enter(&thread, &worker, launch);
    if (f->at < 0)
        rt_gpu_assert(&thread.kernel, 11);
    rt_gpu_begin(&thread, &task, launch, f->at < 0 ? 0 : 100000, f->flags);
    while (rt_gpu_next(&thread, &task, f->flags, &lo, &hi)) {
        f->ended += rt_warp_lane() == 0;
        if (lo <= f->at && f->at < hi)
            rt_gpu_assert(&worker, 12);
    }
    if (!rt_gpu_end(&thread, &task, f->flags, 1))
        f->ended = 1 << 30;
    rt_gpu_leave(&thread);
}

static void
test_faults(void)
{
    rt_simt *simt = open_simt(BIG, 2, 2);
    static const int32_t flags[] = {RT_GPU_LANES, RT_GPU_LANES | RT_GPU_BALANCES, RT_GPU_REPEATS, RT_KEEP_RECORDS};
    for (size_t i = 0; i < 4; i++) {
        failing f = {.at = 200, .flags = flags[i]};
        CHECK(run(simt, failing_kernel, &f) == RT_FAULT_ASSERT, "fault");
        CHECK(rt_simt_report(simt)->place == 12 && f.ended < 60000, "place %u, %u ended", rt_simt_report(simt)->place, f.ended);
    }
    failing f = {.at = -1};
    CHECK(run(simt, failing_kernel, &f) == RT_FAULT_ASSERT && rt_simt_report(simt)->place == 11, "fault");
    rt_simt_destroy(simt);
}

static void
printing_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    int64_t n = *(int64_t *)args[0].plane[0], lo, hi;
    rt_gpu_thread thread;
    rt_gpu_worker worker;
    rt_gpu_task task;
    rt_gpu_enter(&thread, &worker, launch);
    rt_gpu_print(&thread.kernel, 4, NULL, 0);
    rt_gpu_begin(&thread, &task, launch, n, 0);
    while (rt_gpu_next(&thread, &task, 0, &lo, &hi))
        for (int64_t i = lo; i < hi; i++)
            rt_gpu_print(&worker, 5, (uint64_t[]){(uint64_t)i, 9}, 2);
    rt_gpu_end(&thread, &task, 0, 0);
    rt_gpu_leave(&thread);
}

typedef struct printed {
    uint32_t first, others, bad;
    uint64_t sum;
} printed;

static void
note_print(void *user, uint32_t program, uint32_t place, const uint64_t *values, uint32_t n)
{
    printed *p = user;
    p->first += place == 4 && n == 0;
    p->others += place == 5 && n == 2;
    p->bad += program != 7 || (n == 2 && values[1] != 9);
    p->sum += n == 2 ? values[0] : 0;
}

static void
test_prints(void)
{
    rt_simt *simt = open_simt(BIG, 2, 2);
    for (int round = 0; round < 2; round++) {
        int64_t n = 10;
        printed p = {0};
        CHECK(run(simt, printing_kernel, &n) == RT_OK, "fault");
        CHECK(rt_simt_prints(simt, note_print, &p) == 0, "lost");
        CHECK(p.first == 1 && p.others == 10 && !p.bad && p.sum == 45, "%u, %u", p.first, p.others);
        n = 50;
        p = (printed){0};
        CHECK(run(simt, printing_kernel, &n) == RT_OK, "fault");
        CHECK(rt_simt_prints(simt, note_print, &p) == 29, "lost");
        CHECK(p.first == 1 && p.others == 21 && !p.bad, "%u, %u", p.first, p.others);
    }
    rt_simt_destroy(simt);
}

/* -- what the threads of a grid must not do ------------------------------------------------------------------------- */

static void
apart_kernel(rt_gpu_launch *launch, const rt_arg *args)
{
    int32_t how = *(int32_t *)args[0].plane[0];
    (void)launch;
    if (how == 0 && rt_warp_lane() == 5)
        rt_warp_sync();
    else if (how == 0)
        rt_warp_ballot(1);
    if (how == 1 && rt_warp_lane() > 3)
        rt_warp_take32(1, 2);
    if (how == 2 && rt_grid_warp() % 4 != 0)
        rt_block_sync();
    while (how == 3)
        rt_grid_wait();
}

static void
test_trouble(void)
{
    static const char *const texts[] = {"lanes of warp 0 meet at different places: lane 0 at a ballot, lane 5 at a warp's barrier",
                                        "lanes of warp 0 meet at different places: lane 0 at the end, lane 4 at an exchange",
                                        "warps of block 0 wait at its barrier, and 1 have ended",
                                        "no thread of the grid can go on: all wait for others"};
    rt_simt *simt = open_simt(BIG, 2, 4);
    for (int32_t how = 0; how < 4; how++) {
        rt_arg arg = {.plane = {&how}};
        const char *trouble = rt_simt_launch(simt, apart_kernel, &arg, 0);
        CHECK(trouble && !strcmp(trouble, texts[how]), "%s", trouble ? trouble : "nothing");
        int64_t n = 3;
        CHECK(run(simt, printing_kernel, &n) == RT_OK, "after trouble");
    }
    rt_simt_destroy(simt);
}

int
main(void)
{
    static const int32_t flags[] = {0, RT_GPU_LANES, RT_GPU_LANES | RT_GPU_BALANCES, RT_GPU_BALANCES,
                                    RT_GPU_LANES | RT_GPU_REPEATS, RT_KEEP_RECORDS, RT_GPU_LANES | RT_KEEP_RECORDS,
                                    RT_GPU_LANES | RT_KEEP_RECORDS | RT_GPU_BALANCES, RT_GPU_LANES | RT_GPU_SINGLE,
                                    RT_GPU_LANES | RT_GPU_BALANCES | RT_GPU_SINGLE,
                                    RT_GPU_LANES | RT_KEEP_RECORDS | RT_GPU_SINGLE};
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 255, 257, 5000, 50001};
    for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            test_pieces(sizes[i], flags[f]);
    test_sums();
    test_privates();
    test_tape();
    test_several();
    test_kept();
    test_kernel_level();
    test_thin();
    test_over();
    test_temps();
    test_faults();
    test_prints();
    test_trouble();
    return check_done();
}
