/* Where to keep states of a long computation that is run backwards. SPDX-License-Identifier: Apache-2.0 */
#ifndef API_REVOLVE_H
#define API_REVOLVE_H

#include <stdint.h>

/* Griewank and Walther, "Algorithm 799: revolve" (2000). With the state before the first of `length` >= 2 steps kept, and room
 * for `free` >= 1 more: how many steps to go forward to the next state that is kept, from 1 to length - 1. */
int64_t revolve_ahead(int64_t length, uint64_t free);
/* The fewest steps that are run forward, not counting those that are then reversed. */
int64_t revolve_cost(int64_t length, uint64_t free);

#endif
