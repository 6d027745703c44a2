/* The derivative column of ops.def, for both modes. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_RULES_H
#define AD_RULES_H

#include "diff/emit.h"

typedef enum ad_rule { AD_RULE_NONE, AD_RULE_FLOW, AD_RULE_ERROR, AD_RULE_SPECIAL } ad_rule;

/* What the table says of operand k of op: FLOW where it has an expression. */
ad_rule ad_rule_of(rg_op op, uint32_t k);

/* Supplies a forward value (an operand or the result) where the rule's code is being emitted. */
typedef ir_value *ad_primal(void *user, ir_value *v);

/* The part of g that passes through operand k of a scalar op: in reverse g is the result's adjoint and
 * the answer the operand's share; forward g is the operand's tangent and the answer the result's
 * share. g and the answer have the type ir_adjoint_dtype of the op's float type. Only for FLOW. */
ir_value *ad_rule_apply(const ir_emit *e, const ir_op *op, uint32_t k, ir_value *g,
                        ad_primal *primal, void *user);

#endif
