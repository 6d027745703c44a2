/* Reductions of parallel loops: a sum for each chunk, combined chunk by chunk, so that the result
 * does not depend on which thread ran which. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/gen.h"

/* Contributions are added up in f64 where they are narrower. */
rg_dtype
gen_sum_dtype(const ir_op *op, uint32_t r)
{
    rg_dtype d = (rg_dtype)op->results[r]->type.dtype;
    return op->reduce[r] == RG_RMW_ADD && ir_is_float(d) ? RG_F64 : d;
}

LLVMValueRef
gen_contribute(gen *g, const ir_op *op, uint32_t r, LLVMValueRef sum, LLVMValueRef value)
{
    rg_dtype d = (rg_dtype)op->results[r]->type.dtype, wide = gen_sum_dtype(op, r);
    return gen_combine(g, (rg_rmw)op->reduce[r], wide, sum, gen_cast(g, d, wide, value));
}

LLVMValueRef *
gen_identities(gen *g, const ir_op *op, unsigned lanes)
{
    LLVMValueRef *sums = arena_new_n(g->scratch, LLVMValueRef, op->nresults + 1);
    for (uint32_t r = 0; r < op->nresults; r++)
        sums[r] = gen_splat(g, lanes, gen_reduce_identity(g, (rg_rmw)op->reduce[r], gen_sum_dtype(op, r)));
    return sums;
}

static LLVMValueRef
initial(gen *g, const ir_op *op, uint32_t r)
{
    return gen_get(g, op->args[op->nargs - op->nresults + r]);
}

/* initial value and sum, in the sum's type, then rounded once */
LLVMValueRef
gen_finish_sum(gen *g, const ir_op *op, uint32_t r, LLVMValueRef sum)
{
    rg_dtype d = (rg_dtype)op->results[r]->type.dtype, wide = gen_sum_dtype(op, r);
    LLVMValueRef first = gen_cast(g, d, wide, initial(g, op, r));
    return gen_cast(g, wide, d, gen_combine(g, (rg_rmw)op->reduce[r], wide, first, sum));
}

/* the slot of this chunk: one 8-byte cell for each reduction */
LLVMValueRef
gen_partial_cell(gen *g, LLVMValueRef partials, LLVMValueRef slot, uint32_t n, uint32_t r)
{
    LLVMValueRef at = LLVMBuildNSWMul(g->b, slot, gen_i64(g, n), "");
    at = LLVMBuildNSWAdd(g->b, at, gen_i64(g, r), "");
    return LLVMBuildInBoundsGEP2(g->b, g->i64, partials, &at, 1, "");
}

void
gen_store_partials(gen *g, const ir_op *op, LLVMValueRef partials, LLVMValueRef *sums)
{
    uint32_t n = op->nresults;
    if (!n)
        return;
    LLVMValueRef at = gen_i64(g, offsetof(rt_worker, index));
    at = LLVMBuildInBoundsGEP2(g->b, g->i8, g->s->worker, &at, 1, "");
    LLVMValueRef slot = LLVMBuildSExt(g->b, LLVMBuildLoad2(g->b, g->i32, at, ""), g->i64, "");
    for (uint32_t r = 0; r < n; r++) {
        rg_dtype d = gen_sum_dtype(op, r);
        LLVMValueRef sum = gen_width(sums[r]) ? gen_reduce_lanes(g, (rg_rmw)op->reduce[r], d, sums[r]) : sums[r];
        LLVMBuildStore(g->b, gen_to_memory(g, d, sum), gen_partial_cell(g, partials, slot, n, r));
    }
}

/* chunks of a parallel loop at most */
LLVMValueRef
gen_slots(gen *g, LLVMBuilderRef b)
{
    if (g->options->deterministic)
        return gen_i32(g, RT_FIXED_CHUNKS);
    return gen_runtime_call(g, b, "rt_cpu_slots", g->i32, 1, &g->s->launch);
}

/* Room for the partial results of a loop, made once where the kernel begins: on the stack where they are few, since
 * threads and loops may be many and stacks small. */
LLVMValueRef
gen_partials_memory(gen *g, uint32_t n)
{
    LLVMValueRef slots = gen_slots(g, g->s->top);
    LLVMValueRef cells = LLVMBuildMul(g->s->top, slots, gen_i32(g, (int)n), "");
    LLVMValueRef most = gen_i32(g, RT_PARTIALS_HERE / 8);
    LLVMValueRef few = LLVMBuildICmp(g->s->top, LLVMIntULE, cells, most, "");
    LLVMValueRef here = gen_alloca(g, g->i64, LLVMBuildSelect(g->s->top, few, cells, gen_i32(g, 0), ""), "partials");
    LLVMValueRef bytes = LLVMBuildZExt(g->s->top, cells, g->i64, "");
    bytes = LLVMBuildMul(g->s->top, bytes, gen_i64(g, 8), "");
    return gen_runtime_call(g, g->s->top, "rt_cpu_partials", g->ptr, 3, (LLVMValueRef[]){g->s->launch, bytes, here});
}

/* chunk by chunk, in order */
void
gen_combine_partials(gen *g, const ir_op *op, LLVMValueRef partials, LLVMValueRef used)
{
    uint32_t n = op->nresults;
    LLVMValueRef *sums = gen_identities(g, op, 0), *none = gen_identities(g, op, 0);
    LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntSGT, used, gen_i32(g, 0), "");
    LLVMBasicBlockRef before = gen_here(g), inside = gen_block(g, "combine");
    LLVMValueRef enter = LLVMBuildCondBr(g->b, some, inside, inside);
    gen_at(g, inside);
    LLVMValueRef last = LLVMBuildSExt(g->b, used, g->i64, "");
    counted c = gen_counted_begin(g, NULL, gen_i64(g, 0), last, n, sums);
    for (uint32_t r = 0; r < n; r++) {
        rg_dtype d = gen_sum_dtype(op, r);
        LLVMValueRef cell = gen_partial_cell(g, partials, c.at, n, r);
        LLVMValueRef part = LLVMBuildLoad2(g->b, gen_memory_type(g, d), cell, "");
        part = gen_from_memory(g, d, part);
        sums[r] = gen_combine(g, (rg_rmw)op->reduce[r], d, c.sums[r], part);
    }
    gen_counted_end(g, &c, sums);
    LLVMBasicBlockRef end = gen_here(g), after = gen_block(g, "combined");
    LLVMBuildBr(g->b, after);
    LLVMSetSuccessor(enter, 1, after);
    gen_at(g, after);
    LLVMBasicBlockRef from[2] = {before, end};
    for (uint32_t r = 0; r < n; r++) {
        LLVMValueRef sum = LLVMBuildPhi(g->b, LLVMTypeOf(none[r]), "");
        LLVMAddIncoming(sum, (LLVMValueRef[]){none[r], sums[r]}, from, 2);
        sums[r] = sum;
    }
    for (uint32_t r = 0; r < n; r++)
        gen_set(g, op->results[r], gen_finish_sum(g, op, r, sums[r]));
}
