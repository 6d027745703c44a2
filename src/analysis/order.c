/* What may come in any order. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/order.h"

#include "analysis/effects.h"
#include "analysis/uses.h"

/* whether op does nothing but compute, reach memory and branch */
static bool
is_plain_op(ir_op *op, void *user)
{
    (void)user;
    switch (op->code) {
    case RG_OP_YIELD:
    case RG_OP_EXIT_IF:
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
        return !op->records && !op->rewinds;
    default:
        return ir_is_access(op) || ir_ops[op->code].flags & IR_PURE;
    }
}

/* param + something, and nobody looks at the sum on its way */
static bool
is_loose_sum(const ir_region *r, const ir_value *param, const ir_value *next)
{
    const ir_op *op = next->def;
    if (!op || !op->fast || op->parent != r || (op->code != RG_OP_ADD && op->code != RG_OP_FMA))
        return false;
    bool summand = op->code == RG_OP_ADD ? op->args[0] == param || op->args[1] == param : op->args[2] == param;
    return summand && ir_uses_in(r, param) == 1 && ir_uses_in(r, next) == 1;
}

/* Whether what one iteration does to memory commutes with what another does. */
static bool
iterations_commute(const ir_region *body, arena *scratch)
{
    ir_effects e = ir_effects_of(body, scratch);
    return !e.order && !ir_effects_conflict(&e, &e);
}

bool
ir_has_no_order(const ir_op *loop, arena *scratch)
{
    ir_region *r = loop->regions[0];
    bool any = ir_walk(r, is_plain_op, NULL) && iterations_commute(r, scratch);
    const ir_op *end = ir_terminator(r);
    for (uint32_t i = 1; i < r->nparams && any; i++)
        any = is_loose_sum(r, r->params[i], end->args[i - 1]);
    return any;
}

bool
ir_update_has_order(const ir_op *op)
{
    bool exact = op->code == RG_OP_RMW && !op->nresults && !ir_is_float((rg_dtype)op->args[0]->type.dtype);
    return op->atomic && (!exact || op->rmw == RG_RMW_EXCHANGE || op->rmw == RG_RMW_CAS);
}
