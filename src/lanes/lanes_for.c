/* Loops whose count is known on entry, in lanes. SPDX-License-Identifier: Apache-2.0 */
#include "lanes/lanes.h"
#include "analysis/integers.h"

static void
same_for(lanes *l, const ir_op *op)
{
    const ir_region *old = op->regions[0];
    ir_value **args = lanes_values(l, op->nargs + 2), **next = lanes_values(l, op->nargs);
    args[0] = lanes_one(l, op->args[0]);
    args[1] = lanes_one(l, op->args[1]);
    uint32_t n = lanes_carried_args(l, op, 1, 2, args);
    ir_op *made = lanes_control_op(l, op, RG_OP_FOR, n, args);
    ir_region *was = lanes_enter(l, made->regions[0]);
    lanes_set(l, old->params[0], ir_region_param(made->regions[0], old->params[0]->type, NULL), NULL);
    ir_value **params = lanes_carried_params(l, op, made->regions[0], 1);
    lanes_set_params(l, op, params, 1);
    lanes_region(l, old);
    lanes_yield(l, lanes_next_values(l, op, 1, NULL, params, next), next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < ir_value_results(op); k++) {
        ir_value *v = ir_op_result(made, l->fn, params[1 + k]->type, NULL);
        lanes_set_carried(l, op->results[k], v);
    }
    lanes_set_trace(l, op, made);
}

/* how often each thread runs it: (|hi - lo| - 1) / |step| + 1, or 0, unsigned; in 32 bits where that is enough */
static ir_value *
counts(lanes *l, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype, u = ir_bits(d) == 64 ? RG_U64 : RG_U32;
    int64_t step = op->attr.step;
    ir_value *lo = lanes_operand(l, op->args[0]), *hi = lanes_operand(l, op->args[1]);
    ir_value *from = step > 0 ? lo : hi, *to = step > 0 ? hi : lo;
    uint64_t size = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    ir_value *some = lanes_binary(l, RG_OP_LT, from, to);
    ir_value *count = lanes_binary(l, RG_OP_SUB, lanes_cast(l, to, u), lanes_cast(l, from, u));
    if (size > 1) {
        count = lanes_binary(l, RG_OP_SUB, count, lanes_const(l, u, 1));
        count = lanes_binary(l, RG_OP_DIV, count, lanes_const(l, u, size));
        count = lanes_binary(l, RG_OP_ADD, count, lanes_const(l, u, 1));
    }
    count = lanes_select(l, some, count, lanes_const(l, u, 0));
    return range_fits(count, 32) ? lanes_cast(l, count, RG_U32) : count;
}

static void
differing_index(lanes *l, const ir_op *op, ir_value *trip)
{
    const ir_value *index = op->regions[0]->params[0];
    rg_dtype d = (rg_dtype)index->type.dtype;
    ir_value *past = lanes_cast(l, trip, d);
    if (op->attr.step != 1)
        past = lanes_binary(l, RG_OP_MUL, past, lanes_const(l, d, (uint64_t)op->attr.step));
    if (ir_shape_of(&l->divergence, index).kind == IR_ANY)
        lanes_set(l, index, NULL, lanes_binary(l, RG_OP_ADD, lanes_all(l, op->args[0]), past));
    else
        lanes_set_carried(l, index, lanes_binary(l, RG_OP_ADD, lanes_one(l, op->args[0]), past));
}

/* whether a result that the threads of a running loop have alike must be kept for each */
static bool
is_kept(const lanes *l, const ir_op *op, uint32_t k)
{
    const ir_value *v = op->results[k];
    return v->type.kind == IR_SCALAR && l->uses[v->id] && !lanes_carried_type(l, op->regions[0]->params[1 + k]).lanes;
}

static void
differing_for(lanes *l, const ir_op *op)
{
    const ir_region *old = op->regions[0];
    uint32_t results = ir_value_results(op);
    ir_value *count = lanes_or_identity(l, lanes_active(l), lanes_splat(l, counts(l, op)), RG_RMW_MAX);
    ir_value *most = lanes_reduce(l, RG_RMW_MAX, count), *outer = l->mask; /* 0 where no thread runs it */
    ir_value **args = lanes_values(l, 2 * op->nargs), **next = lanes_values(l, 2 * op->nargs), **kept = lanes_values(l, results);
    args[1] = most;
    args[0] = lanes_const(l, (rg_dtype)most->type.dtype, 0);
    uint32_t n = lanes_carried_args(l, op, 1, 2, args);
    for (uint32_t k = 0; k < results; k++)
        if (is_kept(l, op, k))
            args[n++] = lanes_all(l, op->args[2 + k]);
    ir_op *made = lanes_control_op(l, op, RG_OP_FOR, n, args);
    made->attr.step = 1;
    ir_region *body = made->regions[0], *was = lanes_enter(l, body);
    ir_value *trip = ir_region_param(body, most->type, NULL);
    ir_value **params = lanes_carried_params(l, op, body, 1);
    for (uint32_t k = 0; k < results; k++)
        if (is_kept(l, op, k))
            kept[k] = ir_region_param(body, lanes_type(l, op->results[k]->type), NULL);
    l->mask = lanes_binary(l, RG_OP_LT, trip, count);
    differing_index(l, op, trip);
    lanes_set_params(l, op, params, 1);
    lanes_region(l, old);
    n = lanes_next_values(l, op, 1, l->mask, params, next);
    for (uint32_t k = 0; k < results; k++)
        if (kept[k])
            next[n++] = lanes_select(l, l->mask, lanes_all(l, ir_terminator(old)->args[k]), kept[k]);
    lanes_yield(l, n, next);
    l->mask = outer;
    lanes_enter(l, was);
    for (uint32_t k = 0; k < results; k++)
        lanes_put(l, op->results[k], ir_op_result(made, l->fn, params[1 + k]->type, NULL));
    for (uint32_t k = 0; k < results; k++)
        if (kept[k])
            lanes_put(l, op->results[k], ir_op_result(made, l->fn, kept[k]->type, NULL));
    lanes_set_trace(l, op, made);
    map_set(&l->frames, map_ptr(op), lanes_cast(l, most, RG_I64));
}

void
lanes_for(lanes *l, const ir_op *op)
{
    if (ir_loop_divergence_of(&l->divergence, op)->varies)
        differing_for(l, op);
    else
        same_for(l, op);
}
