/* The rules of values with lanes. SPDX-License-Identifier: Apache-2.0
 *
 * All lanes in one parallel loop (or in one function, outside of these) are of one width. Control takes none:
 * its rules ask for types without lanes. */
#include "ir/verify/verify.h"

bool
verify_value_lanes(verifier *v, const ir_value *value, const ir_op *op)
{
    ir_type t = value->type;
    bool may = t.kind == IR_SCALAR || t.kind == IR_ARRAY || t.kind == IR_SLOT;
    if (!t.lanes)
        return true;
    if (!may || t.lanes < 2 || t.lanes > 64 || t.lanes & (t.lanes - 1))
        return verify_error(v, op, E_LANES,
                            "value %s (number %u) has %u lanes\n"
                            "scalars, local arrays and slots may have 2, 4, 8, ... 64 lanes",
                            value->name ? value->name : "", value->id, t.lanes);
    if (v->stage < IR_STAGE_AD)
        return verify_error(v, op, E_STAGE,
                            "value %s (number %u) has a type that does not belong to this stage",
                            value->name ? value->name : "", value->id);
    if (v->lanes && v->lanes != t.lanes)
        return verify_error(v, op, E_LANES, "%u lanes here, and %u before: a parallel loop has one width",
                            t.lanes, v->lanes);
    v->lanes = t.lanes;
    return true;
}

bool
verify_arg_lanes(verifier *v, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!verify_value_lanes(v, op->args[i], op))
            return false;
    return true;
}

/* -- memory and elements ---------------------------------------------------------------------- */

/* whether any operand from `from` up to `to` has lanes */
static bool
with_lanes(const ir_op *op, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (op->args[i]->type.lanes)
            return true;
    return false;
}

static bool
check_mask(verifier *v, const ir_op *op, bool lanes)
{
    return !op->masked || lanes ||
           verify_error(v, op, E_LANES, "only what has lanes is masked: no operand but the mask has any");
}

bool
verify_access_lanes(verifier *v, const ir_op *op, uint32_t rank)
{
    bool subscripts = with_lanes(op, 1, 1 + rank), values = with_lanes(op, 1 + rank, op->nargs);
    bool spread = subscripts || op->successive, lanes = spread;
    if (op->successive && !rank)
        return verify_error(v, op, E_LANES, "only elements of a buffer with axes are successive");
    if (op->successive && subscripts)
        return verify_error(v, op, E_LANES, "a successive access has lanes, its subscripts have none");
    if (op->code == RG_OP_STORE)
        lanes |= with_lanes(op, 1 + rank, op->nargs - op->masked);
    bool updates = op->code == RG_OP_RMW && (spread || values), warps = v->fn->module->target->warp;
    if (updates && !warps && (!spread || op->rmw != RG_RMW_ADD || op->nresults))
        return verify_error(v, op, E_LANES,
                            "rmw with lanes adds, gives nothing, and no two lanes have one element\n"
                            "other updates are made lane by lane");
    if (updates && !spread && !op->atomic)
        return verify_error(v, op, E_LANES, "lanes update one element atomically");
    lanes |= updates;
    if (op->code != RG_OP_LOAD && op->successive && !values)
        return verify_error(v, op, E_LANES, "the value or the mask of a successive access has lanes");
    if (!check_mask(v, op, lanes))
        return false;
    if (op->nresults && op->code == RG_OP_RMW)
        return (op->results[0]->type.lanes != 0) == lanes ||
               verify_error(v, op, E_RESULT, "the result has lanes where an operand has any, and only there");
    if (!op->nresults || op->code != RG_OP_LOAD)
        return true;
    return (op->results[0]->type.lanes != 0) == spread ||
           verify_error(v, op, E_RESULT, spread ? "the result has lanes, like the subscripts"
                                                : "the result has no lanes: the subscripts have none");
}

/* the element that a subscript finds has lanes if either has */
bool
verify_element_lanes(verifier *v, const ir_op *op, bool value)
{
    bool container = op->args[0]->type.lanes, subscript = op->args[1]->type.lanes;
    if (value && !container && with_lanes(op, 1, op->nargs))
        return verify_error(v, op, E_LANES, "operand 0 has no lanes, and so has what is put into it");
    return check_mask(v, op, container || subscript);
}

/* -- ops between lanes and scalars ------------------------------------------------------------ */

static bool
check_reduce(verifier *v, const ir_op *op)
{
    ir_type t = op->args[0]->type;
    bool bits = op->rmw >= RG_RMW_AND && op->rmw <= RG_RMW_XOR, is_float = ir_is_float((rg_dtype)t.dtype);
    bool number = is_float || ir_is_int((rg_dtype)t.dtype);
    return (op->rmw <= RG_RMW_XOR && (bits ? !is_float : number)) ||
           verify_error(v, op, E_ATTRIBUTE, "%s has no such reduction", ir_dtype_name((rg_dtype)t.dtype));
}

bool
verify_lane_op(verifier *v, const ir_op *op)
{
    switch ((int)op->code) {
    case RG_OP_SPLAT:
        return verify_arg(v, op, 0, ir_with_lanes(op->results[0]->type, 0));
    case RG_OP_LANE:
        return ir_is_int((rg_dtype)op->results[0]->type.dtype) ||
               verify_error(v, op, E_RESULT, "lanes are counted by integers");
    case RG_OP_LANES_REDUCE:
        return check_reduce(v, op);
    default:
        return true;
    }
}
