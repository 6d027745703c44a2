/* What is used of the OpenMP runtime. SPDX-License-Identifier: Apache-2.0
 *
 * RT_GOMP: the compiler understands OpenMP but came without a runtime and without omp.h (a bare
 * clang); then gcc's runtime, which is there, is called by name. LLVM's has the same symbols. */
#ifndef RT_CPU_OPENMP_H
#define RT_CPU_OPENMP_H

#ifdef RT_GOMP
int omp_in_parallel(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
void GOMP_parallel(void (*body)(void *), void *data, unsigned num_threads, unsigned flags);
#else
#include <omp.h>
#endif

/* Runs body(data) on up to num_threads threads and waits for all of them. */
static inline void
rt_openmp_run(void (*body)(void *), void *data, unsigned num_threads)
{
#ifdef RT_GOMP
    GOMP_parallel(body, data, num_threads, 0);
#else
#pragma omp parallel num_threads(num_threads)
    body(data);
#endif
}

#endif
