/* Where compiled code and the runtime meet, and all they know of each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kernel, in any form (forward, vjp, ...), compiles to one host function
 *
 *     int32_t kernel(const rt_arg *args, rt_launch *launch);      0, or an rt_fault code
 *
 * that runs the kernel-level code on the calling thread and hands each parallel loop to
 * rt_cpu_parallel() as a task. Arguments follow the kernel's parameters; a kernel result `return` is
 * one more buffer of rank 0 behind them. */
#ifndef RT_ABI_H
#define RT_ABI_H

#include "target/sizes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if __STDC_HOSTED__
#include <setjmp.h>
#else /* a GPU: it has no rt_worker */
typedef void *jmp_buf[1];
#endif

/* Counts on with every change of what compiled code and the runtime know of each other. Objects compiled ahead of time refer
 * to the symbol rt_abi_N of their runtime, so that another one is an error of the linker. */
#define RT_ABI 1

enum { RT_PLANES = 8, RT_RANK = 8 };

typedef struct rt_arg {
    uint64_t bits;               /* a scalar parameter: its value in the low bytes */
    void *plane[RT_PLANES];      /* [0] primal of a buffer; [1] adjoint, [2] tangent, [3] adjoint's
                                  * tangent of a buffer or scalar (f16: adjoints are f16 in memory);
                                  * NULL where there is none: reads give 0, writes are dropped. A
                                  * plane with several directions holds as many dense copies, one
                                  * after the other */
    int64_t extent[RT_RANK];     /* in elements */
    int64_t stride[RT_RANK];     /* of plane 0, in elements; the other planes are row-major, dense */
} rt_arg;

typedef struct rt_launch rt_launch;

/* One per thread that runs a task, and one for the kernel-level code (index -1). Compiled code reads
 * cursor to stop by offset: they come first, in this order. */
typedef struct rt_worker {
    char *cursor;      /* top of this worker's tape */
    int32_t atomic;    /* several workers run: shared elements need atomic operations */
    int32_t index;     /* number of the chunk it runs */
    int32_t seat;      /* its own number among the launch's workers: that of its private sums */
    uint32_t turned;   /* all bits set when the tape enters a page; rt_cpu_over() clears its level's */
    const volatile uint32_t *stop; /* not 0: the launch is to end (rt_cpu_cancelled) */
    rt_launch *launch;
    struct rt_page *first_page;
    uint32_t pages;    /* that it holds */
    jmp_buf *escape;   /* where a fault leaves the task */
    char *scratch;     /* large local arrays */
    size_t scratch_size;
} rt_worker;

/* The body of a parallel loop: iterations lo <= i < hi of its linearised (row-major) domain. */
typedef void rt_task_fn(void *closure, int64_t lo, int64_t hi, rt_worker *worker);

/* Tape pages are aligned to their size. A frame of n bytes (at most RT_FRAME_MAX) at
 * cursor c fits if (c & (RT_PAGE - 1)) + n < RT_PAGE; else rt_cpu_page() supplies the next page. (Less
 * than: a cursor never stands at a page's very end, where its low bits would be those of the next
 * page's start.) A page begins with its header; a cursor that stands at RT_PAGE_HEADER in its page is
 * at the bottom: a pop first takes the cursor from the header's `below`. A tape without pages stands
 * at RT_PAGE - 1, where nothing fits. */
typedef struct rt_page {
    char *below;             /* cursor in the page before, when this page was entered */
    struct rt_page *next;    /* the page above it, kept for reuse */
    uint32_t depth;          /* 1 for the first page of a tape */
} rt_page;

typedef enum rt_fault {
    RT_OK = 0,
    RT_FAULT_ASSERT,
    RT_FAULT_BUDGET,
    RT_FAULT_MEMORY,
    RT_FAULT_SUBSCRIPT,
    RT_FAULT_CANCELLED
} rt_fault;

/* Called by compiled code. `work` estimates the operations of one iteration; `keep`: RECORDS, the tape that
 * the task leaves is read by a later task over the same domain; REWINDS, this is that task (they nest like
 * brackets), and each worker runs the iterations that it ran then; 0, neither. To it is added, n times LANES, that
 * iterations run in groups of n: no chunk but the last has a part of one. A task with reductions
 * writes them to slot worker->index; the return value is the number of slots used (at most
 * rt_cpu_slots(launch)). Does not return after a fault. */
enum { RT_KEEP_RECORDS = 1, RT_KEEP_REWINDS = 2, RT_KEEP_LANES = 4 };
/* Beside these, where results may not depend on the number of threads: RT_KEEP_FIXED, chunks are RT_FIXED_CHUNKS at most, and
 * worker->seat is the chunk's number too; RT_KEEP_ORDERED, they run one after the other, as what they do to memory has an
 * order. */
enum { RT_KEEP_FIXED = 1 << 16, RT_KEEP_ORDERED = 1 << 17, RT_FIXED_CHUNKS = 64 };
int32_t rt_cpu_parallel(rt_launch *launch, rt_task_fn *task, void *closure, int64_t n, int64_t work,
                        int32_t keep);
int32_t rt_cpu_slots(rt_launch *launch);
/* Room for so many bytes of reductions until the launch ends: `here`, on the kernel's stack, if they are at most
 * RT_PARTIALS_HERE, else memory. */
enum { RT_PARTIALS_HERE = 1 << 14 };
void *rt_cpu_partials(rt_launch *launch, int64_t bytes, void *here);
rt_worker *rt_cpu_kernel_worker(rt_launch *launch);
/* A cursor at the bottom of a page with room; leaves the task with RT_FAULT_BUDGET when there is none. */
char *rt_cpu_page(rt_worker *worker, char *cursor, uint32_t line);
/* Takes the pages for so many bytes above the cursor, in frames of at most `frame` bytes; returns the cursor. Where
 * they do not fit the budget it leaves the task with RT_FAULT_BUDGET, which names what they need. */
char *rt_cpu_reserve(rt_worker *worker, char *cursor, int64_t bytes, int32_t frame, uint32_t line);
/* Whether the frames between mark and cursor take more than their part (1 / parts) of what is left to
 * this worker of the budget, `room` bytes kept free. To be asked where bit `level` of `turned` is set. With
 * parts 0: whether they take more than `room` bytes. */
int32_t rt_cpu_over(rt_worker *worker, char *cursor, char *mark, int32_t level, int32_t parts,
                    int64_t room);
/* rt_cpu_page, but NULL where rt_cpu_over says yes. */
char *rt_cpu_room(rt_worker *worker, char *cursor, char *mark, int32_t parts, int64_t room, uint32_t line);
/* States lie between header and mark, each n frames of these sizes (a larger size than RT_FRAME_MAX: several
 * frames, full but the last). Where they take more than `most` bytes (0: half of what is left above the header),
 * every second state goes, the first stays; returns the cursor above the last. */
char *rt_cpu_thin(rt_worker *worker, char *header, char *mark, int64_t most, const int64_t *sizes, int32_t n);
/* At kernel level. All elements of a buffer's primal (of `size` bytes) onto the tape; back into a buffer of the
 * same extents. */
char *rt_cpu_save(rt_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank,
                  uint32_t line);
char *rt_cpu_restore(rt_worker *worker, char *cursor, const rt_arg *array, uint32_t size, uint32_t rank);
/* Where the tapes of the workers stand, onto the tape; and, `tasks` the cursor behind that: whether what the
 * kernel has recorded since `mark` and the workers since then takes too much, as rt_cpu_over. If so, what the
 * workers hold is dropped. */
char *rt_cpu_tasks(rt_worker *worker, char *cursor, uint32_t line);
int32_t rt_cpu_over_tasks(rt_worker *worker, char *cursor, char *mark, char *tasks, int32_t parts, int64_t room);
/* Zeroed memory until the launch ends. */
void *rt_cpu_temp(rt_launch *launch, int64_t bytes);
/* The same, at `last` (from an earlier call, or NULL) if that is large enough. */
void *rt_cpu_temp_again(rt_launch *launch, int64_t bytes, void *last);
/* At least `bytes` for this worker's local arrays, aligned to 64; the same until the task ends. */
void *rt_cpu_scratch(rt_worker *worker, int64_t bytes);
/* Sums that many threads add to are first formed by each worker alone, in f64: `cells` doubles, all 0,
 * for every seat (rows > 0: so many), RT_PRIVATE_ROW(cells) apart, until the next call. After the task,
 * rt_cpu_private_add() adds all workers' cells first .. first + n - 1 to an array of n floats of so many
 * bytes each, and clears them: every cell has to be given back so. */
#define RT_PRIVATE_ROW(cells) (((cells) + 15) & ~(int64_t)15)
double *rt_cpu_private(rt_launch *launch, int64_t cells, int32_t rows);
void rt_cpu_private_add(rt_launch *launch, int64_t first, int64_t n, void *array, int32_t bytes);
/* A parallel loop is cut into at most so many chunks for each thread: rt_cpu_slots() for all. */
enum { RT_CHUNKS_PER_THREAD = 8, RT_MAX_THREADS = 4096 };
_Noreturn void rt_cpu_assert(rt_worker *worker, const char *text, const char *file, uint32_t line);
/* text: "axis 0 of array `x`" */
_Noreturn void rt_cpu_subscript(rt_worker *worker, const char *text, const char *file, uint32_t line, int64_t index,
                                int64_t extent);
/* What a loop that may take long does where it finds that worker->stop is set. */
_Noreturn void rt_cpu_cancelled(rt_worker *worker, const char *file, uint32_t line);
void rt_cpu_print(rt_worker *worker, const char *format, const uint64_t *values, const uint8_t *dtypes,
                  uint32_t n);

#endif
