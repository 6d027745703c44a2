/* The interpreter: runs IR of any stage as it stands. It is the oracle of the tests and a device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It favours being evidently right: every index is checked, threads of a parallel loop run one
 * after the other (those of a loop that rewinds: last to first), sums over threads are formed in a
 * wider type. Several threads may run interpreters at once, also over one module. */
#ifndef RT_INTERP_INTERP_H
#define RT_INTERP_INTERP_H

#include "ir/ir.h"
#include "rt/cpu/cpu.h"

#include <stdatomic.h>

typedef struct interp_options {
    uint64_t step_limit; /* operations after which a run is given up; 0: none */
    int64_t budget;      /* bytes that traces or the tape may hold at one time; 0: any */
    /* Two threads of a parallel loop that touch one element of a primal are a fault, but if both read it or both do so
     * atomically. For kernels as they were written: what derivatives do there is their own affair. */
    bool races;
    const atomic_uint *stop; /* not 0: the run is to end, with RT_FAULT_CANCELLED; NULL: it never is */
    rt_sink sink; /* of prints */
} interp_options;

typedef struct interp_report {
    rt_fault fault;
    bool race;          /* the fault is a race of threads */
    bool out_of_steps;  /* the step limit ended the run (fault is RT_FAULT_BUDGET) */
    uint64_t steps;     /* operations executed */
    uint64_t nans;      /* those of them, on single values, that gave a NaN */
    int64_t tape_bytes; /* the most that traces or the tape held at one time; after a budget fault
                         * what the launch would have needed */
    ir_loc loc;         /* of the op that failed */
    const char *path;   /* its file, or NULL; lives as long as the module */
    char message[256];  /* empty if all went well */
} interp_report;

/* Runs a kernel. `args` follows its parameters, then one rank-0 buffer for each kernel result
 * (plane[0] receives it). options and report may be NULL. After RT_FAULT_BUDGET over bytes the
 * arrays are as they were before; after any other fault their contents are unspecified. An index
 * outside its array, a trace that does not fit its unwind and the like are reported as
 * RT_FAULT_ASSERT. */
rt_fault interp_run(const ir_fn *fn, const rt_arg *args, const interp_options *options,
                    interp_report *report);

/* Evaluates the kernel's shape region: one extent for each axis of each buffer parameter, in order;
 * -1: any. Only the scalars among `args` are read. false: the kernel has no shape region. */
bool interp_shape(const ir_fn *fn, const rt_arg *args, int64_t *extents);

#endif
