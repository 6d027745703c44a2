/* Ending launches before their time. SPDX-License-Identifier: Apache-2.0
 *
 * A word that what runs reads now and then. Who sets it, from any thread or signal handler, ends what runs, and what begins
 * before the last of that has ended; where nothing runs it has no effect. */
#ifndef RT_STOP_H
#define RT_STOP_H

#include <stdatomic.h>

typedef struct rt_stop {
    atomic_uint word;
    atomic_uint running;
} rt_stop;

/* One thread at a time. The word is cleared before anybody may see that something runs, or an end asked for just then would be
 * forgotten. */
static inline void
rt_stop_begin(rt_stop *stop)
{
    if (!atomic_load_explicit(&stop->running, memory_order_relaxed))
        atomic_store_explicit(&stop->word, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&stop->running, 1, memory_order_release);
}

static inline void
rt_stop_end(rt_stop *stop)
{
    atomic_fetch_sub_explicit(&stop->running, 1, memory_order_relaxed);
}

static inline void
rt_stop_all(rt_stop *stop)
{
    if (atomic_load_explicit(&stop->running, memory_order_acquire))
        atomic_store_explicit(&stop->word, 1, memory_order_relaxed);
}

#endif
