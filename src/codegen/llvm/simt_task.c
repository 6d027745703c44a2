/* A kernel of GPU threads: its entry, parallel loops, reductions. SPDX-License-Identifier: Apache-2.0
 *
 * All threads of the grid run the kernel-level code. Where it comes to a parallel loop their warps take pieces of it
 * (rt/gpu/gpu.h); the task is a function that is inlined there. */
#include "codegen/llvm/nvidia.h"
#include "analysis/pages.h"
#include "rt/gpu/gpu.h"

/* neither LLVM nor the assembler unrolls such a loop */
static const char rolled[] = "llvm.loop.unroll.disable";

/* -- the entry ---------------------------------------------------------------------------------------- */

static void
mark_function(gen *g, LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(g->context, kind, 0));
}

void
gen_mark_task(gen *g, LLVMValueRef fn)
{
    gen_mark_warp(g, fn);
    mark_function(g, fn, "alwaysinline");
    mark_function(g, fn, "nounwind");
}

LLVMValueRef
gen_kernel_worker(gen *g, LLVMBuilderRef b)
{
    LLVMValueRef at = gen_i64(g, offsetof(rt_gpu_thread, kernel));
    return LLVMBuildInBoundsGEP2(b, g->i8, g->s->launch, &at, 1, "worker");
}

static LLVMValueRef
reserve_record(gen *g, size_t bytes, const char *name)
{
    LLVMValueRef at = gen_alloca(g, LLVMArrayType2(g->i8, bytes), NULL, name);
    LLVMSetAlignment(at, _Alignof(rt_gpu_thread));
    return at;
}

static void
enter_task(gen *g, LLVMValueRef launch)
{
    scope *s = g->s;
    s->launch = reserve_record(g, sizeof(rt_gpu_thread), "thread");
    s->warp = reserve_record(g, sizeof(rt_gpu_worker), "warp");
    LLVMValueRef args[3] = {s->launch, s->warp, launch};
    gen_runtime_call(g, s->top, "rt_gpu_enter", g->nothing, 3, args);
    LLVMValueRef alone = gen_runtime_call(g, s->top, "rt_gpu_alone", g->i32, 1, &s->launch);
    s->is_alone = LLVMBuildICmp(s->top, LLVMIntNE, alone, gen_i32(g, 0), "alone");
}

void
gen_simt_kernel(gen *g)
{
    const ir_region *body = g->ir->body;
    const ir_op *yield = ir_terminator(body);
    LLVMTypeRef params[2] = {g->ptr, g->ptr};
    LLVMValueRef fn = LLVMAddFunction(g->module, g->symbol, LLVMFunctionType(g->nothing, params, 2, false));
    gen_mark_warp(g, fn);
    mark_function(g, fn, "nounwind");
    g->beside = 0; /* directions stay scalars: a thread has no vectors */
    scope *s = gen_scope_open(g, body, fn, false);
    s->args = LLVMGetParam(fn, 1);
    enter_task(g, LLVMGetParam(fn, 0));
    gen_region(g, body);
    if (yield)
        gen_results(g, yield);
    gen_tape_leave(g);
    gen_leave(g);
    gen_scope_close(g);
}

/* -- what the runtime is told of a task ------------------------------------------------------------------ */

bool
gen_runs_once(const ir_op *parallel)
{
    uint32_t rank = parallel->attr.rank;
    uint64_t lo, hi;
    for (uint32_t k = 0; k < rank; k++)
        if (!ir_is_const(parallel->args[k], &lo) || !ir_is_const(parallel->args[rank + k], &hi) || hi != lo + 1)
            return false;
    return true;
}

/* stops at a loop that not all threads run equally often */
static bool
is_even(ir_op *op, void *user)
{
    const ir_region *body = user;
    bool inside = op->code == RG_OP_FOR && (ir_region_inside(op->args[0]->region, body) ||
                                            ir_region_inside(op->args[1]->region, body));
    bool known = inside && ir_is_const(op->args[0], NULL) && ir_is_const(op->args[1], NULL);
    return op->code != RG_OP_LOOP && (!inside || known);
}

/* What a thread that finds no page does: it begins anew, or it cannot. What a task takes back is gone then. */
static int32_t
page_flags(const ir_op *op)
{
    ir_page_use use = ir_page_use_of(op->regions[0]);
    return !use.pages ? 0 : use.late || op->rewinds ? RT_GPU_ONCE : RT_GPU_REPEATS;
}

static int32_t
flags_of(const ir_op *op)
{
    int32_t flags = op->rewinds ? RT_KEEP_REWINDS : op->records ? RT_KEEP_RECORDS : 0;
    flags |= gen_group_lanes(op) ? RT_GPU_LANES : 0;
    flags |= ir_walk(op->regions[0], is_even, op->regions[0]) ? 0 : RT_GPU_BALANCES;
    flags |= page_flags(op);
    bool narrow = op->attr.rank == 1 && ir_bits((rg_dtype)op->args[0]->type.dtype) <= 32;
    return flags | (gen_group_lanes(op) && narrow ? RT_GPU_SINGLE : 0);
}

bool
gen_single_groups(const ir_op *parallel)
{
    return flags_of(parallel) & RT_GPU_SINGLE;
}

/* ops that have nothing to do with memory, or with what others do */
static bool
is_quiet(const ir_op *op)
{
    if (op->code == RG_OP_YIELD)
        return !op->nargs;
    return ir_ops[op->code].form != IR_OTHER || op->code == RG_OP_CONST || op->code == RG_OP_EXTENT ||
           op->code == RG_OP_TAPE_END;
}

/* whether anything follows for which the task has to be done */
static bool
is_last(const ir_op *op)
{
    if (op->nresults)
        return false;
    for (const ir_region *r = op->parent; r; r = r->op ? r->op->parent : NULL) {
        for (const ir_op *next = op->next; next; next = next->next)
            if (!is_quiet(next))
                return false;
        op = r->op;
        if (op && op->code != RG_OP_IF)
            return false;
    }
    return true;
}

/* -- the loop over pieces ---------------------------------------------------------------------------------- */

static void
run_pieces(gen *g, LLVMValueRef flags, LLVMValueRef task, LLVMValueRef closure)
{
    LLVMValueRef lo = gen_alloca(g, g->i64, NULL, "lo"), hi = gen_alloca(g, g->i64, NULL, "hi");
    LLVMBasicBlockRef next = gen_block(g, "next"), piece = gen_block(g, "piece"), done = gen_block(g, "done");
    LLVMBuildBr(g->b, next);
    gen_at(g, next);
    LLVMValueRef args[5] = {g->s->launch, g->s->running, flags, lo, hi};
    LLVMValueRef more = gen_runtime_call(g, g->b, "rt_gpu_next", g->i32, 5, args);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, more, gen_i32(g, 0), ""), piece, done);
    gen_at(g, piece);
    LLVMValueRef given[5] = {closure, LLVMBuildLoad2(g->b, g->i64, lo, ""), LLVMBuildLoad2(g->b, g->i64, hi, ""),
                             g->s->warp, g->s->running};
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(task), task, given, 5, "");
    gen_way_back(g, NULL); /* also where no loop is inside: lanes are together when they ask for the next piece */
    LLVMBuildBr(g->b, next);
    gen_at(g, done);
}

/* -- reductions --------------------------------------------------------------------------------------------- */

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
store_row(gen *g, const ir_op *op, LLVMValueRef rows, LLVMValueRef *sums)
{
    uint32_t n = op->nresults;
    LLVMValueRef warp = own_warp(g);
    for (uint32_t r = 0; r < n; r++)
        LLVMBuildStore(g->b, gen_to_memory(g, gen_sum_dtype(op, r), sums[r]), gen_partial_cell(g, rows, warp, n, r));
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

/* The warp's row; returns where the rows are. The grid may have waited for the pieces already: then it waits again. */
static LLVMValueRef
leave_sums(gen *g, const ir_op *op, LLVMValueRef at)
{
    LLVMValueRef *sums = gen_load_sums(g, op, at);
    if (gen_group_lanes(op))
        reduce_warp(g, op, sums);
    LLVMValueRef args[2] = {g->s->launch, gen_i32(g, op->nresults)};
    LLVMValueRef rows = gen_or_leave(g, gen_runtime_call(g, g->b, "rt_gpu_partials", g->ptr, 2, args));
    gen_kernel_writes(g);
    gen_some some = gen_first_begin(g);
    store_row(g, op, rows, sums);
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

/* Where there are many rows the first FEW_ROWS warps make as many of them: warp w of rows w, w + FEW_ROWS, ... its own. */
enum { FEW_ROWS = 64, MANY_ROWS = 1024 };

/* Every warp sums up all rows in the same order; where there are many, these are the rows that a round before has left. */
static void
combine_rows(gen *g, const ir_op *op, LLVMValueRef rows)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef *sums = arena_new_n(g->scratch, LLVMValueRef, op->nresults), warp = own_warp(g);
    gen_kernel_reads(g);
    LLVMValueRef used = gen_runtime_call(g, b, "rt_gpu_slots", g->i32, 1, &g->s->running);
    used = LLVMBuildZExt(b, used, g->i64, "");
    LLVMValueRef many = LLVMBuildICmp(b, LLVMIntUGT, used, gen_i64(g, MANY_ROWS), "");
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
    store_row(g, op, rows, sums);
    gen_some_end(g, &some);
    gen_kernel_reads(g);
    gen_way_back(g, NULL);
    LLVMBasicBlockRef from[2] = {before, gen_here(g)};
    gen_mark_loop(LLVMBuildBr(b, round), rolled, NULL);
    LLVMAddIncoming(folds, (LLVMValueRef[]){many, LLVMConstNull(g->i1)}, from, 2);
    LLVMAddIncoming(left, (LLVMValueRef[]){used, gen_i64(g, FEW_ROWS)}, from, 2);
    gen_at(g, done);
    for (uint32_t r = 0; r < op->nresults; r++) {
        /* of floats all get one lane's: two NaN, or zeros of both signs, are not the same in another order */
        LLVMValueRef sum = ir_is_float(gen_sum_dtype(op, r)) ? gen_take_first(g, sums[r]) : sums[r];
        gen_set(g, op->results[r], gen_finish_sum(g, op, r, sum));
    }
}

/* -- all of it ------------------------------------------------------------------------------------------------ */

/* Whether the grid waits for the task: it need not where nothing follows, and no cells are to be added up. Before pieces
 * are run again it waits in any case. */
static LLVMValueRef
waits(gen *g, const ir_op *op, const gen_task *task)
{
    bool last = is_last(op);
    g->gpu->waits |= !last || task->nprivate || page_flags(op) == RT_GPU_REPEATS;
    if (!last || !task->nprivate)
        return gen_i32(g, !last);
    return LLVMBuildZExt(g->b, LLVMBuildIsNotNull(g->b, task->row, ""), g->i32, "");
}

void
gen_run_task(gen *g, const ir_op *op, const gen_task *task)
{
    g->s->running = reserve_record(g, sizeof(rt_gpu_task), "running");
    LLVMValueRef flags = gen_i32(g, flags_of(op) | (is_last(op) && !task->nprivate ? RT_GPU_LAST : 0));
    LLVMValueRef begins[5] = {g->s->launch, g->s->running, LLVMGetParam(g->s->fn, 0), task->n, flags};
    gen_runtime_call(g, g->b, "rt_gpu_begin", g->nothing, 5, begins);
    run_pieces(g, flags, task->function, task->closure);
    LLVMValueRef rows = op->nresults ? leave_sums(g, op, task->sums) : NULL;
    LLVMValueRef ends[4] = {g->s->launch, g->s->running, flags, waits(g, op, task)};
    LLVMValueRef failed = gen_runtime_call(g, g->b, "rt_gpu_end", g->i32, 4, ends);
    gen_leave_if(g, LLVMBuildICmp(g->b, LLVMIntNE, failed, gen_i32(g, 0), ""));
    if (rows)
        combine_rows(g, op, rows);
    gen_private_end(g, task->private, task->nprivate);
}
