/* The kernel level of a launch in segments. SPDX-License-Identifier: Apache-2.0 */
#include "ir/edges.h"
#include "ir/verify/verify.h"

static bool
may_stand_between_tasks(const ir_op *op)
{
    switch ((int)op->code) {
    case RG_OP_SEGMENT:
    case RG_OP_PARALLEL:
    case RG_OP_IF:
    case RG_OP_LOOP:
    case RG_OP_EXIT_IF:
    case RG_OP_YIELD:
        return true;
    default:
        return ir_is_no_step(op);
    }
}

/* the segment directly before; NULL: something else is */
static const ir_op *
segment_before(const ir_op *op)
{
    const ir_op *before = op->prev;
    while (before && ir_is_no_step(before))
        before = before->prev;
    return before && before->code == RG_OP_SEGMENT ? before : NULL;
}

bool
verify_between_tasks(verifier *v, const ir_op *op)
{
    if (!may_stand_between_tasks(op))
        return verify_error(v, op, E_LEVEL, "at this stage %s stands in a segment or task", ir_ops[op->code].text);
    bool control = op->code == RG_OP_LOOP || op->code == RG_OP_EXIT_IF || op->code == RG_OP_YIELD;
    bool asks = op->code == RG_OP_IF || op->code == RG_OP_EXIT_IF;
    const ir_op *writer = segment_before(op);
    if (asks && (!writer || op->args[0]->def != writer) && !ir_asks_first(op))
        return verify_error(v, op, E_YIELD, "the condition is no result of the segment before it");
    for (uint32_t i = ir_own_operands(op); control && i < op->nargs; i++)
        if (!ir_stays_in_place(op, i) && (!writer || op->args[i]->def != writer))
            return verify_error(v, op, E_YIELD, "value %u is no result of the segment before it", i);
    return true;
}

bool
verify_segment(verifier *v, const ir_op *op)
{
    const ir_op *end = ir_terminator(op->regions[0]);
    if (op->regions[0]->nparams || (end && end->nargs != op->nresults))
        return verify_error(v, op, E_YIELD, "a segment has no parameters, and yields its results");
    for (uint32_t i = 0; end && i < op->nresults; i++)
        if (!ir_type_eq(end->args[i]->type, op->results[i]->type))
            return verify_error(v, op, E_YIELD, "value %u is not of the type of the segment's result", i);
    return true;
}
