/* Parallel loops: cut into chunks, run by the threads of the pool. SPDX-License-Identifier: Apache-2.0
 *
 * The cut depends on the length of the loop and the number of threads alone that the launch may use, so that reductions,
 * which are combined chunk by chunk, give the same bits in every run with as many threads, however many come to help. Where
 * bits may not depend on the number of threads either (RT_KEEP_FIXED) it depends on the length alone, for small loops and
 * one thread too.
 *
 *   free tasks    up to 8 chunks for each thread, fetched as threads become free
 *   kept tapes    one chunk and one worker for each thread: the task that rewinds the tape finds
 *                 the frames of iteration i with the worker that ran it, whichever thread runs that
 *                 (if it can be, the one that ran it before: it has the tape in its cache)
 */
#include "rt/cpu/launch.h"

#include <stdlib.h>
#include <string.h>

#include "rt/cpu/pool.h"

/* A loop of fewer operations in all is run by the calling thread: waking others takes longer. */
enum { SMALL_LOOP = 100000 };

typedef struct team {
    rt_launch *launch;
    rt_task_fn *task;
    void *closure;
    int64_t n, groups; /* iterations, and groups of them that are not cut */
    int32_t chunks;
    int32_t lanes;
    bool kept, fixed;
    atomic_int next;           /* free: chunk to be fetched */
    atomic_uchar *begun;       /* kept: by chunk */
} team;

int32_t
rt_cpu_slots(rt_launch *launch)
{
    return (int32_t)launch->threads * RT_CHUNKS_PER_THREAD;
}

static int64_t
chunk_start(const team *t, int32_t chunk)
{
    int64_t group = (int64_t)((__int128)t->groups * chunk / t->chunks);
    return chunk == t->chunks ? t->n : group * t->lanes;
}

/* apart, so that nothing of the caller lives across the setjmp */
static __attribute__((noinline)) void
run_chunk(const team *t, rt_worker *worker, int32_t chunk)
{
    jmp_buf escape;
    worker->index = chunk;
    worker->seat = t->fixed ? chunk : (int32_t)((rt_seat *)worker - t->launch->seats);
    worker->escape = &escape;
    if (!_setjmp(escape))
        t->task(t->closure, chunk_start(t, chunk), chunk_start(t, chunk + 1), worker);
}

static bool
goes_on(const team *t)
{
    return !atomic_load_explicit(&t->launch->failed, memory_order_relaxed);
}

static void
run_kept(team *t, uint32_t self)
{
    uint32_t n = (uint32_t)t->chunks;
    for (uint32_t i = 0; i < n && goes_on(t); i++) {
        uint32_t c = (self + i) % n;
        if (!atomic_exchange_explicit(&t->begun[c], 1, memory_order_relaxed))
            run_chunk(t, &t->launch->seats[c].worker, (int32_t)c);
    }
}

static void
run_free(team *t, uint32_t member)
{
    while (goes_on(t)) {
        int32_t c = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (c >= t->chunks)
            break;
        run_chunk(t, &t->launch->seats[member].worker, c);
    }
}

static void
run_chunks(void *user, uint32_t member, uint32_t self)
{
    team *t = user;
    if (t->kept)
        run_kept(t, self);
    else
        run_free(t, member);
}

static void
out_of_memory(rt_launch *launch)
{
    rt_report report = {.fault = RT_FAULT_MEMORY};
    rt_fail(&launch->kernel.worker, &report);
}

/* -- who runs it ------------------------------------------------------------------------------- */

static void
remember(rt_launch *launch, uint32_t workers)
{
    if (launch->kept_count == launch->kept_cap) {
        uint32_t cap = launch->kept_cap ? launch->kept_cap * 2 : 16;
        uint32_t *wider = realloc(launch->kept, sizeof *wider * cap);
        if (!wider)
            out_of_memory(launch);
        launch->kept = wider;
        launch->kept_cap = cap;
    }
    launch->kept[launch->kept_count++] = workers;
}

static bool
small_loop(int64_t n, int64_t work)
{
    return n < 2 || n < SMALL_LOOP / (work > 0 ? work : 1);
}

static uint32_t
choose_workers(rt_launch *launch, int64_t n, int64_t groups, int64_t work, int32_t keep)
{
    if (keep == RT_KEEP_REWINDS && launch->kept_count)
        return launch->kept[--launch->kept_count];
    uint32_t workers = launch->threads == 1 || small_loop(n, work) ? 1 : launch->threads;
    if (workers > groups)
        workers = (uint32_t)(groups > 0 ? groups : 1);
    if (keep == RT_KEEP_RECORDS)
        remember(launch, workers);
    return workers;
}

/* No fault can leave the loop half-way here but to the kernel's own escape, so the chunk needs
 * none. */
static int32_t
run_alone(rt_launch *launch, rt_task_fn *task, void *closure, int64_t n)
{
    rt_worker *worker = &launch->seats[0].worker;
    launch->ran = 1;
    worker->atomic = 0;
    worker->index = worker->seat = 0;
    worker->escape = launch->kernel.worker.escape;
    task(closure, 0, n, worker);
    return 1;
}

/* Runs the chunks of a team that stands; how many there are. */
static int32_t
run_team(team *t, uint32_t workers, bool atomic)
{
    rt_launch *launch = t->launch;
    atomic_uchar begun[RT_MAX_THREADS];
    t->begun = begun;
    if (t->kept)
        memset(begun, 0, (size_t)t->chunks);
    for (uint32_t i = 0; i < launch->seats_made; i++)
        launch->seats[i].worker.atomic = atomic;
    launch->running = workers;
    rt_pool_run(run_chunks, t, workers);
    launch->running = 1;
    if (atomic_load(&launch->failed))
        longjmp(*launch->kernel.worker.escape, 1);
    return t->chunks;
}

/* The same chunks, with the same tapes and sums, for any number of threads. */
static int32_t
run_fixed(team *t, int64_t work, bool ordered)
{
    rt_launch *launch = t->launch;
    bool alone = ordered || launch->threads == 1 || small_loop(t->n, work);
    t->chunks = (int32_t)(t->groups < RT_FIXED_CHUNKS ? t->groups : RT_FIXED_CHUNKS);
    uint32_t chunks = (uint32_t)t->chunks, workers = launch->threads < chunks ? launch->threads : chunks;
    if (!rt_launch_seats(launch, t->kept ? chunks : workers))
        out_of_memory(launch);
    launch->ran = chunks;
    return run_team(t, alone ? 1 : workers, !ordered);
}

int32_t
rt_cpu_parallel(rt_launch *launch, rt_task_fn *task, void *closure, int64_t n, int64_t work,
                int32_t keep)
{
    bool fixed = keep & RT_KEEP_FIXED, ordered = keep & RT_KEEP_ORDERED;
    keep &= RT_KEEP_FIXED - 1;
    int32_t lanes = keep / RT_KEEP_LANES > 1 ? keep / RT_KEEP_LANES : 1;
    int64_t groups = n / lanes + (n % lanes > 0);
    keep %= RT_KEEP_LANES;
    team t = {.launch = launch, .task = task, .closure = closure, .n = n, .groups = groups, .lanes = lanes,
              .kept = keep != 0, .fixed = fixed};
    launch->ran = 0;
    if (fixed)
        return n > 0 ? run_fixed(&t, work, ordered) : 0;
    uint32_t workers = choose_workers(launch, n, groups, work, keep);
    if (n <= 0)
        return 0;
    if (workers == 1)
        return run_alone(launch, task, closure, n);
    if (!rt_launch_seats(launch, launch->threads))
        out_of_memory(launch);
    int64_t most = t.kept ? workers : (int64_t)workers * RT_CHUNKS_PER_THREAD;
    t.chunks = (int32_t)(most < groups ? most : groups);
    launch->ran = launch->threads;
    return run_team(&t, workers, true);
}
