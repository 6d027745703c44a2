/* Values with lanes: a counted array with one word for each lane, shared like any other. Nobody changes one that
 * another value may hold. SPDX-License-Identifier: Apache-2.0 */
#include "rt/interp/machine.h"

uint64_t *
interp_lanes_set(interp_frame *f, const ir_op *op, const ir_value *v)
{
    interp_array *a = f->words[v->id].array;
    if (!a || a->refs > 1) {
        a = interp_array_new(v->type.lanes);
        if (!a) {
            interp_fault(f, op, RT_FAULT_MEMORY, "out of memory for lanes");
            return NULL;
        }
        interp_set(f, v, (interp_word){.array = a});
    }
    return a->at;
}

interp_flow
interp_scalar_lanes(interp_frame *f, const ir_op *op)
{
    const ir_value *result = op->results[0];
    rg_dtype operand = (rg_dtype)op->args[0]->type.dtype, d = (rg_dtype)result->type.dtype;
    uint64_t *out = interp_lanes_set(f, op, result);
    for (unsigned l = 0; out && l < result->type.lanes; l++) {
        uint64_t x = interp_lane(f, op->args[0], l);
        uint64_t y = op->nargs > 1 ? interp_lane(f, op->args[1], l) : 0;
        uint64_t z = op->nargs > 2 ? interp_lane(f, op->args[2], l) : 0;
        if (op->code == RG_OP_SELECT)
            out[l] = x & 1 ? y : z;
        else
            ir_eval((rg_op)op->code, operand, d, x, y, z, &out[l]);
    }
    return out ? FLOW_NEXT : FLOW_FAULT;
}

interp_flow
interp_splat(interp_frame *f, const ir_op *op)
{
    uint64_t *out = interp_lanes_set(f, op, op->results[0]);
    for (unsigned l = 0; out && l < op->results[0]->type.lanes; l++)
        out[l] = interp_bits(f, op->args[0]);
    return out ? FLOW_NEXT : FLOW_FAULT;
}

interp_flow
interp_lane_numbers(interp_frame *f, const ir_op *op)
{
    uint64_t *out = interp_lanes_set(f, op, op->results[0]);
    for (unsigned l = 0; out && l < op->results[0]->type.lanes; l++)
        out[l] = l;
    return out ? FLOW_NEXT : FLOW_FAULT;
}

static uint64_t
mask_bits(const interp_frame *f, const ir_value *v)
{
    uint64_t bits = 0;
    for (unsigned l = 0; l < v->type.lanes; l++)
        bits |= (interp_lane(f, v, l) & 1) << l;
    return bits;
}

interp_flow
interp_lanes_any(interp_frame *f, const ir_op *op)
{
    f->words[op->results[0]->id].bits = mask_bits(f, op->args[0]) != 0;
    return FLOW_NEXT;
}

interp_flow
interp_lanes_bits(interp_frame *f, const ir_op *op)
{
    f->words[op->results[0]->id].bits = mask_bits(f, op->args[0]);
    return FLOW_NEXT;
}

uint64_t
interp_reduced(const interp_frame *f, const ir_value *v, rg_rmw rmw)
{
    uint64_t at[64];
    unsigned n = v->type.lanes;
    for (unsigned l = 0; l < n; l++)
        at[l] = interp_lane(f, v, l);
    while (n > 1) {
        n /= 2;
        for (unsigned l = 0; l < n; l++)
            at[l] = interp_combine(rmw, (rg_dtype)v->type.dtype, at[l], at[l + n], 0);
    }
    return at[0];
}

interp_flow
interp_lanes_reduce(interp_frame *f, const ir_op *op)
{
    f->words[op->results[0]->id].bits = interp_reduced(f, op->args[0], (rg_rmw)op->rmw);
    return FLOW_NEXT;
}

interp_flow
interp_lane_get(interp_frame *f, const ir_op *op)
{
    const ir_value *v = op->args[0];
    unsigned l = (unsigned)interp_bits(f, op->args[1]) % v->type.lanes;
    f->words[op->results[0]->id].bits = interp_lane(f, v, l);
    return FLOW_NEXT;
}

interp_flow
interp_lane_set(interp_frame *f, const ir_op *op)
{
    unsigned lanes = op->results[0]->type.lanes, set = (unsigned)interp_bits(f, op->args[1]) % lanes;
    uint64_t *out = interp_lanes_set(f, op, op->results[0]);
    for (unsigned l = 0; out && l < lanes; l++)
        out[l] = l == set ? interp_bits(f, op->args[2]) : interp_lane(f, op->args[0], l);
    return out ? FLOW_NEXT : FLOW_FAULT;
}
