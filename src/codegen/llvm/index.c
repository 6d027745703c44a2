/* Subscripts in 64 bits. SPDX-License-Identifier: Apache-2.0
 *
 * C computes x[i + 1] with a 32-bit sum that may wrap; an address made of the wrapped sum tells
 * LLVM nothing about its distance from x[i]. So sums and differences are made in 64 bits where that
 * gives the same element: where ranges show that they do not wrap, and where a sum that wraps would
 * be a negative subscript, which no array has. */
#include "analysis/integers.h"
#include "codegen/llvm/gen.h"

static bool
is_narrow_int(const ir_value *v)
{
    return v->type.kind == IR_SCALAR && ir_is_int(ir_dtype(v)) && ir_bits(ir_dtype(v)) <= 32;
}

/* the same element in 64 bits without wrapping */
static bool
may_widen(const ir_op *op, rg_dtype d)
{
    range x = range_of(op->args[0]), y = range_of(op->args[1]);
    bool adds = op->code == RG_OP_ADD;
    range sum = {x.min + (adds ? y.min : -y.max), x.max + (adds ? y.max : -y.min)};
    return range_within(sum, range_of_type(d)) || (adds && ir_is_signed(d) && x.min >= 0 && y.min >= 0);
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
    if (op && op->code == RG_OP_CAST && v->type.dtype == RG_I64 && is_narrow_int(op->args[0]) &&
        in_reach(g, op->args[0]))
        return gen_index(g, op->args[0]);
    /* a count of iterations made narrow again */
    if (op && op->code == RG_OP_CAST && is_narrow_int(v) && !is_narrow_int(op->args[0]) &&
        ir_is_int(ir_dtype(op->args[0])) && range_within(range_of(op->args[0]), range_of_type(ir_dtype(v))) && in_reach(g, op->args[0]))
        return gen_get(g, op->args[0]);
    bool sum_or_difference = op && (op->code == RG_OP_ADD || op->code == RG_OP_SUB);
    if (!is_narrow_int(v) || !sum_or_difference || !may_widen(op, ir_dtype(v)) ||
        !in_reach(g, op->args[0]) || !in_reach(g, op->args[1]))
        return gen_wide(g, v);
    LLVMValueRef x = gen_index(g, op->args[0]), y = gen_index(g, op->args[1]);
    return op->code == RG_OP_ADD ? LLVMBuildNSWAdd(g->b, x, y, "")
                                 : LLVMBuildNSWSub(g->b, x, y, "");
}
