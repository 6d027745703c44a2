/* What loops carry. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_CARRIED_H
#define IR_CARRIED_H

#include "ir/ir.h"

/* Whether carried value k of a `for` is a sum: an iteration adds to it, on each of its ways, or hands it on; nothing else reads it. */
bool ir_carries_sum(const ir_op *loop, uint32_t k, arena *scratch);

#endif
