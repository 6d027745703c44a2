/* The floating-point environment that kernels are computed in: round to nearest, denormals kept, no traps.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It belongs to a thread, and the caller's may be another one: whoever runs or folds a kernel enters ours and
 * leaves with the caller's, sticky flags included. */
#ifndef RT_FPENV_H
#define RT_FPENV_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
typedef uint32_t rt_fpenv;

static inline rt_fpenv
rt_fpenv_enter(void)
{
    rt_fpenv callers = _mm_getcsr();
    _mm_setcsr(0x1f80); /* all exceptions masked, nothing else */
    return callers;
}

static inline void
rt_fpenv_leave(rt_fpenv callers)
{
    _mm_setcsr(callers);
}

#elif defined(__aarch64__)
typedef struct rt_fpenv {
    uint64_t control, status;
} rt_fpenv;

static inline rt_fpenv
rt_fpenv_enter(void)
{
    rt_fpenv callers;
    __asm__ volatile("mrs %0, fpcr" : "=r"(callers.control));
    __asm__ volatile("mrs %0, fpsr" : "=r"(callers.status));
    __asm__ volatile("msr fpcr, xzr");
    return callers;
}

static inline void
rt_fpenv_leave(rt_fpenv callers)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(callers.control));
    __asm__ volatile("msr fpsr, %0" : : "r"(callers.status));
}

#else
#include <fenv.h>
typedef fenv_t rt_fpenv;

static inline rt_fpenv
rt_fpenv_enter(void)
{
    rt_fpenv callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    return callers;
}

static inline void
rt_fpenv_leave(rt_fpenv callers)
{
    fesetenv(&callers);
}
#endif

#endif
