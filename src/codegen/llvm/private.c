/* Sums over threads, formed by each worker alone. SPDX-License-Identifier: Apache-2.0
 *
 * A small array to which all threads of a task add, and with which they do nothing else, gets one
 * f64 cell for each element and worker: no atomic operations, and a million threads lose no digits
 * of an f32 or f16. The cells are added to the array when the task has ended. That holds too where
 * planes share memory: those are of arrays that are only read, so all that reaches them is sums.
 * Whether there are few enough cells for the work of the threads is decided in each launch. */
#include "codegen/llvm/gen.h"
#include "analysis/sums.h"

/* Clearing and adding up a cell costs about as much as CELL_WORK operations of threads. */
enum { CELLS_MAX = 16384, CELL_WORK = 4 };

/* -- which planes ------------------------------------------------------------------------------ */

/* Where one worker runs, primals are what C makes them, and f64 has digits enough. */
static bool
needs_digits(const ir_value *buffer, unsigned plane)
{
    return buffer->type.dtype != RG_F64 && plane != RG_PRIMAL;
}

static bool
is_sum_worth_it(const gen *g, const ir_sum *sum)
{
    bool there = gen_presence(g, sum->buffer, sum->plane) != MISSING;
    if (!there || (sum->plane == RG_PRIMAL && !gen_is_dense(g, sum->buffer)))
        return false;
    return !g->options->alone || needs_digits(sum->buffer, sum->plane);
}

uint32_t
gen_private_find(gen *g, const ir_op *op, private_sum **sums)
{
    ir_sum all[IR_SUMS_MAX];
    uint32_t found = ir_sums_find(ir_footprint(&g->footprints, op), all), n = 0;
    bool pays = !g->target->warp || g->options->deterministic; /* threads would have to add one after the other */
    *sums = arena_new_n(g->scratch, private_sum, found + 1);
    for (uint32_t i = 0; i < found; i++)
        if (is_sum_worth_it(g, &all[i]) && (pays || !ir_sum_never_pays(op, all[i].buffer)))
            (*sums)[n++] = (private_sum){.buffer = all[i].buffer, .plane = all[i].plane};
    return n;
}

/* -- at kernel level --------------------------------------------------------------------------- */

/* of all directions: they lie one behind the other, as in the array's plane */
LLVMValueRef
gen_private_cells(gen *g, const private_sum *sum)
{
    LLVMValueRef n = gen_elements(g, sum->buffer);
    return LLVMBuildMul(g->b, n, gen_i64(g, g->directions[sum->plane]), "");
}

LLVMValueRef
gen_private_row(gen *g, LLVMValueRef cells)
{
    LLVMValueRef padded = LLVMBuildAdd(g->b, cells, gen_i64(g, RT_PRIVATE_ROW(1) - 1), "");
    return LLVMBuildAnd(g->b, padded, gen_i64(g, -RT_PRIVATE_ROW(1)), "");
}

/* cells * workers * CELL_WORK <= threads * work; each thread adds in all directions */
static LLVMValueRef
has_few_cells(gen *g, const private_sum *sum, LLVMValueRef cells, LLVMValueRef threads, int64_t work)
{
    LLVMBuilderRef b = g->b;
    LLVMValueRef slots = gen_slots(g, b);
    LLVMValueRef cost = LLVMBuildMul(b, gen_elements(g, sum->buffer), LLVMBuildSExt(b, slots, g->i64, ""), "");
    int64_t share = RT_CHUNKS_PER_THREAD * (work > 0 ? work : 1) / CELL_WORK;
    LLVMValueRef need = LLVMBuildUDiv(b, cost, gen_i64(g, share), "");
    LLVMValueRef many = LLVMBuildICmp(b, LLVMIntULT, need, threads, "");
    LLVMValueRef few = LLVMBuildICmp(b, LLVMIntULE, cells, gen_i64(g, CELLS_MAX), "");
    few = LLVMBuildAnd(b, few, many, "");
    if (gen_presence(g, sum->buffer, sum->plane) == THERE)
        return few;
    LLVMValueRef there = LLVMBuildIsNotNull(b, gen_plane(g, sum->buffer, sum->plane), "");
    return LLVMBuildAnd(b, few, there, "");
}

/* The cells' memory, and in *row how many a worker has; each sum's `first`. */
LLVMValueRef
gen_private_begin(gen *g, private_sum *sums, uint32_t n, LLVMValueRef threads, int64_t work,
                  LLVMValueRef *row)
{
    LLVMValueRef total = gen_i64(g, 0);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef cells = gen_private_cells(g, &sums[i]);
        LLVMValueRef few = has_few_cells(g, &sums[i], cells, threads, work);
        sums[i].first = LLVMBuildSelect(g->b, few, total, gen_i64(g, -1), "");
        cells = LLVMBuildSelect(g->b, few, cells, gen_i64(g, 0), "");
        total = LLVMBuildAdd(g->b, total, cells, "");
    }
    *row = gen_private_row(g, total);
    LLVMValueRef args[3] = {g->s->launch, total, gen_i32(g, g->options->deterministic ? RT_FIXED_CHUNKS : 0)};
    return gen_runtime_call(g, g->b, "rt_cpu_private", g->ptr, 3, args);
}

void
gen_private_end(gen *g, const private_sum *sums, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        LLVMBasicBlockRef add = gen_block(g, "sums"), after = gen_block(g, "summed");
        LLVMValueRef used = LLVMBuildICmp(g->b, LLVMIntSGE, sums[i].first, gen_i64(g, 0), "");
        LLVMBuildCondBr(g->b, used, add, after);
        gen_at(g, add);
        LLVMValueRef args[6] = {g->s->launch, sums[i].first, gen_private_cells(g, &sums[i]),
                                gen_plane(g, sums[i].buffer, sums[i].plane),
                                gen_i32(g, ir_bytes((rg_dtype)sums[i].buffer->type.dtype)),
                                gen_i32(g, g->options->noalias)};
        if (g->target->warp)
            gen_runtime_call(g, g->b, "rt_gpu_private_add", g->nothing, 6, args);
        else
            gen_runtime_call(g, g->b, "rt_cpu_private_add", g->nothing, 5, args);
        LLVMBuildBr(g->b, after);
        gen_at(g, after);
    }
}

/* -- in the task ------------------------------------------------------------------------------- */

/* Where the task begins: `first` of the scope's sums is what the closure held. */
void
gen_private_enter(gen *g, LLVMValueRef memory, LLVMValueRef row)
{
    scope *s = g->s;
    LLVMBuilderRef b = s->top;
    LLVMValueRef at = gen_i64(g, offsetof(rt_worker, seat));
    at = LLVMBuildInBoundsGEP2(b, g->i8, s->worker, &at, 1, "");
    LLVMValueRef seat = LLVMBuildZExt(b, LLVMBuildLoad2(b, g->i32, at, "seat"), g->i64, "");
    LLVMValueRef mine = LLVMBuildMul(b, seat, row, "");
    for (uint32_t i = 0; i < s->nsums; i++) {
        LLVMValueRef cell = LLVMBuildAdd(b, mine, s->sums[i].first, "");
        s->sums[i].cells = LLVMBuildGEP2(b, g->f64, memory, &cell, 1, "cells");
        LLVMValueRef used = LLVMBuildICmp(b, LLVMIntSGE, s->sums[i].first, gen_i64(g, 0), "");
        if (!needs_digits(s->sums[i].buffer, s->sums[i].plane) && !g->options->deterministic)
            used = LLVMBuildAnd(b, used, gen_several_workers(g), "");
        s->sums[i].used = used;
    }
}

static void
add_to_cell(gen *g, const ir_op *op, const gen_part *part, const private_sum *sum)
{
    const ir_value *buffer = op->args[0];
    LLVMValueRef cell = sum->cells;
    if (op->direction && !op->beside) {
        LLVMValueRef skip = gen_elements(g, buffer);
        skip = LLVMBuildNSWMul(g->b, skip, gen_i64(g, op->direction), "");
        cell = LLVMBuildInBoundsGEP2(g->b, g->f64, cell, &skip, 1, "");
    }
    if (part) {
        gen_reach r = {.dtype = RG_F64, .own = true};
        gen_reach_from(g, op, &r, g->f64, cell, true);
        gen_narrow(g, &r, g->f64, part);
        gen_add_reach(g, &r, gen_cast(g, (rg_dtype)buffer->type.dtype, RG_F64, part->value));
        return;
    }
    LLVMValueRef number = gen_number_in_copy(g, op);
    if (number)
        cell = LLVMBuildInBoundsGEP2(g->b, g->f64, cell, &number, 1, "");
    LLVMValueRef value = gen_get(g, op->args[op->nargs - 1]);
    value = gen_cast(g, (rg_dtype)buffer->type.dtype, RG_F64, value);
    LLVMValueRef old = gen_mark_own(g, LLVMBuildLoad2(g->b, g->f64, cell, ""));
    gen_mark_own(g, LLVMBuildStore(g->b, LLVMBuildFAdd(g->b, old, value, ""), cell));
}

const private_sum *
gen_private_sum(const gen *g, const ir_op *op)
{
    for (uint32_t i = 0; i < g->s->nsums; i++)
        if (ir_is_sum(op) && g->s->sums[i].buffer == op->args[0] && g->s->sums[i].plane == op->plane)
            return &g->s->sums[i];
    return NULL;
}

bool
gen_is_private(const gen *g, const ir_op *op)
{
    return gen_private_sum(g, op) != NULL;
}

LLVMBasicBlockRef
gen_private_add(gen *g, const ir_op *op, const gen_part *part)
{
    const private_sum *sum = gen_private_sum(g, op);
    if (!sum)
        return NULL;
    LLVMBasicBlockRef own = gen_block(g, "own"), shared = gen_block(g, "shared"),
                      end = gen_block(g, "after");
    LLVMBuildCondBr(g->b, g->s->decided ? LLVMConstInt(g->i1, 1, false) : sum->used, own, shared);
    gen_at(g, own);
    add_to_cell(g, op, part, sum);
    LLVMBuildBr(g->b, end);
    gen_at(g, shared);
    return end;
}
