/* Runs of ops that may be computed twice. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/straight.h"

enum { DEPTH = 6 };

/* from before the run, or integers computed from such alone */
static bool
stands_apart(const ir_value *v, const ir_op *first, unsigned depth)
{
    const ir_op *op = v->def;
    if (v->type.kind == IR_BUFFER || ir_is_const(v, NULL))
        return true;
    if (!op)
        return true;
    if (op->parent == first->parent) {
        const ir_op *before = first->prev;
        while (before && before != op)
            before = before->prev;
        if (before)
            return true;
    } else if (ir_region_inside(first->parent, op->parent)) {
        return true;
    }
    if (!depth || ir_ops[op->code].form == IR_OTHER)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ir_is_float((rg_dtype)op->args[i]->type.dtype) || !stands_apart(op->args[i], first, depth - 1))
            return false;
    return true;
}

bool
ir_is_sure(const ir_op *op, const ir_op *first)
{
    if (op->code == RG_OP_CONST || op->code == RG_OP_SPLAT)
        return true;
    if (op->code == RG_OP_LOAD) {
        if (!op->results[0]->type.lanes)
            return false; /* what is the same for all may need to meet */
        for (uint32_t i = 0; i < op->nargs; i++)
            if (!stands_apart(op->args[i], first, DEPTH))
                return false;
        return true;
    }
    if (ir_ops[op->code].form == IR_OTHER || op->nresults != 1)
        return false;
    bool divides = op->code == RG_OP_DIV || op->code == RG_OP_REM;
    return !divides || ir_is_float((rg_dtype)op->results[0]->type.dtype) || ir_is_const(op->args[1], NULL);
}

/* -- whose operands count ------------------------------------------------------------------------------------ */

/* the lanes of which there must be one for a loop to go on */
static const ir_value *
stay_in_loop(const ir_op *exit)
{
    const ir_op *none = exit->args[0]->def, *any = none && none->code == RG_OP_NOT ? none->args[0]->def : NULL;
    return any && any->code == RG_OP_LANES_ANY ? any->args[0] : NULL;
}

/* whether lanes of `mask` are lanes of `of` */
static bool
are_among(const ir_value *mask, const ir_value *of)
{
    const ir_op *def = mask->def;
    return mask == of || (def && def->code == RG_OP_AND && (are_among(def->args[0], of) || are_among(def->args[1], of)));
}

/* Whether what op does, and what it tells other lanes, is of lanes of the mask alone. */
static bool
stays_among(ir_op *op, void *user)
{
    const ir_value *mask = user;
    switch ((int)op->code) {
    case RG_OP_STORE:
    case RG_OP_RMW:
    case RG_OP_SLOT_STORE:
        return op->masked && are_among(op->args[op->nargs - 1], mask);
    case RG_OP_LANES_ANY:
        return are_among(op->args[0], mask);
    case RG_OP_IF:
    case RG_OP_LOAD:
    case RG_OP_TAPE_POP:
    case RG_OP_YIELD:
    case RG_OP_CONST:
    case RG_OP_SPLAT:
    case RG_OP_SLOT_LOAD:
        return true;
    }
    return ir_ops[op->code].form != IR_OTHER;
}

/* the lanes whose carried values an iteration of a reverse loop changes; NULL: all, or it may do more */
static const ir_value *
changed_lanes(const ir_op *loop)
{
    const ir_region *body = loop->regions[0];
    const ir_op *yield = ir_terminator(body);
    const ir_value *mask = NULL;
    uint32_t first = body->nparams - yield->nargs;
    for (uint32_t k = 0; k < yield->nargs; k++) {
        const ir_op *def = yield->args[k]->def;
        if (!yield->args[k]->type.lanes || yield->args[k] == body->params[first + k])
            continue;
        bool kept = def && def->code == RG_OP_SELECT && def->args[2] == body->params[first + k] && def->args[0]->type.lanes;
        if (!kept || (mask && mask != def->args[0]))
            return NULL;
        mask = def->args[0];
    }
    return mask && ir_walk((ir_region *)body /* only looked at */, stays_among, (void *)mask) ? mask : NULL;
}

static bool
stands_before(const ir_value *v, const ir_op *at)
{
    const ir_op *op = at;
    while (op && op != v->def)
        op = op->prev;
    return op != NULL;
}

const ir_value *
ir_taking_part(const ir_op *at)
{
    for (; at && at->code != RG_OP_PARALLEL; at = at->parent->op) {
        for (const ir_op *op = at->prev; op; op = op->prev)
            if (op->code == RG_OP_EXIT_IF && stay_in_loop(op))
                return stay_in_loop(op);
        const ir_op *around = at->parent->op;
        const ir_op *any = around && around->code == RG_OP_IF && at->parent == around->regions[0] ? around->args[0]->def : NULL;
        if (any && any->code == RG_OP_LANES_ANY)
            return any->args[0];
        const ir_value *changed = around && around->code == RG_OP_FOR ? changed_lanes(around) : NULL;
        if (changed && stands_before(changed, at))
            return changed;
    }
    return NULL;
}
