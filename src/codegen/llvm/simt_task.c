/* A kernel of GPU threads: its entry, parallel loops. SPDX-License-Identifier: Apache-2.0
 *
 * All threads of the grid run the kernel-level code. Where it comes to a parallel loop their warps take pieces of it
 * (rt/gpu/gpu.h); the task is a function that is inlined there. */
#include "codegen/llvm/nvidia.h"
#include "analysis/divergence.h"
#include "analysis/pages.h"
#include "rt/gpu/gpu.h"

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
    g->kernel_worker = true;
    return LLVMBuildInBoundsGEP2(b, g->i8, g->s->launch, &at, 1, "worker");
}

static LLVMValueRef
reserve_record(gen *g, size_t bytes, const char *name)
{
    LLVMValueRef at = gen_alloca(g, LLVMArrayType2(g->i8, bytes), NULL, name);
    gen_align(at, _Alignof(rt_gpu_thread));
    return at;
}

void
gen_mark_kernel(gen *g, LLVMValueRef fn)
{
    gen_mark_warp(g, fn);
    mark_function(g, fn, "nounwind");
}

void
gen_enter_kernel(gen *g, LLVMValueRef launch)
{
    scope *s = g->s;
    s->launch = reserve_record(g, sizeof(rt_gpu_thread), "thread");
    s->warp = reserve_record(g, sizeof(rt_gpu_worker), "warp");
    LLVMValueRef args[3] = {s->launch, s->warp, launch};
    if (g->plan)
        gen_resume(g, launch);
    else
        gen_runtime_call(g, s->top, "rt_gpu_enter", g->nothing, 3, args);
    LLVMValueRef alone = gen_runtime_call(g, s->top, "rt_gpu_alone", g->i32, 1, &s->launch);
    s->is_alone = LLVMBuildICmp(s->top, LLVMIntNE, alone, gen_i32(g, 0), "alone");
}

void
gen_simt_kernel(gen *g)
{
    g->beside = 0; /* directions stay scalars: a thread has no vectors */
    if (g->target->segments) {
        gen_kernel_in_segments(g);
        return;
    }
    const ir_region *body = g->ir->body;
    const ir_op *yield = ir_terminator(body);
    LLVMTypeRef params[2] = {g->ptr, g->ptr};
    LLVMValueRef fn = LLVMAddFunction(g->module, g->symbol, LLVMFunctionType(g->nothing, params, 2, false));
    gen_mark_kernel(g, fn);
    scope *s = gen_scope_open(g, body, fn, false);
    s->args = LLVMGetParam(fn, 1);
    gen_enter_kernel(g, LLVMGetParam(fn, 0));
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

/* What a thread that finds no page does: it begins anew, or it cannot. What a task takes back is gone then. */
static int32_t
page_flags(const ir_op *op)
{
    ir_page_use use = ir_page_use_of(op->regions[0]);
    return !use.pages ? 0 : use.late || op->rewinds ? RT_GPU_ONCE : RT_GPU_REPEATS;
}

static int32_t
flags_of(const gen *g, const ir_op *op)
{
    int32_t flags = op->rewinds ? RT_KEEP_REWINDS : op->records ? RT_KEEP_RECORDS : 0;
    flags |= gen_group_lanes(op) ? RT_GPU_LANES : 0;
    flags |= ir_is_even(op->regions[0]) ? 0 : RT_GPU_BALANCES;
    flags |= page_flags(op);
    if (g->options->deterministic) /* pieces may be of several groups */
        return flags | RT_KEEP_FIXED;
    bool narrow = op->attr.rank == 1 && ir_bits((rg_dtype)op->args[0]->type.dtype) <= 32;
    return flags | (gen_group_lanes(op) && narrow ? RT_GPU_SINGLE : 0);
}

bool
gen_single_groups(const gen *g, const ir_op *parallel)
{
    return flags_of(g, parallel) & RT_GPU_SINGLE;
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
is_last(const gen *g, const ir_op *op)
{
    if (op->nresults || g->plan)
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

/* Where code is deterministic: what pieces leave of sums, by piece. */
typedef struct fixed_rows {
    LLVMValueRef sums;  /* of reductions; NULL: there are none */
    LLVMValueRef cells; /* of arrays; NULL: the same */
    LLVMValueRef row;   /* numbers of 8 bytes from one row of cells to the next */
} fixed_rows;

static LLVMValueRef
begin_piece(gen *g, const ir_op *op, const gen_task *task, const fixed_rows *rows)
{
    LLVMValueRef at = gen_i64(g, offsetof(rt_gpu_task, ran));
    at = LLVMBuildInBoundsGEP2(g->b, g->i8, g->s->running, &at, 1, "");
    LLVMValueRef piece = LLVMBuildLoad2(g->b, g->i32, at, "piece");
    if (rows->cells) {
        LLVMValueRef args[3] = {rows->cells, rows->row, piece};
        LLVMBuildStore(g->b, gen_runtime_call(g, g->b, "rt_gpu_fixed_clear", g->ptr, 3, args), task->row_at);
    }
    if (rows->sums)
        gen_fixed_clear(g, op, task->sums);
    return LLVMBuildZExt(g->b, piece, g->i64, "");
}

/* rows NULL: code is not deterministic */
static void
run_pieces(gen *g, const ir_op *op, LLVMValueRef flags, const gen_task *task, const fixed_rows *rows)
{
    LLVMValueRef lo = gen_alloca(g, g->i64, NULL, "lo"), hi = gen_alloca(g, g->i64, NULL, "hi");
    LLVMBasicBlockRef next = gen_block(g, "next"), piece = gen_block(g, "piece"), done = gen_block(g, "done");
    LLVMBuildBr(g->b, next);
    gen_at(g, next);
    LLVMValueRef args[5] = {g->s->launch, g->s->running, flags, lo, hi};
    LLVMValueRef more = gen_runtime_call(g, g->b, "rt_gpu_next", g->i32, 5, args);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, more, gen_i32(g, 0), ""), piece, done);
    gen_at(g, piece);
    LLVMValueRef number = rows ? begin_piece(g, op, task, rows) : NULL;
    LLVMValueRef given[5] = {task->closure, LLVMBuildLoad2(g->b, g->i64, lo, ""), LLVMBuildLoad2(g->b, g->i64, hi, ""),
                             g->s->warp, g->s->running};
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(task->function), task->function, given, 5, "");
    if (rows && rows->sums)
        gen_fixed_leave(g, op, task->sums, rows->sums, number);
    gen_way_back(g, NULL); /* also where no loop is inside: lanes are together when they ask for the next piece */
    LLVMBuildBr(g->b, next);
    gen_at(g, done);
}

/* -- all of it ------------------------------------------------------------------------------------------------ */

/* Whether the grid waits for the task: it need not where nothing follows, and no cells are to be added up. Before pieces
 * are run again it waits in any case. */
static LLVMValueRef
waits(gen *g, const ir_op *op, const gen_task *task)
{
    bool last = is_last(g, op);
    g->gpu->waits |= !last || task->nprivate || page_flags(op) == RT_GPU_REPEATS;
    if (!last || !task->nprivate)
        return gen_i32(g, !last);
    return LLVMBuildZExt(g->b, LLVMBuildIsNotNull(g->b, task->row, ""), g->i32, "");
}

/* What one warp does when the task's grid has ended. */
static void
settle_grid(gen *g, LLVMValueRef threads, LLVMValueRef flags, LLVMValueRef most, LLVMValueRef ordered)
{
    LLVMValueRef args[7] = {g->s->launch, g->s->running, LLVMGetParam(g->s->fn, 0), threads, flags, most, ordered};
    LLVMValueRef ends = gen_runtime_call(g, g->b, "rt_gpu_settle", g->i32, 7, args);
    gen_leave_if(g, LLVMBuildICmp(g->b, LLVMIntNE, ends, gen_i32(g, 0), ""));
}

static void
settle_task(gen *g, const ir_op *op, const gen_task *task, LLVMValueRef flags)
{
    settle_grid(g, task->n, flags, gen_i64(g, 0), gen_i32(g, 0));
    if (op->nresults) {
        LLVMValueRef args[2] = {g->s->launch, gen_i32(g, op->nresults)};
        gen_combine_rows(g, op, gen_or_leave(g, gen_runtime_call(g, g->b, "rt_gpu_partials", g->ptr, 2, args)));
    }
    gen_private_end(g, task->private, task->nprivate);
}

void
gen_run_task(gen *g, const ir_op *op, const gen_task *task)
{
    if (g->role == GEN_PREPARES)
        return;
    g->s->running = reserve_record(g, sizeof(rt_gpu_task), "running");
    LLVMValueRef flags = gen_i32(g, flags_of(g, op) | (is_last(g, op) && !task->nprivate ? RT_GPU_LAST : 0));
    if (g->role == GEN_SETTLES) {
        settle_task(g, op, task, flags);
        return;
    }
    LLVMValueRef begins[5] = {g->s->launch, g->s->running, LLVMGetParam(g->s->fn, 0), task->n, flags};
    gen_runtime_call(g, g->b, "rt_gpu_begin", g->nothing, 5, begins);
    run_pieces(g, op, flags, task, NULL);
    LLVMValueRef rows = op->nresults ? gen_leave_sums(g, op, task->sums) : NULL;
    LLVMValueRef ends[4] = {g->s->launch, g->s->running, flags, waits(g, op, task)};
    LLVMValueRef failed = gen_runtime_call(g, g->b, "rt_gpu_end", g->i32, 4, ends);
    if (g->role == GEN_RUNS)
        return;
    gen_leave_if(g, LLVMBuildICmp(g->b, LLVMIntNE, failed, gen_i32(g, 0), ""));
    if (rows)
        gen_combine_rows(g, op, rows);
    gen_private_end(g, task->private, task->nprivate);
}

/* -- deterministic code --------------------------------------------------------------------------------------- */

static LLVMValueRef
room_of_pieces(gen *g, LLVMValueRef pieces, LLVMValueRef numbers, bool rows)
{
    LLVMValueRef args[3] = {g->s->launch, LLVMBuildMul(g->b, pieces, numbers, ""), gen_i32(g, rows)};
    return gen_or_leave(g, gen_runtime_call(g, g->b, "rt_gpu_fixed_room", g->ptr, 3, args));
}

/* may_order: `ordered` is not the constant 0. */
static int32_t
fixed_flags_of(const gen *g, const ir_op *op, const gen_task *task, bool may_order)
{
    return flags_of(g, op) | (is_last(g, op) && !task->nprivate ? RT_GPU_LAST : 0) | (may_order ? RT_KEEP_ORDERED : 0);
}

static void
add_up_pieces(gen *g, const ir_op *op, const gen_task *task, const fixed_rows *rows, LLVMValueRef pieces)
{
    if (rows->sums)
        gen_fixed_combine(g, op, rows->sums, pieces);
    if (rows->cells)
        gen_simt_fixed_add(g, task, rows->cells, rows->row, pieces);
}

void
gen_run_fixed_task(gen *g, const ir_op *op, const gen_task *task, LLVMValueRef ordered)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef cells = task->nprivate ? task->row : gen_i64(g, 0);
    bool may_order = !LLVMIsNull(ordered), keeps = op->records || op->rewinds;
    int32_t how = fixed_flags_of(g, op, task, may_order);
    LLVMValueRef flags = gen_i32(g, how);
    LLVMValueRef most = gen_runtime_call(g, b, "rt_gpu_fixed_most", g->i64, 2, (LLVMValueRef[]){cells, flags});
    LLVMValueRef pieces = gen_runtime_call(g, b, "rt_gpu_fixed_pieces", g->i64, 3, (LLVMValueRef[]){task->n, most, flags});
    fixed_rows rows = {0};
    if (op->nresults)
        rows.sums = room_of_pieces(g, pieces, gen_i64(g, op->nresults), false);
    if (task->nprivate) {
        rows.row = gen_private_row(g, cells);
        rows.cells = room_of_pieces(g, pieces, rows.row, true);
    }
    g->s->running = reserve_record(g, sizeof(rt_gpu_task), "running");
    g->gpu->is_fixed = true;
    ordered = LLVMBuildZExt(b, ordered, g->i32, "");
    LLVMValueRef begins[7] = {g->s->launch, g->s->running, LLVMGetParam(g->s->fn, 0), task->n, flags, most, ordered};
    if (g->role == GEN_SETTLES) {
        settle_grid(g, task->n, flags, most, ordered);
        add_up_pieces(g, op, task, &rows, pieces);
        return;
    }
    gen_runtime_call(g, b, "rt_gpu_fixed_begin", g->nothing, 7, begins);
    run_pieces(g, op, flags, task, &rows);
    /* warps that wait for their turn have to be there */
    bool all = !is_last(g, op) || task->nprivate || (may_order && keeps);
    g->gpu->waits |= all || (how & RT_GPU_REPEATS);
    LLVMValueRef ends[4] = {g->s->launch, g->s->running, flags, gen_i32(g, all)};
    LLVMValueRef failed = gen_runtime_call(g, b, "rt_gpu_end", g->i32, 4, ends);
    if (g->role == GEN_RUNS)
        return;
    gen_leave_if(g, LLVMBuildICmp(b, LLVMIntNE, failed, gen_i32(g, 0), ""));
    add_up_pieces(g, op, task, &rows, pieces);
}
