/* Values with lanes: vectors, masks, and the ops between lanes and scalars.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A bool with lanes is a vector of i1, which LLVM keeps in mask registers where there are any. On GPUs none of these
 * are vectors: simt.c. */
#include "codegen/llvm/gen.h"

/* -- types ------------------------------------------------------------------------------------- */

LLVMTypeRef
gen_element_type(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

unsigned
gen_width(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
}

LLVMTypeRef
gen_in_lanes(gen *g, LLVMTypeRef element, unsigned lanes)
{
    return lanes && !g->target->warp ? LLVMVectorType(element, lanes) : element;
}

LLVMTypeRef
gen_like(LLVMValueRef v, LLVMTypeRef element)
{
    unsigned lanes = gen_width(v);
    return lanes ? LLVMVectorType(element, lanes) : element;
}

/* -- values ------------------------------------------------------------------------------------ */

LLVMValueRef
gen_splat(gen *g, unsigned lanes, LLVMValueRef v)
{
    LLVMValueRef all[UINT8_MAX];
    if (!lanes || g->target->warp || gen_width(v))
        return v;
    if (LLVMIsConstant(v)) {
        for (unsigned i = 0; i < lanes; i++)
            all[i] = v;
        return LLVMConstVector(all, lanes);
    }
    LLVMValueRef none = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v), lanes));
    LLVMValueRef one = LLVMBuildInsertElement(g->b, none, v, gen_i32(g, 0), "");
    return LLVMBuildShuffleVector(g->b, one, none, LLVMConstNull(LLVMVectorType(g->i32, lanes)), "");
}

LLVMValueRef
gen_get_in_lanes(gen *g, const ir_value *v, unsigned lanes)
{
    return gen_splat(g, lanes, gen_get(g, v));
}

LLVMValueRef
gen_int_like(LLVMValueRef like, int64_t n)
{
    LLVMTypeRef type = LLVMTypeOf(like);
    LLVMValueRef all[UINT8_MAX], one = LLVMConstInt(gen_element_type(type), (uint64_t)n, true);
    unsigned lanes = gen_width(like);
    for (unsigned i = 0; i < lanes; i++)
        all[i] = one;
    return lanes ? LLVMConstVector(all, lanes) : one;
}

LLVMValueRef
gen_lane_numbers(gen *g, LLVMTypeRef element, unsigned lanes)
{
    LLVMValueRef all[UINT8_MAX];
    if (g->target->warp)
        return gen_own_lane(g, element);
    for (unsigned i = 0; i < lanes; i++)
        all[i] = LLVMConstInt(element, i, false);
    return LLVMConstVector(all, lanes);
}

LLVMValueRef
gen_all_lanes(gen *g, unsigned lanes)
{
    return gen_splat(g, lanes, LLVMConstInt(g->i1, 1, false));
}

/* the first `count` (i64, at least 0) of them */
LLVMValueRef
gen_first_lanes(gen *g, unsigned lanes, LLVMValueRef count)
{
    LLVMValueRef most = gen_i64(g, lanes);
    LLVMValueRef less = LLVMBuildICmp(g->b, LLVMIntULT, count, most, "");
    count = LLVMBuildTrunc(g->b, LLVMBuildSelect(g->b, less, count, most, ""), g->i32, "");
    return LLVMBuildICmp(g->b, LLVMIntULT, gen_lane_numbers(g, g->i32, lanes), gen_splat(g, lanes, count), "lanes");
}

LLVMValueRef
gen_mask_bits(gen *g, LLVMValueRef mask)
{
    if (g->target->warp)
        return gen_ballot(g, mask);
    LLVMTypeRef type = LLVMIntTypeInContext(g->context, gen_width(mask));
    return LLVMBuildBitCast(g->b, mask, type, "");
}

LLVMValueRef
gen_mask_of_bits(gen *g, LLVMValueRef bits, unsigned lanes)
{
    if (g->target->warp)
        return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, bits, gen_own_lane(g, g->i32), ""), g->i1, "");
    return LLVMBuildBitCast(g->b, bits, LLVMVectorType(g->i1, lanes), "");
}

/* -- ops --------------------------------------------------------------------------------------- */

static LLVMValueRef
any(gen *g, LLVMValueRef mask)
{
    LLVMValueRef bits = gen_mask_bits(g, mask);
    return LLVMBuildICmp(g->b, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
}

static LLVMValueRef
half(gen *g, LLVMValueRef v, unsigned first, unsigned n)
{
    LLVMValueRef which[UINT8_MAX];
    for (unsigned i = 0; i < n; i++)
        which[i] = gen_i32(g, first + i);
    return LLVMBuildShuffleVector(g->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(which, n), "");
}

LLVMValueRef
gen_reduce_lanes(gen *g, rg_rmw how, rg_dtype d, LLVMValueRef v)
{
    if (g->target->warp)
        return gen_reduce_warp(g, how, d, v);
    for (unsigned n = gen_width(v) / 2; n; n /= 2)
        v = gen_combine(g, how, d, half(g, v, 0, n), half(g, v, n, n));
    return LLVMBuildExtractElement(g->b, v, gen_i32(g, 0), "");
}

/* an i32 that takes the place of a lane's number, modulo the lanes */
static LLVMValueRef
lane_number(gen *g, const ir_value *v, unsigned lanes)
{
    LLVMValueRef number = gen_get(g, v);
    return LLVMBuildAnd(g->b, number, LLVMConstInt(LLVMTypeOf(number), lanes - 1, false), "");
}

/* Puts the builder behind v, where v is made. */
static void
go_behind(gen *g, LLVMValueRef v)
{
    LLVMValueRef next = LLVMGetNextInstruction(v);
    while (next && LLVMIsAPHINode(v) && LLVMIsAPHINode(next))
        next = LLVMGetNextInstruction(next);
    if (next)
        LLVMPositionBuilderBefore(g->b, next);
    else
        gen_at(g, LLVMGetInstructionParent(v));
}

LLVMValueRef
gen_copy_of_lanes(gen *g, LLVMValueRef v)
{
    LLVMValueRef copy = gen_alloca(g, LLVMTypeOf(v), NULL, "lanes");
    LLVMBuildStore(g->b, v, copy);
    return copy;
}

LLVMValueRef
gen_lane_of_copy(gen *g, LLVMValueRef copy, LLVMTypeRef element, LLVMValueRef number)
{
    LLVMValueRef at = LLVMBuildInBoundsGEP2(g->b, element, copy, &number, 1, "");
    return LLVMBuildLoad2(g->b, element, at, "");
}

/* Lanes are mostly taken one after the other, in a loop: so that this does not write the vector to memory each time,
 * that is done where the vector is made. */
static LLVMValueRef
any_lane(gen *g, const ir_value *of, LLVMValueRef v, LLVMValueRef number)
{
    scope *s = g->s;
    if (!LLVMIsAInstruction(v))
        return LLVMBuildExtractElement(g->b, v, number, "");
    if (!s->copies)
        s->copies = arena_new_n(g->scratch, LLVMValueRef, g->ir->next_id);
    LLVMValueRef copy = s->copies[of->id];
    if (!copy) {
        LLVMBasicBlockRef here = gen_here(g);
        copy = s->copies[of->id] = gen_alloca(g, LLVMTypeOf(v), NULL, "lanes");
        go_behind(g, v);
        bool is_captured = gen_here(g) == LLVMGetInstructionParent(copy);
        LLVMBuildStore(is_captured ? s->top : g->b, v, copy);
        gen_at(g, here);
    }
    return gen_lane_of_copy(g, copy, gen_element_type(LLVMTypeOf(v)), number);
}

/* a mask's lane is a bit of it */
static LLVMValueRef
get_lane(gen *g, const ir_value *of, LLVMValueRef v, LLVMValueRef number)
{
    if (g->target->warp)
        return gen_take(g, v, LLVMBuildIntCast2(g->b, number, g->i32, false, ""));
    if (LLVMIsConstant(number))
        return LLVMBuildExtractElement(g->b, v, number, "");
    if (gen_element_type(LLVMTypeOf(v)) != g->i1)
        return any_lane(g, of, v, number);
    LLVMValueRef bits = LLVMBuildZExt(g->b, gen_mask_bits(g, v), g->i64, "");
    number = LLVMBuildZExt(g->b, number, g->i64, "");
    return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, bits, number, ""), g->i1, "");
}

static LLVMValueRef
lane_op(gen *g, const ir_op *op)
{
    ir_type to = op->results[0]->type;
    rg_dtype d = (rg_dtype)to.dtype;
    if (op->code == RG_OP_LANE)
        return gen_lane_numbers(g, gen_type(g, d), to.lanes);
    LLVMValueRef x = gen_get(g, op->args[0]);
    switch ((int)op->code) {
    case RG_OP_SPLAT:
        return gen_splat(g, to.lanes, x);
    case RG_OP_LANES_ANY:
        return any(g, x);
    case RG_OP_LANES_BITS:
        return LLVMBuildZExt(g->b, gen_mask_bits(g, x), g->i64, "");
    case RG_OP_LANES_REDUCE:
        return gen_reduce_lanes(g, (rg_rmw)op->rmw, d, x);
    case RG_OP_LANE_GET:
        return get_lane(g, op->args[0], x, lane_number(g, op->args[1], op->args[0]->type.lanes));
    }
    LLVMValueRef number = lane_number(g, op->args[1], op->args[0]->type.lanes);
    unsigned lanes = gen_width(x);
    LLVMTypeRef type = LLVMTypeOf(number);
    LLVMValueRef hit = LLVMBuildICmp(g->b, LLVMIntEQ, gen_lane_numbers(g, type, lanes), gen_splat(g, lanes, number), "");
    return LLVMBuildSelect(g->b, hit, gen_splat(g, lanes, gen_get(g, op->args[2])), x, "");
}

void
gen_lane_op(gen *g, const ir_op *op)
{
    if (op->code == RG_OP_LANES_REDUCE && g->target->warp && gen_sum_waits(g, op))
        return;
    gen_set(g, op->results[0], lane_op(g, op));
}
