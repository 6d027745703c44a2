/* Sums over threads, formed by each worker alone. SPDX-License-Identifier: Apache-2.0
 *
 * A small array to which all threads of a task add, and with which they do nothing else, gets one
 * f64 cell for each element and worker: no atomic operations, and a million threads lose no digits
 * of an f32. The cells are added to the array when the task has ended. Needs to know that no other
 * plane shares the array's memory; whether there are few enough cells for the number of threads is
 * decided in each launch. */
#include "codegen/llvm/gen.h"

enum { SUMS_MAX = 12, CELLS_MAX = 4096, THREADS_PER_CELL = 4 };

/* -- which planes ------------------------------------------------------------------------------ */

typedef struct search {
    gen *g;
    private_sum *sums;
    uint32_t n;
    bool spoilt[SUMS_MAX];
} search;

static bool
is_access(const ir_op *op)
{
    return op->code == RG_OP_LOAD || op->code == RG_OP_STORE || op->code == RG_OP_RMW;
}

static bool
is_sum(const ir_op *op)
{
    return op->code == RG_OP_RMW && op->rmw == RG_RMW_ADD && op->atomic && !op->nresults;
}

static bool
is_worth_it(const gen *g, const ir_op *op)
{
    const ir_value *buffer = op->args[0];
    rg_dtype d = (rg_dtype)buffer->type.dtype;
    if (gen_parameter_of(g, buffer) < 0 || gen_presence(g, buffer, op->plane) == MISSING)
        return false;
    if (op->plane == RG_PRIMAL && !gen_is_dense(g, buffer))
        return false;
    if (g->options->alone)
        return d == RG_F32 && op->plane != RG_PRIMAL;
    return d == RG_F32 || d == RG_F64;
}

static bool
collect(ir_op *op, void *user)
{
    search *s = user;
    if (!is_sum(op) || !is_worth_it(s->g, op))
        return true;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->sums[i].buffer == op->args[0] && s->sums[i].plane == op->plane)
            return true;
    if (s->n < SUMS_MAX)
        s->sums[s->n++] = (private_sum){.buffer = op->args[0], .plane = op->plane};
    return true;
}

/* any other access of the plane */
static bool
spoil(ir_op *op, void *user)
{
    search *s = user;
    for (uint32_t i = 0; is_access(op) && i < s->n; i++)
        if (op->plane == s->sums[i].plane && gen_may_be(op->args[0], s->sums[i].buffer))
            s->spoilt[i] |= !is_sum(op) || op->args[0] != s->sums[i].buffer;
    return true;
}

uint32_t
gen_private_find(gen *g, const ir_op *op, private_sum **sums)
{
    search s = {.g = g, .sums = arena_new_n(g->scratch, private_sum, SUMS_MAX)};
    *sums = s.sums;
    if (!g->options->noalias)
        return 0;
    ir_walk(op->regions[0], collect, &s);
    ir_walk(op->regions[0], spoil, &s);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.n; i++)
        if (!s.spoilt[i])
            s.sums[n++] = s.sums[i];
    return n;
}

/* -- at kernel level --------------------------------------------------------------------------- */

/* of all directions: they lie one behind the other, as in the array's plane */
static LLVMValueRef
cell_count(gen *g, const private_sum *sum)
{
    LLVMValueRef n = gen_elements(g, sum->buffer);
    return LLVMBuildMul(g->b, n, gen_i64(g, g->directions[sum->plane]), "");
}

static LLVMValueRef
is_few(gen *g, const private_sum *sum, LLVMValueRef cells, LLVMValueRef threads)
{
    LLVMBuilderRef b = g->b;
    /* each thread adds in all directions */
    LLVMValueRef one = gen_elements(g, sum->buffer);
    LLVMValueRef need = LLVMBuildMul(b, one, gen_i64(g, THREADS_PER_CELL), "");
    LLVMValueRef many = LLVMBuildICmp(b, LLVMIntULE, need, threads, "");
    LLVMValueRef few = LLVMBuildICmp(b, LLVMIntULE, cells, gen_i64(g, CELLS_MAX), "");
    few = LLVMBuildAnd(b, few, many, "");
    if (gen_presence(g, sum->buffer, sum->plane) == THERE)
        return few;
    LLVMValueRef there = LLVMBuildIsNotNull(b, gen_plane(g, sum->buffer, sum->plane), "");
    return LLVMBuildAnd(b, few, there, "");
}

/* The cells' memory, and in *row how many a worker has; each sum's `first`. */
LLVMValueRef
gen_private_begin(gen *g, private_sum *sums, uint32_t n, LLVMValueRef threads, LLVMValueRef *row)
{
    LLVMValueRef total = gen_i64(g, 0);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef cells = cell_count(g, &sums[i]);
        LLVMValueRef few = is_few(g, &sums[i], cells, threads);
        sums[i].first = LLVMBuildSelect(g->b, few, total, gen_i64(g, -1), "");
        cells = LLVMBuildSelect(g->b, few, cells, gen_i64(g, 0), "");
        total = LLVMBuildAdd(g->b, total, cells, "");
    }
    LLVMValueRef padded = LLVMBuildAdd(g->b, total, gen_i64(g, RT_PRIVATE_ROW(1) - 1), "");
    *row = LLVMBuildAnd(g->b, padded, gen_i64(g, -RT_PRIVATE_ROW(1)), "");
    LLVMValueRef args[2] = {g->s->launch, total};
    return gen_runtime_call(g, g->b, "rt_cpu_private", g->ptr, 2, args);
}

void
gen_private_end(gen *g, const private_sum *sums, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        LLVMBasicBlockRef add = gen_block(g, "sums"), after = gen_block(g, "summed");
        LLVMValueRef used = LLVMBuildICmp(g->b, LLVMIntSGE, sums[i].first, gen_i64(g, 0), "");
        LLVMBuildCondBr(g->b, used, add, after);
        gen_at(g, add);
        LLVMValueRef args[5] = {g->s->launch, sums[i].first, cell_count(g, &sums[i]),
                                gen_plane(g, sums[i].buffer, sums[i].plane),
                                gen_i32(g, sums[i].buffer->type.dtype == RG_F64)};
        gen_runtime_call(g, g->b, "rt_cpu_private_add", g->nothing, 5, args);
        LLVMBuildBr(g->b, after);
        gen_at(g, after);
    }
}

/* -- in the task ------------------------------------------------------------------------------- */

/* One worker alone needs cells only for the digits of an f32 adjoint; primals are what C makes
 * them. */
static bool
needs_digits(const private_sum *sum)
{
    return sum->buffer->type.dtype == RG_F32 && sum->plane != RG_PRIMAL;
}

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
        if (!needs_digits(&s->sums[i]))
            used = LLVMBuildAnd(b, used, gen_several_workers(g), "");
        s->sums[i].used = used;
    }
}

static void
add_to_cell(gen *g, const ir_op *op, const private_sum *sum)
{
    const ir_value *buffer = op->args[0];
    LLVMValueRef cell = sum->cells;
    if (op->direction) {
        LLVMValueRef skip = gen_elements(g, buffer);
        skip = LLVMBuildNSWMul(g->b, skip, gen_i64(g, op->direction), "");
        cell = LLVMBuildInBoundsGEP2(g->b, g->f64, cell, &skip, 1, "");
    }
    if (buffer->type.kind == IR_BUFFER && buffer->type.rank) {
        LLVMValueRef number = gen_element_number(g, buffer, op->plane, op->args + 1);
        cell = LLVMBuildInBoundsGEP2(g->b, g->f64, cell, &number, 1, "");
    }
    LLVMValueRef value = gen_get(g, op->args[op->nargs - 1]);
    value = gen_cast(g, (rg_dtype)buffer->type.dtype, RG_F64, value);
    LLVMValueRef old = gen_mark_own(g, LLVMBuildLoad2(g->b, g->f64, cell, ""));
    gen_mark_own(g, LLVMBuildStore(g->b, LLVMBuildFAdd(g->b, old, value, ""), cell));
}

LLVMBasicBlockRef
gen_private_add(gen *g, const ir_op *op)
{
    const private_sum *sum = NULL;
    for (uint32_t i = 0; i < g->s->nsums && !sum; i++)
        if (is_sum(op) && g->s->sums[i].buffer == op->args[0] && g->s->sums[i].plane == op->plane)
            sum = &g->s->sums[i];
    if (!sum)
        return NULL;
    LLVMBasicBlockRef own = gen_block(g, "own"), shared = gen_block(g, "shared"),
                      end = gen_block(g, "after");
    LLVMBuildCondBr(g->b, sum->used, own, shared);
    gen_at(g, own);
    add_to_cell(g, op, sum);
    LLVMBuildBr(g->b, end);
    gen_at(g, shared);
    return end;
}
