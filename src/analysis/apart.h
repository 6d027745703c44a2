/* Whether subscripts differ, as the bounds of loops tell. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_APART_H
#define IR_APART_H

#include "ir/ir.h"

/* When the second subscript is computed. */
typedef enum apart_when {
    APART_TOGETHER, /* in the same iteration of all loops around both */
    APART_LATER,    /* in a later iteration of a loop around both, the same of the loops around it */
} apart_when;

/* Whether argument k of access a and that of access b are never the same number: b takes place when `when` says; `loop` (for, loop or
 * parallel) is the one of APART_LATER, where a later iteration of a parallel is any other thread. Subscripts and bounds of loops are
 * taken as exact (docs/decisions.md). */
bool apart_always(const ir_op *a, const ir_op *b, uint32_t k, apart_when when, const ir_op *loop);

#endif
