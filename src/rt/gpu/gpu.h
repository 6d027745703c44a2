/* Where code for GPUs and the runtime on the device meet. SPDX-License-Identifier: Apache-2.0
 *
 * A kernel in any form compiles to one GPU kernel
 *
 *     void kernel(rt_gpu_launch *launch, const rt_arg args[])        (the arguments by value where the target can)
 *
 * over a grid that fits the device at once. Every thread of the grid runs the kernel-level code, all with the same
 * values; what that code does to memory, one thread does (rt_gpu_alone). A parallel loop is cut into pieces, groups
 * of RT_WARP threads that lower_lanes has made; warps take pieces until there are none left, then the whole grid waits
 * for all. So a kernel needs the host neither between its tasks nor for loops whose trips only the device knows.
 *
 * A warp is a worker as a thread of rt/cpu is one: it has a tape of its own, with one cursor. Inside a task control is
 * the warp's: all its lanes run the same instructions; a value with lanes is in each of them one number. Functions
 * here are called by all lanes of a warp together (at kernel level: by all threads of the grid), with the same arguments,
 * and give all of them the same result.
 *
 * Nothing here leaves a function from inside: what can fail says so (NULL, not 0), and the caller returns from its
 * task, or from the kernel.
 *
 * This folder is C without a library, compiled for each kind of GPU and, with the primitives of rt/simt, for the host. */
#ifndef RT_GPU_GPU_H
#define RT_GPU_GPU_H

#include "rt/abi.h"

enum { RT_GPU_BLOCK = 1024 }; /* threads of a block at most */
enum { RT_GPU_PARTS = 4 };                  /* of a multiprocessor, each with warps of its own: a block has as many for each */

/* Pages of a warp's tape are like those of rt/cpu (rt/abi.h). A tape without pages stands at RT_GPU_PAGE - 1. */

typedef struct rt_gpu_launch rt_gpu_launch; /* launch.h: in device memory; what all threads share */

/* Three records, each lane's own, equal in all lanes of a warp. They lie in the compiled kernel's frame, and what they are
 * made of follows from who needs an address: a record that slow paths are given is in memory, and each thread of the grid
 * pays for that, so what every piece needs is in one that they are not.
 *
 * Of a tape, as rt_worker: compiled code reads cursor to turned by offset, which are the same here and there. Slow paths
 * take it. */
typedef struct rt_gpu_worker {
    char *cursor; /* of a warp: where its tape stands between tasks, and stood before this one */
    int32_t atomic;
    int32_t index; /* number of the warp in the grid; -1: of the kernel-level code */
    int32_t seat;
    uint32_t turned;
    struct rt_page *first_page;
    uint32_t pages;
    int32_t failed; /* the piece it runs came to a fault (1), or to the end of the pool and is to be run again (2) */
    char *scratch;
    uint64_t scratch_size;
    rt_gpu_launch *launch;
    uint64_t heap; /* bytes that the kernel-level code has taken from the pool's end */
    char *bottom;  /* of a warp: where a piece's tape begins, of those that keep nothing for later ones */
    /* of a warp: pages of the kernel's tape; how many warps share what is left of the pool, the first ones; whether pieces
     * that find no page are run again, for the how many-th time; this one runs no more for now; where it goes on */
    uint32_t held;
    int32_t share, repeats, phase, idle, at;
    int32_t owns; /* of a warp: whether its first page may be its own */
    int32_t lent; /* of a warp, of a launch in segments: what it did it did for others, which have it */
} rt_gpu_worker;

/* Of the parallel loop that runs, in this warp. No slow path takes its address: compiled code has it in registers. */
typedef struct rt_gpu_task {
    rt_gpu_launch *launch;
    char *cursor;  /* of the tape; a task that ends before its end leaves it where the piece began */
    int32_t left;  /* not 0: so did the last piece (the task says so), or some are being run again */
    int32_t ran;   /* the piece that was given out last */
    int64_t n;     /* threads, */
    int32_t shift; /* of which a piece has two to the power of this; */
    int32_t pieces, at, step; /* how many, which comes next where the warp knows, how far to the one after it */
    int32_t slots;    /* warps that may run any: the first so many */
    uint32_t counter; /* of the block */
    uint32_t mine;    /* pieces in its row */
    int32_t fuel;     /* operations until the warp next looks whether the launch is to end */
    int32_t ordered;  /* pieces run one after the other */
} rt_gpu_task;

/* Of the kernel-level code. */
typedef struct rt_gpu_thread {
    rt_gpu_launch *launch;
    rt_gpu_worker *worker; /* its warp */
    rt_gpu_worker kernel;  /* the kernel-level code */
    int32_t wrote, read; /* at kernel level since the last barrier; wrote 2: all threads did */
    int32_t ended;       /* the launch was put in order at the last task's barrier */
    uint64_t *partials[2]; /* rows of `cells` numbers, of this task and the one before; deterministic: one block of `cells` */
    int64_t cells;
    uint32_t tasks; /* counted, for the two */
    double *privates; /* rows of `row` cells for sums, all 0 between tasks; deterministic: one block of `row`, of any content */
    int64_t row;
} rt_gpu_thread;

/* -- kernel level ------------------------------------------------------------------------------------------------ */

/* First and last call of every thread. */
void rt_gpu_enter(rt_gpu_thread *thread, rt_gpu_worker *worker, rt_gpu_launch *launch);
void rt_gpu_leave(rt_gpu_thread *thread);
/* Whether this thread is the one that does what kernel-level code does to arrays. */
int32_t rt_gpu_alone(rt_gpu_thread *thread);
/* Before loads from arrays, and before stores to them, at kernel level: the grid waits where they would meet others that
 * have not become visible, or not been read. */
void rt_gpu_reads(rt_gpu_thread *thread);
void rt_gpu_writes(rt_gpu_thread *thread);

/* A parallel loop over n threads:
 *
 *     rt_gpu_begin(thread, &t, launch, n, flags);
 *     while (rt_gpu_next(thread, &t, flags, &lo, &hi))
 *         task(closure, lo, hi, worker, &t);      (t.cursor: the tape's; t.left: 1, where a function gave nothing)
 *     if (rt_gpu_end(thread, &t, flags, waits)) leave the kernel
 *
 * flags, constants and the same in all three: RT_KEEP_RECORDS, RT_KEEP_REWINDS as in rt_cpu_parallel; or RT_GPU_LANES:
 * threads run in groups of RT_WARP (pieces begin at multiples of it), else one by one, the whole warp for each;
 * RT_GPU_BALANCES: they may take different times; RT_GPU_REPEATS: a piece that finds no page of tape has had no effect by
 * then and can be run again, when fewer warps share the pool; RT_GPU_ONCE: it cannot, and where the pool is small fewer
 * warps run pieces from the start; RT_GPU_SINGLE, beside LANES, where n fits 32 bits: each piece is one group;
 * RT_GPU_LAST: nothing follows.
 * A task that records or rewinds gives each warp the same pieces, last to first in the latter.
 * rt_gpu_end: 0, or that a task failed. waits 0: nothing follows, so that the grid need not wait (where LAST is set, too). */
enum { RT_GPU_LANES = 16, RT_GPU_BALANCES = 32, RT_GPU_REPEATS = 64, RT_GPU_ONCE = 128, RT_GPU_SINGLE = 256, RT_GPU_LAST = 512 };
void rt_gpu_begin(rt_gpu_thread *thread, rt_gpu_task *task, rt_gpu_launch *launch, int64_t n, int32_t flags);
int32_t rt_gpu_next(rt_gpu_thread *thread, rt_gpu_task *task, int32_t flags, int64_t *lo, int64_t *hi);
int32_t rt_gpu_end(rt_gpu_thread *thread, rt_gpu_task *task, int32_t flags, int32_t waits);
/* Reductions: between begin and end a place for `cells` numbers of 8 bytes of each warp, in a row (that of warp w at
 * w * cells). It holds anything at first: each warp writes its row behind its last piece. The grid may have waited for all
 * pieces by then (RT_GPU_REPEATS), so rt_gpu_writes stands before that, rt_gpu_reads before rows are read. After
 * rt_gpu_end, how many warps took part: the first so many. A task's rows are gone once the second task after it has
 * begun. NULL: the budget's end. */
uint64_t *rt_gpu_partials(rt_gpu_thread *thread, int32_t cells);
int32_t rt_gpu_slots(const rt_gpu_task *task);

/* Sums over all threads, of planes to which a task only adds: before rt_gpu_begin, the row of f64 cells, all 0, that this
 * thread's additions go to, atomically; NULL: there are none, or no room. After rt_gpu_end, which must have waited, the
 * n cells from `first` on of all rows are added to an array whose elements have so many bytes (8, 4, 2: floats) and are
 * 0 again. apart: no other array that is added to before the next barrier shares its memory. */
enum { RT_GPU_ROWS = 128, RT_GPU_ROW_MAX = 4096 };
double *rt_gpu_private(rt_gpu_thread *thread, int64_t cells);
void rt_gpu_private_add(rt_gpu_thread *thread, int64_t first, int64_t n, void *array, int32_t bytes, int32_t apart);

/* Where bits may depend neither on when warps run nor on how many there are: instead of rt_gpu_begin, with RT_KEEP_FIXED among
 * the flags (rt/abi.h), and with RT_KEEP_ORDERED if `ordered` may be set. The loop is cut into pieces by n alone: most at most,
 * which follows from how many cells for sums a row has. What is kept of sums is kept by piece, and added up in a tree that
 * follows from the number of pieces. One warp runs tasks that are ordered, but where tapes are kept each warp runs its own pieces, when
 * their turn comes. */
enum {
    RT_GPU_FIXED_PIECES = 1 << 15, /* at most; */
    RT_GPU_FIXED_ROWS = 1 << 11,   /* of tasks with rows of cells, or whose tapes are kept */
    RT_GPU_FIXED_CELLS = 1 << 14,  /* of a row, in all */
    RT_GPU_FIXED_KEPT = 1 << 12,   /* ... where tapes are kept: the task that records has the same pieces, and no cells */
    RT_GPU_FIXED_ROOM = 1 << 23    /* cells of all rows */
};
int64_t rt_gpu_fixed_most(int64_t cells, int32_t flags);
int64_t rt_gpu_fixed_pieces(int64_t n, int64_t most, int32_t flags);
void rt_gpu_fixed_begin(rt_gpu_thread *thread, rt_gpu_task *task, rt_gpu_launch *launch, int64_t n, int32_t flags, int64_t most,
                        int32_t ordered);
/* Before rt_gpu_fixed_begin: room for so many numbers of 8 bytes, of reductions, or (rows) in rows; it holds anything. NULL: there is none,
 * which is the launch's fault. The next task may use it anew. */
void *rt_gpu_fixed_room(rt_gpu_thread *thread, int64_t numbers, int32_t rows);
double *rt_gpu_fixed_clear(double *rows, int64_t row, int32_t piece); /* the piece's, by its warp */
/* As rt_gpu_private_add: `cells` are those of the first row, `row` is a multiple of RT_PRIVATE_ROW(1). */
void rt_gpu_fixed_add(rt_gpu_thread *thread, double *cells, int64_t row, int64_t pieces, int64_t n, void *array, int32_t bytes,
                      int32_t apart);

/* Zeroed memory until the launch ends; NULL: the budget's end. `last`: as rt_cpu_temp_again. */
void *rt_gpu_temp(rt_gpu_thread *thread, int64_t bytes, int32_t place);
void *rt_gpu_temp_again(rt_gpu_thread *thread, int64_t bytes, void *last, int32_t place);
/* Memory until the launch ends that holds anything at first; NULL: the budget's end. Every thread may write the same values to
 * it and read them at once, which zeroed memory does not allow: other threads may still be zeroing it. */
void *rt_gpu_record(rt_gpu_thread *thread, int64_t bytes, int32_t place);

/* -- launches in segments ------------------------------------------------------------------------------------------
 * Where blocks cannot wait for each other a launch is several grids (segments/segments.h): of one warp for a segment; of all warps for a
 * task, and then of one warp again, which settles it. The functions above are the same, but for these.
 *
 *     first     rt_gpu_cut_begin
 *     segment   rt_gpu_resume(.., RT_GPU_SEGMENT)  kernel-level code                                     rt_gpu_pause(.., RT_GPU_SEGMENT)
 *     task      rt_gpu_resume(.., RT_GPU_TASK)     rt_gpu_begin .. rt_gpu_next .. rt_gpu_end             rt_gpu_pause(.., RT_GPU_TASK)
 *               rt_gpu_resume(.., RT_GPU_SETTLES)  if (rt_gpu_settle(..)) leave; sums of all warps ..    rt_gpu_pause(.., RT_GPU_SETTLES)
 *     last      rt_gpu_cut_end
 *
 * What rt_gpu_private makes for a task it makes in a segment before it. Where rt_gpu_settle finds pieces that have to be run again,
 * launch->now_left is not 0, and task and settling follow once more. rt_gpu_phase: how many times the task's pieces have been run again. */
enum { RT_GPU_SEGMENT, RT_GPU_TASK, RT_GPU_SETTLES };
void rt_gpu_cut_begin(rt_gpu_launch *launch, const rt_arg *args);
void rt_gpu_cut_end(rt_gpu_launch *launch, const rt_arg *args);
void rt_gpu_resume(rt_gpu_thread *thread, rt_gpu_worker *worker, rt_gpu_launch *launch, int32_t what);
void rt_gpu_pause(rt_gpu_thread *thread, int32_t what);
int32_t rt_gpu_settle(rt_gpu_thread *thread, rt_gpu_task *task, rt_gpu_launch *launch, int64_t n, int32_t flags, int64_t most,
                      int32_t ordered);
int32_t rt_gpu_phase(const rt_gpu_thread *thread);

/* -- the tape ------------------------------------------------------------------------------------------------------
 * As the functions rt_cpu_... of the same names (rt/abi.h), of a warp's worker or the kernel's; `place` numbers the
 * line. NULL (over: never) after a fault. At kernel level all threads see one tape, to which rt_gpu_alone's thread writes:
 * compiled code calls rt_gpu_writes before a push and rt_gpu_reads before a pop, as for arrays. */
char *rt_gpu_page(rt_gpu_worker *worker, char *cursor, int32_t place);
char *rt_gpu_reserve(rt_gpu_worker *worker, char *cursor, int64_t bytes, int32_t frame, int32_t place);
int32_t rt_gpu_over(rt_gpu_worker *worker, char *cursor, char *mark, int32_t level, int32_t parts, int64_t room);
/* `cursor`: there is no room by rt_gpu_over's measure; else where the next page begins; NULL only after a fault */
char *rt_gpu_room(rt_gpu_worker *worker, char *cursor, char *mark, int32_t parts, int64_t room, int32_t place);
char *rt_gpu_thin(rt_gpu_worker *worker, char *header, char *mark, int64_t most, const int64_t *sizes, int32_t n);
char *rt_gpu_save(rt_gpu_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank, int32_t place);
char *rt_gpu_restore(rt_gpu_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank);
char *rt_gpu_tasks(rt_gpu_worker *worker, char *cursor, int32_t place);
int32_t rt_gpu_over_tasks(rt_gpu_worker *worker, char *cursor, char *mark, char *tasks, int32_t parts, int64_t room);
/* At least `bytes` for local arrays that all lanes share, aligned to 64, until the task ends; NULL: none left. */
char *rt_gpu_scratch(rt_gpu_worker *worker, int64_t bytes, int32_t place);

/* -- the end before its time --------------------------------------------------------------------------------------
 * Whether the launch is to end, which the host says in its memory: then the caller leaves. Compiled code asks after about
 * RT_GPU_FUEL operations of a warp. rt_gpu_poll: in tasks; rt_gpu_poll_all: at kernel level, where the whole grid waits. */
enum { RT_GPU_FUEL = 1 << 16 };
int32_t rt_gpu_poll(rt_gpu_launch *launch, int32_t place);
int32_t rt_gpu_poll_all(rt_gpu_launch *launch, int32_t place);

/* -- what the user sees ---------------------------------------------------------------------------------------------
 * The first fault of a launch is the one that is reported. */
void rt_gpu_assert(rt_gpu_worker *worker, int32_t place);
/* mine: this thread's subscript is one that fails; outside of tasks all have the same */
void rt_gpu_subscript(rt_gpu_worker *worker, int32_t place, int32_t mine, int64_t index, int64_t extent);
/* `place` has the format and the types. What does not fit the buffer until the host empties it is counted, not kept. */
void rt_gpu_print(rt_gpu_worker *worker, int32_t place, const uint64_t *values, int32_t n);

#endif
