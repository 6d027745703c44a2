/* Reductions of a GPU's parallel loops: each thread's sums between pieces, rows of all warps or pieces, what they make
 * together. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/nvidia.h"
#include "rt/gpu/gpu.h"

/* neither LLVM nor the assembler unrolls such a loop */
static const char rolled[] = "llvm.loop.unroll.disable";

static LLVMValueRef
sum_cell(gen *g, LLVMBuilderRef b, LLVMValueRef sums, uint32_t r)
{
    LLVMValueRef number = gen_i64(g, r);
    return LLVMBuildInBoundsGEP2(b, g->i64, sums, &number, 1, "");
}

/* Where a thread's sums are between pieces: one cell of 8 bytes for each. */
LLVMValueRef
gen_sums_of_warp(gen *g, const ir_op *op)
{
    LLVMValueRef sums = gen_alloca(g, LLVMArrayType2(g->i64, op->nresults), NULL, "sums");
    LLVMValueRef *none = gen_identities(g, op, 0);
    gen_store_sums(g, op, sums, none);
    return sums;
}

LLVMValueRef *
gen_load_sums(gen *g, const ir_op *op, LLVMValueRef at)
{
    LLVMValueRef *sums = arena_new_n(g->scratch, LLVMValueRef, op->nresults + 1);
    for (uint32_t r = 0; r < op->nresults; r++) {
        rg_dtype d = gen_sum_dtype(op, r);
        LLVMValueRef cell = LLVMBuildLoad2(g->b, gen_memory_type(g, d), sum_cell(g, g->b, at, r), "");
        sums[r] = gen_from_memory(g, d, cell);
    }
    return sums;
}

void
gen_store_sums(gen *g, const ir_op *op, LLVMValueRef at, LLVMValueRef *sums)
{
    for (uint32_t r = 0; r < op->nresults; r++)
        LLVMBuildStore(g->b, gen_to_memory(g, gen_sum_dtype(op, r), sums[r]), sum_cell(g, g->b, at, r));
}

static LLVMValueRef
own_warp(gen *g)
{
    LLVMValueRef warp = gen_warp_call(g, g->s->top, "rt_grid_warp", g->i32, 0, NULL);
    return LLVMBuildZExt(g->b, warp, g->i64, "");
}

static void
store_row(gen *g, const ir_op *op, LLVMValueRef rows, LLVMValueRef row, LLVMValueRef *sums)
{
    uint32_t n = op->nresults;
    for (uint32_t r = 0; r < n; r++)
        LLVMBuildStore(g->b, gen_to_memory(g, gen_sum_dtype(op, r), sums[r]), gen_partial_cell(g, rows, row, n, r));
}

/* Each lane has numbers, of all lanes together the first one's are right. The steps of the butterfly are a loop: as
 * straight code, five steps for each of a dozen numbers, they would be half of what a gradient's assembler sees. */
static void
reduce_warp(gen *g, const ir_op *op, LLVMValueRef *sums)
{
    uint32_t n = op->nresults;
    LLVMBuilderRef b = g->b;
    LLVMValueRef *next = arena_new_n(g->scratch, LLVMValueRef, n);
    LLVMBasicBlockRef before = gen_here(g), halve = gen_block(g, "halve"), after = gen_block(g, "reduced");
    LLVMBuildBr(b, halve);
    gen_at(g, halve);
    LLVMValueRef distance = LLVMBuildPhi(b, g->i32, "distance"), own = gen_own_lane(g, g->i32);
    for (uint32_t r = 0; r < n; r++) {
        LLVMValueRef sum = LLVMBuildPhi(b, LLVMTypeOf(sums[r]), "sum");
        LLVMAddIncoming(sum, &sums[r], &before, 1);
        sums[r] = sum;
    }
    LLVMValueRef other = LLVMBuildXor(b, own, distance, "");
    for (uint32_t r = 0; r < n; r++)
        next[r] = gen_combine(g, (rg_rmw)op->reduce[r], gen_sum_dtype(op, r), sums[r], gen_take(g, sums[r], other));
    LLVMValueRef nearer = LLVMBuildLShr(b, distance, gen_i32(g, 1), "");
    LLVMBasicBlockRef from[2] = {before, gen_here(g)};
    LLVMAddIncoming(distance, (LLVMValueRef[]){gen_i32(g, RT_WARP / 2), nearer}, from, 2);
    gen_mark_loop(LLVMBuildCondBr(b, LLVMBuildIsNull(b, nearer, ""), after, halve), rolled, NULL);
    for (uint32_t r = 0; r < n; r++) {
        LLVMAddIncoming(sums[r], &next[r], &from[1], 1);
        sums[r] = next[r];
    }
    gen_at(g, after);
}

/* Pieces that are run again add to what the warp's pieces before them have left. */
static void
add_row_before(gen *g, const ir_op *op, LLVMValueRef rows, LLVMValueRef *sums)
{
    LLVMValueRef phase = gen_runtime_call(g, g->b, "rt_gpu_phase", g->i32, 1, &g->s->launch), warp = own_warp(g);
    LLVMValueRef again = LLVMBuildICmp(g->b, LLVMIntNE, phase, gen_i32(g, 0), "");
    for (uint32_t r = 0; r < op->nresults; r++) {
        rg_dtype d = gen_sum_dtype(op, r);
        LLVMValueRef cell = gen_partial_cell(g, rows, warp, op->nresults, r);
        LLVMValueRef before = gen_from_memory(g, d, LLVMBuildLoad2(g->b, gen_memory_type(g, d), cell, ""));
        LLVMValueRef both = gen_combine(g, (rg_rmw)op->reduce[r], d, before, sums[r]);
        sums[r] = LLVMBuildSelect(g->b, again, both, sums[r], "");
    }
}

/* The warp's row; returns where the rows are. The grid may have waited for the pieces already: then it waits again. */
LLVMValueRef
gen_leave_sums(gen *g, const ir_op *op, LLVMValueRef at)
{
    LLVMValueRef *sums = gen_load_sums(g, op, at);
    if (gen_group_lanes(op))
        reduce_warp(g, op, sums);
    LLVMValueRef args[2] = {g->s->launch, gen_i32(g, op->nresults)};
    LLVMValueRef rows = gen_or_leave(g, gen_runtime_call(g, g->b, "rt_gpu_partials", g->ptr, 2, args));
    gen_kernel_writes(g);
    gen_some some = gen_first_begin(g);
    if (g->role == GEN_RUNS)
        add_row_before(g, op, rows, sums);
    store_row(g, op, rows, own_warp(g), sums);
    gen_some_end(g, &some);
    return rows;
}

/* The sums of rows first, first + step, ... below `used`, each lane its own; then of all lanes together. */
static void
sum_rows(gen *g, const ir_op *op, LLVMValueRef rows, LLVMValueRef first, LLVMValueRef step, LLVMValueRef used,
         LLVMValueRef *sums)
{
    uint32_t n = op->nresults;
    LLVMBuilderRef b = g->b;
    LLVMValueRef *none = gen_identities(g, op, 0), *next = arena_new_n(g->scratch, LLVMValueRef, n);
    LLVMBasicBlockRef before = gen_here(g), test = gen_block(g, "rows"), row = gen_block(g, "row"),
                      after = gen_block(g, "summed");
    LLVMBuildBr(b, test);
    gen_at(g, test);
    LLVMValueRef at = LLVMBuildPhi(b, g->i64, "at");
    for (uint32_t r = 0; r < n; r++)
        sums[r] = LLVMBuildPhi(b, LLVMTypeOf(none[r]), "sum");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, at, used, ""), row, after);
    gen_at(g, row);
    for (uint32_t r = 0; r < n; r++) {
        rg_dtype d = gen_sum_dtype(op, r);
        LLVMValueRef part = LLVMBuildLoad2(b, gen_memory_type(g, d), gen_partial_cell(g, rows, at, n, r), "");
        next[r] = gen_combine(g, (rg_rmw)op->reduce[r], d, sums[r], gen_from_memory(g, d, part));
    }
    LLVMValueRef later = LLVMBuildNSWAdd(b, at, step, "");
    LLVMBasicBlockRef from[2] = {before, gen_here(g)};
    gen_mark_loop(LLVMBuildBr(b, test), rolled, NULL);
    LLVMAddIncoming(at, (LLVMValueRef[]){first, later}, from, 2);
    for (uint32_t r = 0; r < n; r++)
        LLVMAddIncoming(sums[r], (LLVMValueRef[]){none[r], next[r]}, from, 2);
    gen_at(g, after);
    reduce_warp(g, op, sums);
}

static void
set_reductions(gen *g, const ir_op *op, LLVMValueRef *sums)
{
    for (uint32_t r = 0; r < op->nresults; r++) {
        /* of floats all get one lane's: two NaN, or zeros of both signs, are not the same in another order */
        LLVMValueRef sum = ir_is_float(gen_sum_dtype(op, r)) ? gen_take_first(g, sums[r]) : sums[r];
        gen_set(g, op->results[r], gen_finish_sum(g, op, r, sum));
    }
}

/* Where there are many rows the first FEW_ROWS warps make as many of them: warp w of rows w, w + FEW_ROWS, ... its own. */
enum { FEW_ROWS = 64, MANY_ROWS = 1024 };

/* Every warp sums up all rows in the same order; where there are many, these are the rows that a round before has left. */
void
gen_combine_rows(gen *g, const ir_op *op, LLVMValueRef rows)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef *sums = arena_new_n(g->scratch, LLVMValueRef, op->nresults), warp = own_warp(g);
    gen_kernel_reads(g);
    LLVMValueRef used = gen_runtime_call(g, b, "rt_gpu_slots", g->i32, 1, &g->s->running);
    used = LLVMBuildZExt(b, used, g->i64, "");
    LLVMValueRef many = LLVMBuildICmp(b, LLVMIntUGT, used, gen_i64(g, MANY_ROWS), "");
    if (g->plan) /* there is one warp */
        many = LLVMConstNull(g->i1);
    LLVMValueRef own = gen_own_lane(g, g->i64), spread = LLVMBuildMul(b, own, gen_i64(g, FEW_ROWS), "");
    LLVMValueRef mine = LLVMBuildICmp(b, LLVMIntULT, warp, gen_i64(g, FEW_ROWS), "");
    LLVMValueRef leads = LLVMBuildICmp(b, LLVMIntEQ, gen_own_lane(g, g->i32), gen_i32(g, 0), "");
    LLVMBasicBlockRef before = gen_here(g), round = gen_block(g, "round"), fold = gen_block(g, "fold"),
                      done = gen_block(g, "combined");
    spread = LLVMBuildSelect(b, mine, LLVMBuildAdd(b, spread, warp, ""), used, "");
    LLVMBuildBr(b, round);
    gen_at(g, round);
    LLVMValueRef folds = LLVMBuildPhi(b, g->i1, "folds"), left = LLVMBuildPhi(b, g->i64, "left");
    LLVMValueRef first = LLVMBuildSelect(b, folds, spread, own, "");
    LLVMValueRef step = LLVMBuildSelect(b, folds, gen_i64(g, FEW_ROWS * RT_WARP), gen_i64(g, RT_WARP), "");
    sum_rows(g, op, rows, first, step, left, sums);
    LLVMBuildCondBr(b, folds, fold, done);
    gen_at(g, fold);
    gen_kernel_writes(g);
    gen_some some = gen_some_begin(g, LLVMBuildAnd(b, mine, leads, ""));
    store_row(g, op, rows, own_warp(g), sums);
    gen_some_end(g, &some);
    gen_kernel_reads(g);
    gen_way_back(g, NULL);
    LLVMBasicBlockRef from[2] = {before, gen_here(g)};
    gen_mark_loop(LLVMBuildBr(b, round), rolled, NULL);
    LLVMAddIncoming(folds, (LLVMValueRef[]){many, LLVMConstNull(g->i1)}, from, 2);
    LLVMAddIncoming(left, (LLVMValueRef[]){used, gen_i64(g, FEW_ROWS)}, from, 2);
    gen_at(g, done);
    set_reductions(g, op, sums);
}

/* -- by piece: deterministic code ------------------------------------------------------------------------------- */

void
gen_fixed_clear(gen *g, const ir_op *op, LLVMValueRef at)
{
    gen_store_sums(g, op, at, gen_identities(g, op, 0));
}

void
gen_fixed_leave(gen *g, const ir_op *op, LLVMValueRef at, LLVMValueRef rows, LLVMValueRef piece)
{
    LLVMValueRef *sums = gen_load_sums(g, op, at);
    if (gen_group_lanes(op))
        reduce_warp(g, op, sums);
    gen_some some = gen_first_begin(g);
    store_row(g, op, rows, piece, sums);
    gen_some_end(g, &some);
}

/* Where there are many rows, row w becomes the sum of rows w, w + FEW_ROWS, ... first, whichever warp does it. */
static void
fold_rows(gen *g, const ir_op *op, LLVMValueRef rows, LLVMValueRef pieces)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef *sums = arena_new_n(g->scratch, LLVMValueRef, op->nresults), warp = own_warp(g);
    LLVMValueRef warps = gen_warp_call(g, g->s->top, "rt_grid_warps", g->i32, 0, NULL);
    warps = LLVMBuildZExt(b, warps, g->i64, "");
    LLVMValueRef spread = LLVMBuildMul(b, gen_own_lane(g, g->i64), gen_i64(g, FEW_ROWS), "");
    LLVMBasicBlockRef before = gen_here(g), test = gen_block(g, "folds"), fold = gen_block(g, "fold"),
                      after = gen_block(g, "folded");
    LLVMBuildBr(b, test);
    gen_at(g, test);
    LLVMValueRef row = LLVMBuildPhi(b, g->i64, "row");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, row, gen_i64(g, FEW_ROWS), ""), fold, after);
    gen_at(g, fold);
    sum_rows(g, op, rows, LLVMBuildAdd(b, spread, row, ""), gen_i64(g, FEW_ROWS * RT_WARP), pieces, sums);
    gen_some some = gen_first_begin(g); /* all lanes have read theirs */
    store_row(g, op, rows, row, sums);
    gen_some_end(g, &some);
    LLVMValueRef next = LLVMBuildAdd(b, row, warps, "");
    gen_way_back(g, NULL);
    LLVMBasicBlockRef from[2] = {before, gen_here(g)};
    gen_mark_loop(LLVMBuildBr(b, test), rolled, NULL);
    LLVMAddIncoming(row, (LLVMValueRef[]){warp, next}, from, 2);
    gen_at(g, after);
}

/* In an order that follows from the number of pieces alone. */
void
gen_fixed_combine(gen *g, const ir_op *op, LLVMValueRef rows, LLVMValueRef pieces)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef *sums = arena_new_n(g->scratch, LLVMValueRef, op->nresults);
    LLVMValueRef many = LLVMBuildICmp(b, LLVMIntUGT, pieces, gen_i64(g, MANY_ROWS), "");
    LLVMBasicBlockRef before = gen_here(g), folds = gen_block(g, "many"), sum = gen_block(g, "few");
    LLVMBuildCondBr(b, many, folds, sum);
    gen_at(g, folds);
    gen_kernel_writes(g);
    fold_rows(g, op, rows, pieces);
    LLVMBasicBlockRef from[2] = {before, gen_here(g)};
    LLVMBuildBr(b, sum);
    gen_at(g, sum);
    LLVMValueRef left = LLVMBuildPhi(b, g->i64, "left");
    LLVMAddIncoming(left, (LLVMValueRef[]){pieces, gen_i64(g, FEW_ROWS)}, from, 2);
    gen_kernel_reads(g);
    sum_rows(g, op, rows, gen_own_lane(g, g->i64), gen_i64(g, RT_WARP), left, sums);
    set_reductions(g, op, sums);
}
