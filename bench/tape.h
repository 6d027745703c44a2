/* What gradients record. SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TAPE_H
#define BENCH_TAPE_H

#include "problem.h"

/* Bytes kept for the reverse sweep at most at one time: by the gradient (on one thread, as the interpreter runs what it is
 * lowered to, so take a small problem; -1: it could not be, and the reason is on stderr), and by the adjoint by hand. lanes:
 * threads of the gradient that run side by side, which each keep theirs; 0: what pays. */
typedef struct bench_tapes {
    int64_t ours, hand;
} bench_tapes;
bench_tapes bench_tapes_of(bench_problem *p, const char *file, unsigned lanes);

#endif
