/* What gradients record. SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TAPE_H
#define BENCH_TAPE_H

#include "problems.h"

/* The most bytes that frames of the gradient's tape hold at one time, on one thread: the kernel is run as it
 * is lowered, by the interpreter, so take a small problem. -1: it could not be, and the reason is on stderr. */
int64_t bench_tape_bytes(bench_problem *p, const char *file);

#endif
