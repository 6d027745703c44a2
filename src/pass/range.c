/* Ranges of integers, from types, constants, casts, sums and masks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pass/range.h"

enum { DEPTH = 6 };

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
        range x = range_at(op->args[0], depth - 1), y = range_at(op->args[1], depth - 1);
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
