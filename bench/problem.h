/* A kernel with its arguments, its adjoint written by hand, and that one's memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include "hand.h"

#include <retrograd/retrograd.h>

typedef struct bench_param {
    const char *name;
    rg_dtype dtype; /* i32, f32 or f64 */
    uint32_t rank;
    bool scalar;
    int64_t shape[3];
    size_t count;
    void *initial; /* what the parameter holds before each run */
    void *seed;    /* and its adjoint; NULL for integers */
    void *data, *adjoint; /* the hand-written version's memory; adjoint NULL for integers */
} bench_param;

enum { BENCH_PARAMS = 24 };

typedef struct bench_problem {
    const char *kernel, *title;
    hand_forward *forward; /* the kernel as a C compiler has it, or NULL */
    hand_adjoint *hand;
    uint32_t count;
    bench_param params[BENCH_PARAMS];
    double tolerance; /* of gradients against each other, relative to the largest component */
} bench_problem;

/* To describe a problem, parameter by parameter. Arrays hold uniform numbers (lo == hi: all the same) and have one axis if
 * columns is 0; outputs hold 0 and have seeds. Scalars: int, double, float. */
void bench_seed(uint64_t seed);
double bench_uniform(double lo, double hi);
void bench_int(bench_problem *p, const char *name, int value);
void bench_real(bench_problem *p, const char *name, double value);
void bench_single(bench_problem *p, const char *name, float value);
bench_param *bench_array(bench_problem *p, const char *name, rg_dtype dtype, int64_t rows, int64_t columns, double lo,
                         double hi);
bench_param *bench_output(bench_problem *p, const char *name, rg_dtype dtype, int64_t rows, int64_t columns);
/* Makes an array's adjoint start at numbers from 0.5 to 1.5 instead of 0. Returns the array. */
bench_param *bench_seeded(bench_param *q);
/* Makes the columns of an array two axes. */
void bench_axes(bench_param *q, int64_t second, int64_t third);
/* A size that was scaled: whole, at least 1. */
int bench_count(double n);

void bench_problem_free(bench_problem *p);
/* Puts initial values and seeds into the hand-written version's memory. */
void bench_problem_reset(bench_problem *p);

#endif
