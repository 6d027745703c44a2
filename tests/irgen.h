/* Random kernels in IR text. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_IRGEN_H
#define TESTS_IRGEN_H

#include "base/base.h"

/* One kernel
 *   @k(%n: i64, %x: buf<f64,1>, %y: buf<f64,1>, %k: buf<i64,1>, %sum: buf<f64,1>)
 * of a few tasks over %n threads: every thread reads x[0..8) and k[0..8), reads and writes its own
 * y[8 t .. 8 t + 8), adds to sum[0..4). Loops of all kinds, ifs, exits, local arrays, nested;
 * values are damped so that they stay near 1. The same seed gives the same text. */
void irgen_kernel(str *out, uint64_t seed);

#endif
