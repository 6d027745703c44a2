/* What ifs and loops in lanes share. SPDX-License-Identifier: Apache-2.0
 *
 * Control is the same for the whole group, masks say who takes part.
 *
 *   if c {A} else {B}    threads differ: if any(m & c) {A}, then if any(m & !c) {B}; results by select. Short pure
 *                        branches run unasked. (lanes_if.c)
 *   for                  counts differ: up to the largest; a thread takes part while its own count is not reached
 *                        (lanes_for.c)
 *   loop                 a thread that leaves takes its results and is out of the mask; none left: the loop ends
 *                        (lanes_loop.c)
 *   unwind               as many iterations as the group recorded, a thread joins at its own last one (lanes_unwind.c)
 */
#include "lanes/lanes.h"

ir_value **
lanes_values(lanes *l, uint32_t n)
{
    return arena_new_n(l->scratch, ir_value *, n + 1);
}

ir_value *
lanes_meet(lanes *l, ir_value *mask, ir_value *with)
{
    return mask ? lanes_binary(l, RG_OP_AND, mask, with) : with;
}

ir_op *
lanes_control_op(lanes *l, const ir_op *op, rg_op code, uint32_t nargs, ir_value **args)
{
    ir_op *made = lanes_op(l, code, nargs, args, op->nregions);
    made->flags = op->flags;
    made->records &= !lanes_is_silent(l, op);
    made->attr = op->attr;
    return made;
}

void
lanes_set_trace(lanes *l, const ir_op *op, ir_op *made)
{
    if (made->records && op->results[op->nresults - 1]->type.kind == IR_TRACE)
        lanes_set(l, op->results[op->nresults - 1], ir_op_result(made, l->fn, ir_trace(), NULL), NULL);
}

/* makes the carried parameters of body, for those of op from number `first` on */
ir_value **
lanes_carried_params(lanes *l, const ir_op *op, ir_region *body, uint32_t first)
{
    const ir_region *old = op->regions[0];
    ir_value **params = lanes_values(l, old->nparams);
    for (uint32_t k = first; k < old->nparams; k++)
        params[k] = ir_region_param(body, lanes_carried_type(l, old->params[k]), NULL);
    return params;
}

void
lanes_set_params(lanes *l, const ir_op *op, ir_value **params, uint32_t first)
{
    for (uint32_t k = first; k < op->regions[0]->nparams; k++)
        lanes_set_carried(l, op->regions[0]->params[k], params[k]);
}

/* operands of a loop like op: `lead` of them are given, then come the carried ones */
uint32_t
lanes_carried_args(lanes *l, const ir_op *op, uint32_t first, uint32_t lead, ir_value **args)
{
    uint32_t n = op->regions[0]->nparams - first, init = ir_first_init(op);
    for (uint32_t k = 0; k < n; k++)
        args[lead + k] = lanes_carried(l, op->args[init + k], op->regions[0]->params[first + k]);
    return lead + n;
}

/* what the next iteration gets; lanes outside of `mask` (NULL: there are none) keep what they have */
uint32_t
lanes_next_values(lanes *l, const ir_op *op, uint32_t first, ir_value *mask, ir_value **params, ir_value **next)
{
    const ir_op *end = ir_terminator(op->regions[0]);
    uint32_t n = op->regions[0]->nparams - first;
    for (uint32_t k = 0; k < n; k++) {
        next[k] = lanes_carried(l, end->args[k], op->regions[0]->params[first + k]);
        if (mask && next[k]->type.kind == IR_SCALAR && next[k]->type.lanes)
            next[k] = lanes_select(l, mask, next[k], params[first + k]);
    }
    return n;
}
