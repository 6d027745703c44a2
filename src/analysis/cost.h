/* What an operation costs on the machine that its module is made for. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_COST_H
#define IR_COST_H

#include "ir/ir.h"

/* in simple operations of one lane, without what op's regions hold */
int32_t ir_cost(const ir_op *op);

#endif
