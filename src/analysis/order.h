/* Loops whose iterations may run in any order. SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_ORDER_H
#define PASS_ORDER_H

#include "ir/ir.h"

/* Whether the iterations of a loop (for, unwind) neither meet in memory but to add there, nor hand on
 * anything but sums that may be formed in any order. */
bool has_no_order(const ir_op *loop);

#endif
