/* Runs of ops that may be computed twice, and who looks at what they give. SPDX-License-Identifier: Apache-2.0
 *
 * Code generators compute what has a slow path the fast way, several at once, and ask behind the last of them whether any went
 * wrong: then all of it is computed once more (codegen/llvm/bet.c, codegen/spirv/bet.c). */
#ifndef IR_STRAIGHT_H
#define IR_STRAIGHT_H

#include "ir/ir.h"

/* Whether op, in a run that begins with `first`, does no harm with wrong numbers, and none when it is repeated: arithmetic, and loads by
 * lanes whose address the run does not compute from floats. */
bool ir_is_sure(const ir_op *op, const ir_op *first);
/* The lanes whose results at `at` are used. Lanes that have left a loop, are not yet in a reverse loop, or do not take a branch go on
 * computing, often with 0. NULL: all are. */
const ir_value *ir_taking_part(const ir_op *at);

#endif
