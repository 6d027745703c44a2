/* Loops whose iterations, and updates whose threads, may come in any order. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_ORDER_H
#define IR_ORDER_H

#include "ir/ir.h"

/* Whether the iterations of a loop (for, unwind) neither meet in memory but to add there, nor hand on
 * anything but sums that may be formed in any order. */
bool ir_has_no_order(const ir_op *loop, arena *scratch);

/* Of an op: an atomic update that may leave or see something else when threads come in another order. */
bool ir_update_has_order(const ir_op *op);

#endif
