/* Fibers: stacks of their own on one host thread. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_SIMT_FIBER_H
#define RT_SIMT_FIBER_H

#include <stddef.h>

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__ELF__) && !defined(__ILP32__)
#define RT_FIBER_JUMPS 1
#else
#include <ucontext.h>
#endif

/* What rt_fiber_switch needs to go on somewhere. */
typedef struct rt_fiber {
#ifdef RT_FIBER_JUMPS
    void *at;
#else
    ucontext_t context;
#endif
} rt_fiber;

/* `count` stacks, each above a page that nobody may touch. NULL: no memory. */
char *rt_fiber_stacks(size_t count);
void rt_fiber_stacks_free(char *stacks, size_t count);
/* The fiber on stack number i will begin with body(data), which never returns. Whatever it did before is forgotten. */
void rt_fiber_begin(rt_fiber *fiber, char *stacks, size_t i, void (*body)(void *data), void *data);
/* Leaves `from` here, goes on with `to`. */
void rt_fiber_switch(rt_fiber *from, rt_fiber *to);

#endif
