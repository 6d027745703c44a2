/* Making ops in lanes: what the rules of single ops are written with. SPDX-License-Identifier: Apache-2.0 */
#include "lanes/lanes.h"

/* -- ops ----------------------------------------------------------------------------------------- */

static ir_emit
here(const lanes *l)
{
    return (ir_emit){l->fn, l->into, NULL, l->loc};
}

ir_op *
lanes_op(lanes *l, rg_op code, uint32_t nargs, ir_value **args, uint32_t nregions)
{
    ir_emit e = here(l);
    return ir_emit_op(&e, code, nargs, args, nregions);
}

ir_value *
lanes_value(lanes *l, rg_op code, ir_type type, uint32_t nargs, ir_value **args)
{
    ir_emit e = here(l);
    return ir_emit_value(&e, code, type, nargs, args);
}

ir_value *
lanes_const(lanes *l, rg_dtype d, uint64_t bits)
{
    ir_emit e = here(l);
    return ir_emit_const(&e, d, bits);
}

ir_value *
lanes_unary(lanes *l, rg_op code, ir_type type, ir_value *x)
{
    return lanes_value(l, code, type, 1, &x);
}

ir_value *
lanes_binary(lanes *l, rg_op code, ir_value *x, ir_value *y)
{
    return lanes_value(l, code, x->type, 2, (ir_value *[]){x, y});
}

ir_value *
lanes_select(lanes *l, ir_value *c, ir_value *x, ir_value *y)
{
    return lanes_value(l, RG_OP_SELECT, x->type, 3, (ir_value *[]){c, x, y});
}

ir_value *
lanes_cast(lanes *l, ir_value *x, rg_dtype to)
{
    ir_emit e = here(l);
    return ir_emit_cast(&e, to, x);
}

ir_type
lanes_type(const lanes *l, ir_type t)
{
    return ir_with_lanes(t, l->width);
}

ir_value *
lanes_splat(lanes *l, ir_value *x)
{
    return x->type.lanes ? x : lanes_unary(l, RG_OP_SPLAT, lanes_type(l, x->type), x);
}

ir_value *
lanes_any(lanes *l, ir_value *mask)
{
    return lanes_unary(l, RG_OP_LANES_ANY, ir_scalar(RG_BOOL), mask);
}

ir_value *
lanes_reduce(lanes *l, rg_rmw how, ir_value *x)
{
    ir_value *made = lanes_unary(l, RG_OP_LANES_REDUCE, ir_with_lanes(x->type, 0), x);
    made->def->rmw = (uint8_t)how;
    return made;
}

ir_value *
lanes_zero(lanes *l, ir_type type)
{
    ir_emit e = here(l);
    return ir_emit_zero(&e, type);
}

/* -- what stands for a value ----------------------------------------------------------------------- */

ir_value *
lanes_one(lanes *l, ir_value *v)
{
    ir_value *one = v->id < l->known ? l->one[v->id] : NULL;
    assert((one || !(v->id < l->known) || !l->all[v->id]) && "the same in all threads, or a step");
    return one ? one : v;
}

ir_value *
lanes_operand(lanes *l, ir_value *v)
{
    ir_value *all = v->id < l->known ? l->all[v->id] : NULL;
    return all ? all : lanes_one(l, v);
}

ir_value *
lanes_all(lanes *l, ir_value *v)
{
    return lanes_splat(l, lanes_operand(l, v));
}

void
lanes_set(lanes *l, const ir_value *v, ir_value *one, ir_value *all)
{
    l->one[v->id] = one;
    l->all[v->id] = all;
    const char *name = v->name;
    if (all && !all->name)
        all->name = name;
    else if (one && !one->name)
        one->name = name;
}

void
lanes_put(lanes *l, const ir_value *v, ir_value *made)
{
    lanes_set(l, v, made->type.lanes ? NULL : made, made->type.lanes ? made : NULL);
}

void
lanes_set_step(lanes *l, const ir_value *v, ir_value *one)
{
    rg_dtype d = (rg_dtype)v->type.dtype;
    int64_t stride = ir_shape_of(&l->divergence, v).stride;
    ir_value *number = lanes_value(l, RG_OP_LANE, lanes_type(l, v->type), 0, NULL);
    if (stride != 1)
        number = lanes_binary(l, RG_OP_MUL, number, lanes_const(l, d, (uint64_t)stride));
    lanes_set(l, v, one, lanes_binary(l, RG_OP_ADD, one, number));
}

ir_type
lanes_carried_type(const lanes *l, const ir_value *v)
{
    bool in_lanes = v->type.kind <= IR_ARRAY && ir_shape_of(&l->divergence, v).kind == IR_ANY;
    return in_lanes ? lanes_type(l, v->type) : v->type;
}

ir_value *
lanes_carried(lanes *l, ir_value *v, const ir_value *as)
{
    if (lanes_carried_type(l, as).lanes)
        return v->type.kind == IR_ARRAY ? lanes_operand(l, v) : lanes_all(l, v);
    return lanes_one(l, v);
}

void
lanes_set_carried(lanes *l, const ir_value *v, ir_value *made)
{
    if (made->type.lanes)
        lanes_set(l, v, NULL, made);
    else if (ir_shape_of(&l->divergence, v).kind == IR_STEP)
        lanes_set_step(l, v, made);
    else
        lanes_set(l, v, made, NULL);
}

/* -- regions ---------------------------------------------------------------------------------------- */

ir_value *
lanes_active(lanes *l)
{
    return l->mask ? l->mask : l->threads;
}

ir_region *
lanes_enter(lanes *l, ir_region *r)
{
    ir_region *was = l->into;
    l->into = r;
    return was;
}

void
lanes_yield(lanes *l, uint32_t n, ir_value **values)
{
    lanes_op(l, RG_OP_YIELD, n, values, 0);
}

ir_value *
lanes_or_identity(lanes *l, ir_value *mask, ir_value *v, rg_rmw how)
{
    rg_dtype d = (rg_dtype)v->type.dtype;
    if (!mask)
        return v;
    return lanes_select(l, mask, v, lanes_const(l, d, ir_identity(d, how)));
}

/* -- one lane after the other --------------------------------------------------------------------------- */

/* loop (bits = those of the mask) { exit if none; lane = the lowest; each; bits without it } */
ir_value *
lanes_serial(lanes *l, ir_value *mask, const ir_type *type, lanes_each *each, void *user)
{
    bool gives = type != NULL;
    uint64_t all = l->width < 64 ? ((uint64_t)1 << l->width) - 1 : ~(uint64_t)0;
    ir_value *init[2] = {mask ? lanes_unary(l, RG_OP_LANES_BITS, ir_scalar(RG_U64), mask) : lanes_const(l, RG_U64, all)};
    if (gives)
        init[1] = lanes_zero(l, lanes_type(l, *type));
    ir_op *loop = lanes_op(l, RG_OP_LOOP, 1 + gives, init, 1);
    ir_value *result = gives ? ir_op_result(loop, l->fn, lanes_type(l, *type), NULL) : NULL;
    ir_region *body = loop->regions[0], *was = lanes_enter(l, body);
    ir_value *bits = ir_region_param(body, ir_scalar(RG_U64), NULL);
    ir_value *made = gives ? ir_region_param(body, lanes_type(l, *type), NULL) : NULL;
    ir_value *none = lanes_binary(l, RG_OP_EQ, bits, lanes_const(l, RG_U64, 0));
    lanes_op(l, RG_OP_EXIT_IF, 1 + gives, (ir_value *[]){none, made}, 0);
    ir_value *lane = lanes_cast(l, lanes_unary(l, RG_OP_CTZ, bits->type, bits), RG_I32);
    ir_value *value = each(l, lane, user);
    ir_value *less = lanes_binary(l, RG_OP_SUB, bits, lanes_const(l, RG_U64, 1));
    ir_value *next[2] = {lanes_binary(l, RG_OP_AND, bits, less)};
    if (gives)
        next[1] = lanes_value(l, RG_OP_LANE_SET, made->type, 3, (ir_value *[]){made, lane, value});
    lanes_yield(l, 1 + gives, next);
    lanes_enter(l, was);
    return result;
}
