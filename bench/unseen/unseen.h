/* Kernels that the compiler was not tuned for, with adjoints written by hand. SPDX-License-Identifier: Apache-2.0
 *
 * hand/NAME.c has three functions, compiled as the kernel is: the adjoint hand_NAME (../hand.h), forward_NAME, which calls
 * the kernel with a C compiler's code, and make_NAME, which describes its arguments. A launch of the gradient by hand
 * takes 5 to 20 ms where scale is 1, which multiplies the work. */
#ifndef BENCH_UNSEEN_H
#define BENCH_UNSEEN_H

#include "../run.h"

typedef struct unseen_kernel {
    const char *kernel, *title;
    void (*make)(bench_problem *p, double scale);
    hand_forward *forward;
    hand_adjoint *hand;
    double tolerance;
} unseen_kernel;

#define UNSEEN(kernel, title, tolerance) \
    void make_##kernel(bench_problem *p, double scale); \
    hand_forward forward_##kernel; \
    hand_adjoint hand_##kernel;
#include "unseen.def"
#undef UNSEEN

/* Compares derivatives of the values along random directions, one for each parameter, with central differences of the C
 * compiler's kernel. Prints where the adjoint by hand or `run`'s is off by more than the differences can be. Both have
 * just run. Returns whether none is. */
bool unseen_differences(prepared *run, bench_problem *p);

#endif
