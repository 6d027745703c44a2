/* Making ops. SPDX-License-Identifier: Apache-2.0 */
#include "ir/emit.h"

void
ir_emit_place(const ir_emit *e, ir_op *op)
{
    if (e->before)
        ir_insert_before(e->before, op);
    else
        ir_append(e->region, op);
}

ir_op *
ir_emit_op(const ir_emit *e, rg_op code, uint32_t nargs, ir_value *const *args, uint32_t nregions)
{
    ir_op *op = ir_op_new(e->fn, code, nargs, nregions, e->loc);
    for (uint32_t i = 0; i < nargs; i++)
        ir_op_arg(op, e->fn, args[i]);
    ir_emit_place(e, op);
    return op;
}

ir_value *
ir_emit_value(const ir_emit *e, rg_op code, ir_type type, uint32_t nargs, ir_value *const *args)
{
    if (ir_ops[code].form != IR_OTHER) {
        ir_type types[3] = {{0}};
        assert(nargs <= 3 && "ops with forms have up to three operands");
        for (uint32_t i = 0; i < nargs; i++)
            types[i] = args[i]->type;
        bool fits = ir_form_check(code, nargs, types, &type);
        assert(fits && "a transform made an op with operands of the wrong type");
        (void)fits;
    }
    return ir_op_result(ir_emit_op(e, code, nargs, args, 0), e->fn, type, NULL);
}

ir_value *
ir_emit_1(const ir_emit *e, rg_op code, ir_value *x)
{
    return ir_emit_value(e, code, x->type, 1, &x);
}

ir_value *
ir_emit_2(const ir_emit *e, rg_op code, ir_value *x, ir_value *y)
{
    return ir_emit_value(e, code, x->type, 2, (ir_value *[]){x, y});
}

ir_value *
ir_emit_3(const ir_emit *e, rg_op code, ir_value *x, ir_value *y, ir_value *z)
{
    return ir_emit_value(e, code, x->type, 3, (ir_value *[]){x, y, z});
}

ir_value *
ir_emit_const(const ir_emit *e, rg_dtype dtype, uint64_t bits)
{
    ir_value *v = ir_emit_value(e, RG_OP_CONST, ir_scalar(dtype), 0, NULL);
    v->def->attr.bits = ir_wrap(dtype, bits);
    return v;
}

ir_value *
ir_emit_float(const ir_emit *e, rg_dtype dtype, double v)
{
    return ir_emit_const(e, dtype, ir_float_bits(dtype, v));
}

ir_value *
ir_emit_int(const ir_emit *e, rg_dtype dtype, int64_t v)
{
    return ir_emit_const(e, dtype, (uint64_t)v);
}

ir_value *
ir_emit_cast(const ir_emit *e, rg_dtype to, ir_value *v)
{
    rg_dtype from = (rg_dtype)v->type.dtype;
    uint64_t bits;
    if (from == to)
        return v;
    if (ir_is_const(v, &bits) && ir_is_float(from) && ir_is_float(to))
        return ir_emit_float(e, to, ir_bits_float(from, bits));
    return ir_emit_value(e, RG_OP_CAST, ir_scalar(to), 1, &v);
}

ir_value *
ir_emit_splat(const ir_emit *e, ir_value *v, unsigned lanes)
{
    if (v->type.lanes == lanes)
        return v;
    return ir_emit_value(e, RG_OP_SPLAT, ir_with_lanes(v->type, lanes), 1, &v);
}

ir_value *
ir_emit_zero(const ir_emit *e, ir_type type)
{
    if (type.kind == IR_SCALAR)
        return ir_emit_splat(e, ir_emit_const(e, (rg_dtype)type.dtype, 0), type.lanes);
    ir_value *extents[RG_MAX_RANK] = {NULL};
    rg_op code = type.kind == IR_ARRAY ? RG_OP_ARRAY : type.kind == IR_BUFFER ? RG_OP_TEMP : RG_OP_CONST;
    for (uint32_t k = 0; k < type.rank; k++)
        extents[k] = ir_emit_int(e, RG_I64, 0);
    return ir_emit_value(e, code, type, type.rank, extents);
}

ir_value *
ir_emit_copy(const ir_emit *e, ir_value *array)
{
    return ir_emit_value(e, RG_OP_COPY, array->type, 1, &array);
}

ir_value *
ir_emit_extract(const ir_emit *e, ir_value *array, ir_value *index)
{
    ir_type type = ir_with_lanes(ir_scalar((rg_dtype)array->type.dtype), array->type.lanes);
    return ir_emit_value(e, RG_OP_EXTRACT, type, 2, (ir_value *[]){array, index});
}

ir_value *
ir_emit_insert(const ir_emit *e, ir_value *array, ir_value *index, ir_value *value)
{
    return ir_emit_value(e, RG_OP_INSERT, array->type, 3, (ir_value *[]){array, index, value});
}
