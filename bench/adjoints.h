/* The bench's adjoints written by hand. SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_ADJOINTS_H
#define BENCH_ADJOINTS_H

#include "hand.h"

hand_adjoint hand_deep, hand_ragged, hand_csr, hand_newton, hand_adaptive, hand_lstm, hand_cholesky,
    hand_springs, hand_bodies, hand_trace, hand_horner, hand_weights;

#endif
