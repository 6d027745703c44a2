/* Subscripts in 64 bits. SPDX-License-Identifier: Apache-2.0
 *
 * C computes x[i + 1] with a 32-bit sum that may wrap; an address made of the wrapped sum tells
 * LLVM nothing about its distance from x[i]. So sums and differences are made in 64 bits where that
 * gives the same element: where ranges show that they do not wrap, and where a sum that wraps would
 * be a negative subscript, which no array has. */
#include "codegen/llvm/gen.h"

enum { DEPTH = 6 };

/* of integers of at most 32 bits, so that sums and products of bounds fit */
typedef struct range {
    int64_t min, max;
} range;

static range range_at(const ir_value *v, unsigned depth);

static rg_dtype
dtype_of(const ir_value *v)
{
    return (rg_dtype)v->type.dtype;
}

static bool
is_narrow(const ir_value *v)
{
    return v->type.kind == IR_SCALAR && ir_is_int(dtype_of(v)) && ir_bits(dtype_of(v)) <= 32;
}

static range
range_of_type(rg_dtype d)
{
    unsigned bits = ir_bits(d);
    return ir_is_signed(d) ? (range){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1}
                           : (range){0, ((int64_t)1 << bits) - 1};
}

static bool
fits(range r, rg_dtype d)
{
    range type = range_of_type(d);
    return r.min >= type.min && r.max <= type.max;
}

static range
sum(range x, range y)
{
    return (range){x.min + y.min, x.max + y.max};
}

static range
negated(range x)
{
    return (range){-x.max, -x.min};
}

static range
product(range x, range y)
{
    int64_t corners[4] = {x.min * y.min, x.min * y.max, x.max * y.min, x.max * y.max};
    range r = {corners[0], corners[0]};
    for (int i = 1; i < 4; i++) {
        r.min = corners[i] < r.min ? corners[i] : r.min;
        r.max = corners[i] > r.max ? corners[i] : r.max;
    }
    return r;
}

/* from `lo` towards `hi`, which it does not reach */
static range
range_of_index(const ir_value *lo, const ir_value *hi, int64_t step, unsigned depth)
{
    range from = range_at(lo, depth - 1), to = range_at(hi, depth - 1);
    return step > 0 ? (range){from.min, to.max - 1} : (range){to.min + 1, from.max};
}

static range
range_of_param(const ir_value *v, unsigned depth)
{
    const ir_op *op = v->region->op;
    if (op && op->code == RG_OP_FOR && v->index == 0)
        return range_of_index(op->args[0], op->args[1], op->attr.step, depth);
    if (op && op->code == RG_OP_PARALLEL && v->index < op->attr.rank)
        return range_of_index(op->args[v->index], op->args[op->attr.rank + v->index], 1, depth);
    return range_of_type(dtype_of(v));
}

static range
range_of_op(const ir_op *op, range type, unsigned depth)
{
    if (!is_narrow(op->args[0]))
        return type;
    range x = range_at(op->args[0], depth - 1);
    range y = op->nargs == 2 ? range_at(op->args[1], depth - 1) : x;
    switch ((int)op->code) {
    case RG_OP_CAST:
        return x;
    case RG_OP_NEG:
        return negated(x);
    case RG_OP_ADD:
        return sum(x, y);
    case RG_OP_SUB:
        return sum(x, negated(y));
    case RG_OP_MUL: /* of numbers below 2^31: their products fit 64 bits */
        return x.max <= INT32_MAX && y.max <= INT32_MAX ? product(x, y) : type;
    case RG_OP_REM:
        return y.min > 0 ? (range){x.min < 0 ? 1 - y.max : 0, y.max - 1} : type;
    case RG_OP_AND:
        return y.min >= 0 ? (range){0, y.max} : type;
    }
    return type;
}

static range
range_at(const ir_value *v, unsigned depth)
{
    uint64_t bits;
    rg_dtype d = dtype_of(v);
    if (!is_narrow(v)) /* its caller has no use for it */
        return (range){INT32_MIN, INT32_MAX};
    if (ir_is_const(v, &bits)) {
        int64_t value = (int64_t)ir_wrap(d, bits);
        return (range){value, value};
    }
    range type = range_of_type(d);
    if (!depth)
        return type;
    range r = !v->def         ? range_of_param(v, depth)
              : v->def->nargs ? range_of_op(v->def, type, depth)
                              : type;
    return fits(r, d) && r.min <= r.max ? r : type;
}

/* the same element in 64 bits without wrapping */
static bool
may_widen(const ir_op *op, rg_dtype d)
{
    range x = range_at(op->args[0], DEPTH), y = range_at(op->args[1], DEPTH);
    if (op->code == RG_OP_SUB)
        return fits(sum(x, negated(y)), d);
    return fits(sum(x, y), d) || (ir_is_signed(d) && x.min >= 0 && y.min >= 0);
}

/* -- numbers of 64 bits, where they are known to be small ---------------------------------------- */

static bool small_range(const ir_value *v, unsigned depth, range *out);

static bool
small_for_index(const ir_value *v, unsigned depth, range *out)
{
    const ir_op *op = v->region->op;
    range lo, hi;
    if (!op || op->code != RG_OP_FOR || v->index || !ir_is_signed(dtype_of(v)) ||
        !small_range(op->args[0], depth - 1, &lo) || !small_range(op->args[1], depth - 1, &hi))
        return false;
    *out = op->attr.step > 0 ? (range){lo.min, hi.max - 1} : (range){hi.min + 1, lo.max};
    return true;
}

/* The bits of v as a signed number; false: nobody knows that 40 bits hold it. */
static bool
small_range(const ir_value *v, unsigned depth, range *out)
{
    const int64_t most = (int64_t)1 << 40;
    uint64_t bits;
    range x, y;
    if (v->type.kind != IR_SCALAR || !ir_is_int(dtype_of(v)))
        return false;
    if (ir_is_const(v, &bits)) {
        *out = (range){(int64_t)bits, (int64_t)bits};
    } else if (is_narrow(v)) {
        *out = range_at(v, depth);
    } else if (!depth) {
        return false;
    } else if (!v->def) {
        if (!small_for_index(v, depth, out))
            return false;
    } else if (v->def->code == RG_OP_CAST) {
        if (!small_range(v->def->args[0], depth - 1, out))
            return false;
    } else if (v->def->code == RG_OP_SELECT || v->def->code == RG_OP_ADD || v->def->code == RG_OP_SUB) {
        const ir_op *op = v->def;
        uint32_t first = op->code == RG_OP_SELECT;
        if (!small_range(op->args[first], depth - 1, &x) || !small_range(op->args[first + 1], depth - 1, &y))
            return false;
        *out = op->code == RG_OP_ADD   ? sum(x, y)
               : op->code == RG_OP_SUB ? sum(x, negated(y))
                                       : (range){x.min < y.min ? x.min : y.min, x.max > y.max ? x.max : y.max};
    } else {
        return false;
    }
    return out->min >= -most && out->max <= most;
}

/* what v was made of may be out of reach in a task that captured v alone */
static bool
in_reach(const gen *g, const ir_value *v)
{
    return g->s->values[v->id] || ir_is_const(v, NULL) || (!v->def && v->region == g->ir->body);
}

LLVMValueRef
gen_index(gen *g, const ir_value *v)
{
    const ir_op *op = v->def;
    if (op && op->code == RG_OP_CAST && v->type.dtype == RG_I64 && is_narrow(op->args[0]) &&
        in_reach(g, op->args[0]))
        return gen_index(g, op->args[0]);
    /* a count of iterations made narrow again */
    range whole;
    if (op && op->code == RG_OP_CAST && is_narrow(v) && !is_narrow(op->args[0]) &&
        small_range(op->args[0], DEPTH, &whole) && fits(whole, dtype_of(v)) && in_reach(g, op->args[0]))
        return gen_get(g, op->args[0]);
    bool sum_or_difference = op && (op->code == RG_OP_ADD || op->code == RG_OP_SUB);
    if (!is_narrow(v) || !sum_or_difference || !may_widen(op, dtype_of(v)) ||
        !in_reach(g, op->args[0]) || !in_reach(g, op->args[1]))
        return gen_wide(g, v);
    LLVMValueRef x = gen_index(g, op->args[0]), y = gen_index(g, op->args[1]);
    return op->code == RG_OP_ADD ? LLVMBuildNSWAdd(g->b, x, y, "")
                                 : LLVMBuildNSWSub(g->b, x, y, "");
}
