/* Gradients of the kernels `sine` and `flops` in lanes by hand: a group of threads side by side with the math library's
 * vector functions, every step's value kept, the steps undone under the same masks. data and adjoint: as in
 * adjoints.h; threads first..n, whole groups. SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_LANE_HAND_H
#define BENCH_LANE_HAND_H

#include <stdbool.h>

const char *lane_unit(void); /* the vector unit that all this is compiled for */
enum { LANE_GROUP = 16 };    /* first and n are multiples of it */
void lane_hand_sine(void *const *data, void *const *adjoint, int first, int n);
void lane_hand_flops(void *const *data, void *const *adjoint, int first, int n);

/* A vector function of one or two arguments: libmvec's name for "sinf", or SLEEF's with an accuracy, "u10" or "u35".
 * NULL: there is none. */
void *lane_mvec(const char *name, bool f64, unsigned arguments);
void *lane_sleef(const char *name, bool f64, const char *accuracy);
/* out[i] = f(x[i]) or f(x[i], y[i]), n a multiple of LANE_GROUP. */
void lane_map(void *f, bool f64, unsigned arguments, int n, const void *x, const void *y, void *out);

#endif
