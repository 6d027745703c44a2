/* Inside of the CPU runtime: devices, launches, pages. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_CPU_LAUNCH_H
#define RT_CPU_LAUNCH_H

#include "rt/cpu/cpu.h"
#include "rt/stop.h"

#include <pthread.h>
#include <stdatomic.h>

/* Workers stand apart, so that threads do not share cache lines. */
typedef union rt_seat {
    rt_worker worker;
    char apart[128];
} rt_seat;

typedef struct rt_temp {
    struct rt_temp *next;
    size_t size;
    char pad[48]; /* what follows is aligned to 64 */
} rt_temp;

struct rt_launch {
    rt_cpu *cpu;
    struct rt_launch *next; /* in the device's list of spare ones */
    uint32_t threads;       /* that this launch may use */
    uint32_t running;       /* workers that run now */
    uint32_t seats_made;    /* workers that have been set up in the past */
    rt_seat kernel;
    rt_seat *seats; /* seats_made of them */
    rt_temp *temps;
    double *privates;    /* the workers' sums: rows of private_row cells; all 0 between tasks */
    size_t private_room; /* in cells */
    int64_t private_row;
    uint32_t ran; /* seats that the last task used: the first so many */
    uint32_t *kept; /* how many workers ran the recording tasks not yet rewound */
    uint32_t kept_count, kept_cap;
    atomic_int failed;    /* a chunk met a fault: start no more */
    pthread_mutex_t lock; /* of report */
    int32_t fault_chunk;
    rt_report report;
};

struct rt_cpu {
    pthread_mutex_t lock;
    uint32_t num_threads;
    rt_launch *spare;      /* launches that ended, with their workers */
    struct rt_page *pages; /* free pages, chained by `next` */
    void **slabs;          /* what they are parts of */
    size_t slab_count, slab_cap;
    uint64_t slab_bytes;
    uint64_t budget;
    uint64_t in_use; /* bytes of pages that workers hold */
    pthread_mutex_t printing;
    rt_sink sink;
    _Alignas(128) rt_stop stop; /* read often: what threads write lies elsewhere */
};

/* pages.c */
void rt_pages_give(rt_cpu *cpu, rt_worker *worker);
void rt_pages_release(rt_cpu *cpu);
/* where a tape stands that has no page yet: not even the smallest frame fits */
static inline char *
rt_no_page(void)
{
    return (char *)(uintptr_t)(RT_PAGE - 1);
}

/* private.c */
void rt_private_reset(rt_launch *launch); /* after a fault: cells may not be 0 */

static inline struct rt_page *
rt_page_of(const char *cursor)
{
    return cursor == rt_no_page() ? NULL
                                  : (struct rt_page *)((uintptr_t)cursor & ~(uintptr_t)(RT_PAGE - 1));
}
/* number of the cursor's page in its tape, from 1; 0: none */
static inline int64_t
rt_depth(const char *cursor)
{
    const struct rt_page *page = rt_page_of(cursor);
    return page ? page->depth : 0;
}

/* how far apart two cursors of a tape are, what pages lose at their ends included */
static inline int64_t
rt_bytes_between(const char *low, const char *high)
{
    int64_t from = (int64_t)((uintptr_t)low & (RT_PAGE - 1)), to = (int64_t)((uintptr_t)high & (RT_PAGE - 1));
    return (rt_depth(high) - rt_depth(low)) * RT_PAGE + to - from;
}

/* launch.c */
_Noreturn void rt_fail(rt_worker *worker, const rt_report *report);
bool rt_launch_seats(rt_launch *launch, uint32_t count);

#endif
