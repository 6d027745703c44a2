/* Gradients of long loops in small budgets. SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_LONG_H
#define BENCH_LONG_H

#include <stdbool.h>

/* Prints a table; false if a gradient in a small budget differs from that with room for everything. */
bool bench_long(void);

#endif
