/* Ranges of integers, from types, constants, casts, sums, quotients, masks and selections.
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/range.h"

enum { DEPTH = 12, OF_TWO = 2 /* what an op with two operands to look at takes of it */ };

range
range_of_type(rg_dtype d)
{
    unsigned bits = ir_bits(d);
    if (ir_is_signed(d))
        return (range){-((wide)1 << (bits - 1)), ((wide)1 << (bits - 1)) - 1};
    return (range){0, ((wide)1 << bits) - 1};
}

static range range_at(const ir_value *v, unsigned depth);

static bool
fits(range r, rg_dtype d)
{
    range type = range_of_type(d);
    return r.min >= type.min && r.max <= type.max;
}

/* what v was before casts: the first number whose values from 0 on all the types behind it have */
static const ir_value *
without_casts(const ir_value *v)
{
    const ir_value *first = v;
    wide most = range_of_type((rg_dtype)v->type.dtype).max;
    while (v->def && v->def->code == RG_OP_CAST && ir_is_int((rg_dtype)v->def->args[0]->type.dtype)) {
        v = v->def->args[0];
        wide max = range_of_type((rg_dtype)v->type.dtype).max;
        if (max <= most)
            first = v, most = max;
    }
    return first;
}

/* of one that is selected where it is more than 0, or not less */
static range
range_if(const ir_value *v, const ir_op *condition, unsigned depth)
{
    const ir_value *x = without_casts(v);
    uint64_t bits;
    bool less = condition && (condition->code == RG_OP_LT || condition->code == RG_OP_LE);
    bool more = condition && (condition->code == RG_OP_GT || condition->code == RG_OP_GE);
    if ((less && condition->args[1] == x && ir_is_const(condition->args[0], &bits) && bits == 0) ||
        (more && condition->args[0] == x && ir_is_const(condition->args[1], &bits) && bits == 0))
        return (range){0, range_of_type((rg_dtype)x->type.dtype).max};
    return range_at(v, depth);
}

static range
range_of_op(const ir_op *op, rg_dtype d, unsigned depth)
{
    range none = range_of_type(d), r = none;
    switch (op->code) {
    case RG_OP_EXTENT: /* no array has more elements than an address space of 48 bits has bytes */
        return (range){0, (wide)1 << 48};
    case RG_OP_CAST:
        if (!ir_is_float((rg_dtype)op->args[0]->type.dtype))
            r = range_at(op->args[0], depth - 1);
        break;
    case RG_OP_ADD:
    case RG_OP_SUB: {
        if (depth <= OF_TWO)
            break;
        range x = range_at(op->args[0], depth - OF_TWO), y = range_at(op->args[1], depth - OF_TWO);
        r = op->code == RG_OP_ADD ? (range){x.min + y.min, x.max + y.max}
                                  : (range){x.min - y.max, x.max - y.min};
        break;
    }
    case RG_OP_AND:
        for (uint32_t k = 0; k < 2 && d != RG_BOOL; k++) {
            range mask = range_at(op->args[k], depth - 1);
            if (mask.min >= 0 && mask.max < r.max)
                r = (range){0, mask.max};
        }
        break;
    case RG_OP_DIV: {
        uint64_t by;
        range x = range_at(op->args[0], depth - 1);
        if (ir_is_const(op->args[1], &by) && by > 0 && by <= INT32_MAX && x.min >= 0)
            r = (range){x.min / (wide)by, x.max / (wide)by};
        break;
    }
    case RG_OP_SELECT: {
        if (depth <= OF_TWO)
            break;
        range x = range_if(op->args[1], op->args[0]->def, depth - OF_TWO), y = range_at(op->args[2], depth - OF_TWO);
        r = (range){x.min < y.min ? x.min : y.min, x.max > y.max ? x.max : y.max};
        break;
    }
    case RG_OP_SPLAT:
        r = range_at(op->args[0], depth - 1);
        break;
    default:
        break;
    }
    return fits(r, d) ? r : none;
}

static range
range_at(const ir_value *v, unsigned depth)
{
    rg_dtype d = (rg_dtype)v->type.dtype;
    uint64_t bits;
    if (ir_is_const(v, &bits)) {
        wide value = ir_is_signed(d) ? (wide)(int64_t)bits : (wide)bits;
        return (range){value, value};
    }
    return v->def && depth ? range_of_op(v->def, d, depth) : range_of_type(d);
}

range
range_of(const ir_value *v)
{
    return range_at(v, DEPTH);
}
