/* The bench's problems: for each kernel its arguments and the adjoint written by hand.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_PROBLEMS_H
#define BENCH_PROBLEMS_H

#include "problem.h"

enum { BENCH_PROBLEMS = 12 };
/* Fills in problem number k; scale (1 by default) multiplies the work. */
void bench_problem_make(bench_problem *p, unsigned k, double scale);

#endif
