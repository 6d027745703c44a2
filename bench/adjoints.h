/* Adjoints written by hand, the way a careful C programmer would: forward with what the reverse
 * needs kept in arrays, then backward. Each does both sweeps and adds into the adjoints (names with
 * _a); the adjoints of stored outputs are consumed. SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_ADJOINTS_H
#define BENCH_ADJOINTS_H

#include <stddef.h>

/* data[k], adjoint[k]: memory of parameter k and of its adjoint; scalars: data[k] points at one,
 * and adjoint[k] at its adjoint */
typedef void hand_adjoint(void *const *data, void *const *adjoint);

/* the most bytes that the last one called kept at one time for its reverse sweep */
extern size_t hand_kept;

hand_adjoint hand_deep, hand_ragged, hand_csr, hand_newton, hand_adaptive, hand_lstm, hand_cholesky,
    hand_springs, hand_bodies, hand_trace, hand_horner, hand_weights;

#endif
