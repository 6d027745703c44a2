/* Elements in memory that a GPU's threads share. SPDX-License-Identifier: Apache-2.0
 *
 * What has lanes is each thread's own: a scalar access that its mask holds back, by a branch or a predicate. What has
 * none is the same in all threads of a warp. It must stay so, whatever else writes there: where lanes disagreed, control
 * that follows from it would no longer be the warp's. So in a task that writes the array all have what the first lane
 * loads. At kernel level the grid's threads load for themselves, and one of them writes. */
#include "analysis/effects.h"
#include "codegen/llvm/nvidia.h"

/* -- a thread's own --------------------------------------------------------------------------------- */

LLVMValueRef
gen_own_address(gen *g, const gen_reach *r)
{
    LLVMValueRef offsets = r->offsets;
    return offsets ? LLVMBuildGEP2(g->b, gen_memory_type(g, r->dtype), r->at, &offsets, 1, "") : r->at;
}

/* by a predicate; what lies elsewhere than arrays may be on a stack */
static bool
is_held_back(const gen *g, const gen_reach *r)
{
    return gen_for_nvidia(g) && r->mask && r->access;
}

LLVMValueRef
gen_load_own(gen *g, const gen_reach *r)
{
    LLVMValueRef at = gen_own_address(g, r);
    if (is_held_back(g, r))
        return gen_from_memory(g, r->dtype, gen_load_if(g, r, at));
    gen_some taken = gen_some_begin(g, r->mask);
    LLVMValueRef v = LLVMBuildLoad2(g->b, gen_memory_type(g, r->dtype), at, "");
    LLVMSetAlignment(v, ir_bytes(r->dtype));
    gen_mark_reach(g, r, v);
    gen_some_end(g, &taken);
    return gen_from_memory(g, r->dtype, gen_some_value(g, &taken, v));
}

void
gen_store_own(gen *g, const gen_reach *r, LLVMValueRef value)
{
    LLVMValueRef at = gen_own_address(g, r);
    value = gen_to_memory(g, r->dtype, value);
    if (is_held_back(g, r)) {
        gen_store_if(g, r, at, value);
        return;
    }
    gen_some taken = gen_some_begin(g, r->mask);
    LLVMValueRef store = LLVMBuildStore(g->b, value, at);
    LLVMSetAlignment(store, ir_bytes(r->dtype));
    gen_mark_reach(g, r, store);
    gen_some_end(g, &taken);
}

static LLVMValueRef
update_element(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef at, LLVMValueRef value)
{
    bool atomic = op->atomic && !gen_is_alone(g) && !gen_takes_turns(g, op);
    return atomic ? gen_atomic_rmw(g, op, d, at, value) : gen_plain_rmw(g, op, d, at, value);
}

static LLVMValueRef
update_in_turn(gen *g, const ir_op *op, const gen_reach *r, LLVMValueRef at, LLVMValueRef value)
{
    LLVMTypeRef type = gen_type(g, r->dtype);
    LLVMValueRef kept = op->nresults ? gen_alloca(g, type, NULL, "old") : NULL;
    if (kept)
        LLVMBuildStore(g->b, LLVMConstNull(type), kept);
    gen_turns turns = gen_turns_begin(g, at, r->mask);
    LLVMValueRef old = gen_plain_rmw(g, op, r->dtype, at, value);
    if (kept)
        LLVMBuildStore(g->b, old, kept);
    gen_turns_end(g, &turns);
    return kept ? LLVMBuildLoad2(g->b, type, kept, "") : LLVMConstNull(type);
}

/* Each thread for itself: they may have one element only if the update is atomic. */
void
gen_rmw_own(gen *g, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    LLVMValueRef old = LLVMConstNull(gen_type(g, d));
    if (gen_add_waits(g, op))
        return;
    gen_reach r = gen_elements_of(g, op, true);
    if (!r.nothing) {
        LLVMValueRef at = gen_own_address(g, &r), value = gen_get(g, gen_value_of(op));
        if (gen_takes_turns(g, op)) {
            old = update_in_turn(g, op, &r, at, value);
            if (op->nresults)
                gen_set(g, op->results[0], old);
            return;
        }
        gen_some taken = gen_some_begin(g, r.mask);
        old = update_element(g, op, d, at, value);
        gen_some_end(g, &taken);
        old = gen_some_value(g, &taken, old);
    }
    if (op->nresults)
        gen_set(g, op->results[0], old);
}

/* -- the same for all --------------------------------------------------------------------------------- */

/* What the task does to the plane that op reaches; where arguments may share memory, all that it does. */
static unsigned
does_there(gen *g, const ir_op *op)
{
    const ir_effects *task = ir_footprint(&g->footprints, g->s->region->op);
    unsigned does = 0;
    if (g->options->noalias)
        return ir_effects_on(task, op->args[0], op->plane);
    for (size_t i = 0; i < task->at.n; i++)
        does |= task->at.at[i].does;
    return does;
}

/* Whether all that the task does there is to add: then it does not matter who has done what before. */
bool
gen_has_no_order(gen *g, const ir_op *op)
{
    return g->s->task && (does_there(g, op) & ~(unsigned)IR_CHOSEN) == IR_ADDS && !gen_is_alone(g);
}

void
gen_load_same(gen *g, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    gen_place at = gen_element(g, op, false);
    if (at.nothing) {
        gen_set(g, op->results[0], LLVMConstNull(gen_type(g, d)));
        return;
    }
    bool changes = g->s->task && does_there(g, op) & IR_CHANGES;
    if (!g->s->task)
        gen_kernel_reads(g);
    else if (changes)
        gen_warp_sync(g);
    LLVMValueRef v = LLVMBuildLoad2(g->b, gen_memory_type(g, d), at.address, "");
    gen_mark_alias(g, v, op);
    v = gen_from_memory(g, d, v);
    gen_set(g, op->results[0], changes ? gen_take_first(g, v) : v);
}

void
gen_store_same(gen *g, const ir_op *op)
{
    gen_place at = gen_element(g, op, true);
    if (at.nothing)
        return;
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    LLVMValueRef value = gen_to_memory(g, d, gen_get(g, gen_value_of(op)));
    gen_some once = gen_once_begin(g);
    gen_mark_alias(g, LLVMBuildStore(g->b, value, at.address), op);
    gen_once_end(g, &once);
}

/* At kernel level nobody else runs: all load the old value, one stores the new one. */
static LLVMValueRef
kernel_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    gen_kernel_reads(g);
    LLVMValueRef load = LLVMBuildLoad2(g->b, gen_memory_type(g, d), address, "");
    gen_mark_alias(g, load, op);
    LLVMValueRef old = gen_from_memory(g, d, load), new = gen_new_value(g, op, d, old, value);
    gen_some once = gen_once_begin(g);
    gen_mark_alias(g, LLVMBuildStore(g->b, gen_to_memory(g, d, new), address), op);
    gen_once_end(g, &once);
    return old;
}

/* behind it the warp has what the first lane found */
static LLVMValueRef
first_lanes_rmw(gen *g, const ir_op *op, rg_dtype d, LLVMValueRef address, LLVMValueRef value)
{
    bool waits = g->s->task && (!gen_has_no_order(g, op) || gen_takes_turns(g, op));
    gen_some once = waits || !g->s->task ? gen_once_begin(g) : gen_first_begin(g);
    LLVMValueRef old = update_element(g, op, d, address, value);
    if (g->s->task)
        gen_some_end(g, &once);
    else
        gen_once_end(g, &once);
    old = gen_some_value(g, &once, old);
    if (waits)
        gen_warp_sync(g);
    return op->nresults ? gen_take_first(g, old) : old;
}

/* where additions to cells go on too; what adds to cells has no result */
static void
close_private(gen *g, LLVMBasicBlockRef end)
{
    if (!end)
        return;
    LLVMBuildBr(g->b, end);
    gen_at(g, end);
}

void
gen_rmw_same(gen *g, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    LLVMValueRef nil = LLVMConstNull(gen_type(g, d)), old = nil;
    if (gen_sum_late(g, op))
        return;
    LLVMBasicBlockRef end = gen_simt_private_add(g, op);
    gen_place at = gen_element(g, op, true);
    if (!at.nothing) {
        LLVMValueRef value = gen_get(g, gen_value_of(op));
        bool loads = !g->s->task && op->nresults;
        old = loads ? kernel_rmw(g, op, d, at.address, value) : first_lanes_rmw(g, op, d, at.address, value);
        if (op->nresults && at.missing)
            old = LLVMBuildSelect(g->b, at.missing, nil, old, "");
    }
    close_private(g, end);
    if (op->nresults)
        gen_set(g, op->results[0], old);
}
