/* The bench's problems: for each kernel its arguments and the adjoint written by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PROBLEMS_H
#define BENCH_PROBLEMS_H

#include "adjoints.h"

#include <retrograd/retrograd.h>

typedef struct bench_param {
    const char *name;
    rg_dtype dtype; /* i32, f32 or f64 */
    uint32_t rank;
    bool scalar, seeded; /* seeded: an output whose adjoint starts at 1 */
    int64_t shape[3];
    size_t count;
    void *initial;        /* what the parameter holds before each run */
    void *data, *adjoint; /* the hand-written version's memory; adjoint NULL for integers */
} bench_param;

enum { BENCH_PARAMS = 8 };

typedef struct bench_problem {
    const char *kernel, *title;
    hand_adjoint *hand;
    uint32_t count;
    bench_param params[BENCH_PARAMS];
    double tolerance; /* of gradients against each other, relative to the largest component */
} bench_problem;

/* To describe a problem, parameter by parameter. Arrays hold uniform numbers (lo == hi: all the same); outputs 0. */
void bench_seed(uint64_t seed);
double bench_uniform(double lo, double hi);
void bench_int(bench_problem *p, const char *name, int value);
void bench_real(bench_problem *p, const char *name, double value);
bench_param *bench_array(bench_problem *p, const char *name, rg_dtype dtype, int64_t rows, int64_t columns, double lo,
                         double hi);
void bench_output(bench_problem *p, const char *name, rg_dtype dtype, int64_t rows, int64_t columns);

enum { BENCH_PROBLEMS = 12 };
/* Fills in problem number k; scale (1 by default) multiplies the work. */
void bench_problem_make(bench_problem *p, unsigned k, double scale);
void bench_problem_free(bench_problem *p);
/* Puts initial values and seeds into the hand-written version's memory. */
void bench_problem_reset(bench_problem *p);

#endif
