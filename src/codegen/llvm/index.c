/* Subscripts in 64 bits. SPDX-License-Identifier: Apache-2.0
 *
 * C computes x[i * m + j] in 32 bits; an address made of a number that may have wrapped tells LLVM nothing about its
 * distance from that of x[i * m + j + 1]. A subscript's own arithmetic is exact (integers.h), so it is done in 64 bits;
 * of unsigned numbers where ranges show that it does not wrap. */
#include "analysis/integers.h"
#include "codegen/llvm/gen.h"

static bool
is_narrow_int(const ir_value *v)
{
    return v->type.kind == IR_SCALAR && ir_is_int(ir_dtype(v)) && ir_bits(ir_dtype(v)) <= 32;
}

/* the same element in 64 bits without wrapping */
static bool
may_widen(const ir_op *op)
{
    if (ir_is_exact_in_subscript(op))
        return true;
    if (op->code == RG_OP_MUL || !is_narrow_int(op->results[0]))
        return false;
    range x = range_of(op->args[0]), y = range_of(op->args[1]);
    bool adds = op->code == RG_OP_ADD;
    range sum = {x.min + (adds ? y.min : -y.max), x.max + (adds ? y.max : -y.min)};
    return range_within(sum, range_of_type(ir_dtype(op->results[0])));
}

/* what v was made of may be out of reach in a task that captured v alone */
static bool
in_reach(const gen *g, const ir_value *v)
{
    return g->s->values[v->id] || ir_is_const(v, NULL) || (!v->def && v->region == g->ir->body);
}

static LLVMValueRef
exact_index(gen *g, const ir_value *v, unsigned depth)
{
    const ir_op *op = v->def;
    if (!depth || v->type.lanes)
        return gen_wide(g, v);
    if (op && op->code == RG_OP_CAST && v->type.dtype == RG_I64 && is_narrow_int(op->args[0]) &&
        in_reach(g, op->args[0]))
        return exact_index(g, op->args[0], depth);
    /* a count of iterations made narrow again */
    if (op && op->code == RG_OP_CAST && is_narrow_int(v) && !is_narrow_int(op->args[0]) &&
        ir_is_int(ir_dtype(op->args[0])) && range_within(range_of(op->args[0]), range_of_type(ir_dtype(v))) && in_reach(g, op->args[0]))
        return gen_get(g, op->args[0]);
    bool arithmetic = op && (op->code == RG_OP_ADD || op->code == RG_OP_SUB || op->code == RG_OP_MUL);
    if (!arithmetic || !may_widen(op) || !in_reach(g, op->args[0]) || !in_reach(g, op->args[1]))
        return gen_wide(g, v);
    LLVMValueRef x = exact_index(g, op->args[0], depth - 1);
    LLVMValueRef y = op->args[1] == op->args[0] ? x : exact_index(g, op->args[1], depth - 1);
    switch ((int)op->code) {
    case RG_OP_ADD:
        return LLVMBuildNSWAdd(g->b, x, y, "");
    case RG_OP_SUB:
        return LLVMBuildNSWSub(g->b, x, y, "");
    default:
        return LLVMBuildNSWMul(g->b, x, y, "");
    }
}

LLVMValueRef
gen_index(gen *g, const ir_value *v)
{
    return exact_index(g, v, IR_EXACT_DEPTH);
}
