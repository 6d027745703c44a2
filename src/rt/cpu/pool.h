/* The threads of the process that help with parallel loops. SPDX-License-Identifier: Apache-2.0
 *
 * All contexts and all threads that launch share these helpers, of which there are fewer than the process has processors,
 * however many launches run at the same time. A thread that launches works on its own loop from the start and waits for nobody to begin: helpers that
 * are free join it while there is work left. */
#ifndef RT_CPU_POOL_H
#define RT_CPU_POOL_H

#include <stdint.h>

/* What a thread does for a loop: until nothing is left to be begun. `member`: its number in the team, 0 is the calling
 * thread's; `self`: its number in the pool, 0 is that of any thread that launches. */
typedef void rt_pool_work(void *user, uint32_t member, uint32_t self);

/* Runs work(user, ..) on the calling thread and on up to `most` - 1 helpers at the same time, and returns when all of them
 * have. Helpers have all signals blocked, our floating-point environment and the affinity of the process's first thread. */
void rt_pool_run(rt_pool_work *work, void *user, uint32_t most);

/* OMP_NUM_THREADS as it stood at the first call, else the number of processors that the process may use; at most what
 * OMP_THREAD_LIMIT says. */
uint32_t rt_pool_default(void);

#endif
