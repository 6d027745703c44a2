/* Problems prepared, run and timed. Whatever fails ends the program with a message.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "problem.h"

typedef struct prepared {
    rg_queue *queue;
    rg_module *module;
    rg_kernel *kernel;
    rg_args *args;
    rg_array *arrays[BENCH_PARAMS]; /* of arrays, and the companions of float scalars */
} prepared;

void bench_check(rg_status status, const char *what);
/* With OMP_NUM_THREADS=1, this thread's processor time counts, else the time that passes. */
void bench_choose_clock(void);
/* Milliseconds. */
double bench_now(void);
double bench_median(double *times, unsigned n);

void bench_prepare(prepared *run, const bench_problem *p, const char *file);
void bench_release(prepared *run);
/* Primals and adjoints as the problem says. */
void bench_reset(prepared *run, const bench_problem *p);
/* Largest difference of all primals (last = RG_ADJOINT: and adjoints) from the hand-written
 * version's, relative to the largest component of each. */
double bench_difference(prepared *run, const bench_problem *p, unsigned last);

/* Milliseconds of one run, after an untimed reset. */
double bench_time_launch(prepared *run, const bench_problem *p, rg_form form);
double bench_time_hand(bench_problem *p);
double bench_time_forward(bench_problem *p);

#endif
