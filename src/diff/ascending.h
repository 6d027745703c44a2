/* Loops that count otherwise than upwards by one, written so that they do. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_ASCENDING_H
#define AD_ASCENDING_H

#include "ir/ir.h"

/* The loop itself, if it counts upwards by one; else a copy that has the iterations in such an order, whether that matters or
 * not. The copy stands before the loop, behind the ops that its bounds are made of. */
ir_op *ad_ascending(ir_op *loop, arena *scratch);
/* removes a copy and those ops; before: what stood before the loop */
void ad_ascending_undo(ir_op *copy, const ir_op *loop, const ir_op *before);

#endif
