/* Sums over all threads of a GPU's task, formed in cells of their own. SPDX-License-Identifier: Apache-2.0
 *
 * As private.c, with which it shares what it is for and where it can be done. Here additions to cells are atomic, which
 * costs a warp nothing as it does not wait for them: a row of cells is for several warps. */
#include "codegen/llvm/nvidia.h"
#include "analysis/sums.h"
#include "rt/gpu/gpu.h"

/* -- at kernel level ------------------------------------------------------------------------------------------- */

static LLVMValueRef
has_few_cells_for_warps(gen *g, const private_sum *sum, LLVMValueRef cells, LLVMValueRef threads, int64_t work)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef most = LLVMBuildUDiv(b, threads, gen_i64(g, IR_SUMS_THREADS_OF_CELL), "");
    LLVMValueRef few = LLVMBuildICmp(b, LLVMIntULE, cells, most, "");
    few = LLVMBuildAnd(b, few, LLVMBuildICmp(b, LLVMIntULE, cells, gen_i64(g, RT_GPU_ROW_MAX), ""), "");
    few = LLVMBuildAnd(b, few, LLVMBuildICmp(b, LLVMIntUGE, threads, gen_i64(g, ir_sum_threads(work)), ""), "");
    if (gen_presence(g, sum->buffer, sum->plane) == THERE)
        return few;
    return LLVMBuildAnd(b, few, LLVMBuildIsNotNull(b, gen_plane(g, sum->buffer, sum->plane), ""), "");
}

/* Where the row begins that this thread adds to, NULL if none does; each sum's `first`. */
LLVMValueRef
gen_simt_private_begin(gen *g, private_sum *sums, uint32_t n, LLVMValueRef threads, int64_t work)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef total = gen_i64(g, 0), none = gen_i64(g, -1);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef cells = gen_private_cells(g, &sums[i]), few = has_few_cells_for_warps(g, &sums[i], cells, threads, work);
        sums[i].first = LLVMBuildSelect(b, few, total, none, "");
        total = LLVMBuildAdd(b, total, LLVMBuildSelect(b, few, cells, gen_i64(g, 0), ""), "");
    }
    LLVMValueRef args[2] = {g->s->launch, total};
    LLVMValueRef row = gen_runtime_call(g, b, "rt_gpu_private", g->ptr, 2, args);
    LLVMValueRef missing = LLVMBuildIsNull(b, row, "");
    for (uint32_t i = 0; i < n; i++)
        sums[i].first = LLVMBuildSelect(b, missing, none, sums[i].first, "");
    g->gpu->has_rows = true;
    return row;
}

/* Each sum's `first`, and how many cells a row has. What there is room for follows from sizes alone. */
LLVMValueRef
gen_simt_fixed_cells(gen *g, const ir_op *op, private_sum *sums, uint32_t n)
{
    LLVMBuilderRef b = g->b;
    int64_t most = op->records || op->rewinds ? RT_GPU_FIXED_KEPT : RT_GPU_FIXED_CELLS;
    LLVMValueRef total = gen_i64(g, 0);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef cells = gen_private_cells(g, &sums[i]), sum = LLVMBuildAdd(b, total, cells, "");
        LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULE, cells, gen_i64(g, most), "");
        fits = LLVMBuildAnd(b, fits, LLVMBuildICmp(b, LLVMIntULE, sum, gen_i64(g, most), ""), "");
        if (gen_presence(g, sums[i].buffer, sums[i].plane) != THERE)
            fits = LLVMBuildAnd(b, fits, LLVMBuildIsNotNull(b, gen_plane(g, sums[i].buffer, sums[i].plane), ""), "");
        sums[i].first = LLVMBuildSelect(b, fits, total, gen_i64(g, -1), "");
        total = LLVMBuildSelect(b, fits, sum, total, "");
    }
    g->gpu->has_rows = true;
    return total;
}

void
gen_simt_fixed_add(gen *g, const gen_task *task, LLVMValueRef rows, LLVMValueRef row, LLVMValueRef pieces)
{
    for (uint32_t i = 0; i < task->nprivate; i++) {
        const private_sum *sum = &task->private[i];
        LLVMBasicBlockRef add = gen_block(g, "sums"), after = gen_block(g, "summed");
        LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSGE, sum->first, gen_i64(g, 0), ""), add, after);
        gen_at(g, add);
        LLVMValueRef first = sum->first, cells = LLVMBuildInBoundsGEP2(g->b, g->f64, rows, &first, 1, "");
        LLVMValueRef args[8] = {g->s->launch, cells, row, pieces, gen_private_cells(g, sum),
                                gen_plane(g, sum->buffer, sum->plane),
                                gen_i32(g, ir_bytes((rg_dtype)sum->buffer->type.dtype)), gen_i32(g, g->options->noalias)};
        gen_runtime_call(g, g->b, "rt_gpu_fixed_add", g->nothing, 8, args);
        LLVMBuildBr(g->b, after);
        gen_at(g, after);
    }
}

/* -- in the task ------------------------------------------------------------------------------------------------- */

void
gen_simt_private_enter(gen *g, LLVMValueRef row)
{
    scope *s = g->s;
    s->row = gen_global(g, s->top, row);
    for (uint32_t i = 0; i < s->nsums; i++) {
        private_sum *sum = &s->sums[i];
        LLVMValueRef cells = LLVMBuildGEP2(s->top, g->f64, row, &sum->first, 1, "cells");
        sum->cells = gen_global(g, s->top, cells);
        sum->used = LLVMBuildICmp(s->top, LLVMIntSGE, sum->first, gen_i64(g, 0), "");
    }
}

/* Nobody waits for the sum, nor cares for the order; or the row is the warp's own, and its lanes add in turn. */
static void
add_to_warps_cell(gen *g, const gen_reach *r, LLVMValueRef value)
{
    if (g->options->deterministic) {
        gen_turns turns = gen_turns_begin(g, r->at, r->mask);
        LLVMValueRef old = gen_mark_own(g, LLVMBuildLoad2(g->b, g->f64, r->at, ""));
        gen_mark_own(g, LLVMBuildStore(g->b, LLVMBuildFAdd(g->b, old, value, ""), r->at));
        gen_turns_end(g, &turns);
        return;
    }
    gen_some some = gen_some_begin(g, r->mask);
    if (gen_adds_unseen(g, RG_F64))
        gen_add_unseen(g, r, r->at, value);
    else
        gen_mark_own(g, LLVMBuildAtomicRMW(g->b, LLVMAtomicRMWBinOpFAdd, r->at, value, LLVMAtomicOrderingMonotonic, false));
    gen_some_end(g, &some);
}

void
gen_simt_private_add_at(gen *g, LLVMValueRef number, LLVMValueRef mask, LLVMValueRef value)
{
    LLVMValueRef wide = LLVMBuildZExt(g->b, number, g->i64, "");
    gen_reach r = {.dtype = RG_F64, .own = true, .mask = mask};
    r.at = LLVMBuildInBoundsGEP2(g->b, g->f64, g->s->row, &wide, 1, "");
    add_to_warps_cell(g, &r, value);
}

static LLVMValueRef
cells_of(gen *g, const ir_op *op, const private_sum *sum)
{
    if (!op->direction || op->beside)
        return sum->cells;
    LLVMValueRef skip = LLVMBuildNSWMul(g->b, gen_elements(g, op->args[0]), gen_i64(g, op->direction), "");
    return LLVMBuildInBoundsGEP2(g->b, g->f64, sum->cells, &skip, 1, "");
}

static LLVMValueRef
value_for_cell(gen *g, const ir_op *op, LLVMValueRef value)
{
    return gen_cast(g, (rg_dtype)op->args[0]->type.dtype, RG_F64, value);
}

/* This thread's addition; whatever op's mask says, unless lanes add in turn. */
void
gen_simt_private_own(gen *g, const ir_op *op, const private_sum *sum, LLVMValueRef value)
{
    gen_reach r = {.dtype = RG_F64, .own = true};
    gen_reach_from(g, op, &r, g->f64, cells_of(g, op, sum), true);
    r.at = gen_own_address(g, &r);
    r.mask = g->options->deterministic ? r.mask : NULL;
    add_to_warps_cell(g, &r, value_for_cell(g, op, value));
}

/* As gen_private_add. */
LLVMBasicBlockRef
gen_simt_private_add(gen *g, const ir_op *op)
{
    const private_sum *sum = gen_private_sum(g, op);
    if (!sum)
        return NULL;
    LLVMBasicBlockRef own = gen_block(g, "own"), shared = gen_block(g, "shared"), end = gen_block(g, "after");
    LLVMBuildCondBr(g->b, sum->used, own, shared);
    gen_at(g, own);
    gen_reach r = {.dtype = RG_F64, .own = true, .at = cells_of(g, op, sum)};
    LLVMValueRef number = gen_number_in_copy(g, op);
    if (number)
        r.at = LLVMBuildInBoundsGEP2(g->b, g->f64, r.at, &number, 1, "");
    r.mask = LLVMBuildICmp(g->b, LLVMIntEQ, gen_own_lane(g, g->i32), gen_i32(g, 0), "");
    add_to_warps_cell(g, &r, value_for_cell(g, op, gen_get(g, gen_value_of(op))));
    LLVMBuildBr(g->b, end);
    gen_at(g, shared);
    return end;
}
