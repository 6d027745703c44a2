/* Runs compiled kernels on the threads of this machine. SPDX-License-Identifier: Apache-2.0
 *
 * This folder is all that a kernel compiled ahead of time needs beside libm and pthreads;
 * it knows the kernel ABI (rt/abi.h) and nothing of the compiler. */
#ifndef RT_CPU_CPU_H
#define RT_CPU_CPU_H

#include "rt/abi.h"

/* Where the text of prints goes; print NULL: the standard output. */
typedef struct rt_sink {
    void (*print)(void *user, const char *text, size_t length);
    void *user;
} rt_sink;
/* One print: printf's format with the bits of its values. What is above 4 KB is cut off. */
void rt_print(const rt_sink *sink, const char *format, const uint64_t *values, const uint8_t *dtypes, uint32_t n);

/* Number of threads, and the memory for tapes, which is kept from launch to launch. Any number of
 * threads may launch on one device at the same time: each launch has workers of its own. */
typedef struct rt_cpu rt_cpu;

/* num_threads 0: rt_pool_default() (rt/cpu/pool.h); at most RT_MAX_THREADS take part. tape_budget: bytes that all tapes together may
 * take; 0: a quarter of the machine's memory. NULL when there is no memory. */
rt_cpu *rt_cpu_create(uint32_t num_threads, uint64_t tape_budget);
uint64_t rt_default_budget(void); /* a quarter of the machine's memory */
void rt_cpu_destroy(rt_cpu *cpu); /* takes NULL; no launch may be under way */
/* From the next launch on. */
void rt_cpu_set_threads(rt_cpu *cpu, uint32_t num_threads);
void rt_cpu_set_budget(rt_cpu *cpu, uint64_t tape_budget);
/* While no launch is under way. Threads of a launch print one after the other. */
void rt_cpu_set_sink(rt_cpu *cpu, rt_sink sink);
/* How many threads a launch from here would use now. */
uint32_t rt_cpu_threads(rt_cpu *cpu);
/* One for the whole process, made at first use: for kernels compiled ahead of time. */
rt_cpu *rt_cpu_default(void);
/* Gives back what is kept for later launches. */
void rt_cpu_trim(rt_cpu *cpu);

/* Ends the launches that run now with RT_FAULT_CANCELLED, and those that begin before the last of these has ended. From any
 * thread or signal handler. */
void rt_cpu_cancel(rt_cpu *cpu);

/* What an object compiled ahead of time says of itself: its runtime's symbol, and the features of a processor that its code
 * uses, by LLVM's names and blanks between them; "sve=64": vectors of just so many bytes. */
typedef struct rt_made {
    const char *abi, *needs;
    int32_t known; /* 1: this processor has them all */
} rt_made;

/* NULL, or from which word of its needs on this processor lacks something. The object's functions return RT_NO_PROCESSOR then,
 * which is no fault of a launch. */
const char *rt_cpu_lacks(rt_made *made);
enum { RT_NO_PROCESSOR = RT_FAULT_CANCELLED + 1 };

typedef int32_t rt_kernel_fn(const rt_arg *args, rt_launch *launch);

/* What went wrong. Texts live as long as the kernel's code. */
typedef struct rt_report {
    rt_fault fault;
    const char *text, *file; /* of the assert; may be NULL */
    uint32_t line;           /* in the source; 0: unknown */
    uint64_t needed, budget; /* RT_FAULT_BUDGET: bytes of tape so far, and allowed; _SUBSCRIPT: it, and the extent */
} rt_report;

/* Runs a kernel to its end. `report` (may be NULL) is filled in any case. */
rt_fault rt_cpu_launch(rt_cpu *cpu, rt_kernel_fn *kernel, const rt_arg *args, rt_report *report);

#endif
