/* What adjoints written by hand have in common: forward with what the reverse needs kept in arrays, then backward. Each
 * does both sweeps and adds into the adjoints (names with _a); the adjoints of stored outputs are consumed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_HAND_H
#define BENCH_HAND_H

#include <stddef.h>

/* data[k], adjoint[k]: memory of parameter k and of its adjoint; scalars: data[k] points at one,
 * and adjoint[k] at its adjoint */
typedef void hand_adjoint(void *const *data, void *const *adjoint);
typedef void hand_forward(void *const *data);

#define INT(k) (*(const int *)data[k])
#define REAL(k) (*(const double *)data[k])
#define SINGLE(k) (*(const float *)data[k])

/* A square root that sets no errno, so that loops with it can be vectors. */
static inline double
hand_root(double x)
{
#if defined __has_builtin && __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(x);
#else
    return __builtin_sqrt(x);
#endif
}

/* the most bytes that the last one called kept at one time for its reverse sweep */
extern size_t hand_kept;

#endif
