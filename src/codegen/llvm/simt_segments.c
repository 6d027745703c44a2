/* A kernel in segments: a function for each of them, and two or three for a task. SPDX-License-Identifier: Apache-2.0
 *
 *   kernel(launch, args)   calls the function of the launch's step
 *   segment                takes what it uses from the record, runs as kernel-level code in one warp, writes its results there
 *   task  prepares         one warp makes the cells for sums, if any;
 *         runs             the whole grid takes pieces;
 *         settles          one warp adds up what the grid has left: pages, reductions, sums
 *
 * The three functions of a task begin with the same code, that of its place at kernel level (gen_parallel). */
#include "codegen/llvm/gen.h"
#include "rt/gpu/launch.h"

/* -- the record ---------------------------------------------------------------------------------------------------- */

static LLVMValueRef
place_in_record(gen *g, uint32_t place)
{
    scope *s = g->s;
    if (!s->record) {
        LLVMValueRef at = gen_i64(g, offsetof(rt_gpu_launch, record)), launch = LLVMGetParam(s->fn, 0);
        at = LLVMBuildInBoundsGEP2(s->top, g->i8, launch, &at, 1, "");
        s->record = LLVMBuildLoad2(s->top, g->ptr, at, "record");
    }
    LLVMValueRef by = gen_i64(g, place);
    return LLVMBuildInBoundsGEP2(s->top, g->i8, s->record, &by, 1, "");
}

LLVMValueRef
gen_recorded(gen *g, const ir_value *v)
{
    return place_in_record(g, g->plan->places[v->id]);
}

static bool
is_truth(const ir_value *v)
{
    return v->type.kind == IR_SCALAR && v->type.dtype == RG_BOOL;
}

static LLVMTypeRef
cell_type(gen *g, const ir_value *v)
{
    return is_truth(v) ? g->i32 : v->type.kind == IR_SCALAR ? gen_memory_type(g, ir_dtype(v)) : g->ptr;
}

static LLVMValueRef
row_bytes(gen *g, const ir_value *slot)
{
    return gen_i64(g, (int64_t)slot->type.length * ir_bytes(ir_dtype(slot)));
}

/* Tasks only read it. In a segment each lane has a copy of its own, as every thread of a kernel that is not cut. */
static void
take_slot(gen *g, const ir_value *slot)
{
    LLVMValueRef at = gen_recorded(g, slot), copy;
    if (g->role == GEN_SEGMENT) {
        copy = gen_alloca(g, LLVMArrayType2(g->i64, (slot->type.length * ir_bytes(ir_dtype(slot)) + 7) / 8), NULL, "slot");
        LLVMBuildMemCpy(g->s->top, copy, 8, at, 8, row_bytes(g, slot));
        at = copy;
    }
    gen_set(g, slot, at);
}

static void
take_from_record(gen *g, const ir_value *v)
{
    LLVMBuilderRef top = g->s->top;
    LLVMValueRef at = gen_recorded(g, v), taken;
    if (v->type.kind == IR_SLOT) {
        take_slot(g, v);
        return;
    }
    taken = LLVMBuildLoad2(top, cell_type(g, v), at, "");
    if (is_truth(v))
        taken = LLVMBuildTrunc(top, taken, g->i1, "");
    else if (v->type.kind == IR_SCALAR)
        taken = gen_from_memory(g, ir_dtype(v), taken);
    gen_set(g, v, taken);
}

static void
write_to_record(gen *g, const ir_value *v, LLVMValueRef value, uint32_t place)
{
    if (is_truth(v))
        value = LLVMBuildZExt(g->b, value, g->i32, "");
    else if (v->type.kind == IR_SCALAR)
        value = gen_to_memory(g, ir_dtype(v), value);
    LLVMBuildStore(g->b, value, place_in_record(g, place));
}

/* -- what a function takes ------------------------------------------------------------------------------------------- */

typedef struct taker {
    gen *g;
    const ir_op *entry;
} taker;

/* What lies in the record; formulas are computed from that, where the function begins. */
static bool
take_recorded(ir_op *op, void *user)
{
    taker *t = user;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const ir_value *v = op->args[i];
        if (ir_region_inside(v->region, t->entry->regions[0]) || t->g->s->values[v->id])
            continue;
        if (t->g->plan->places[v->id] != SEGMENTS_NO_PLACE) {
            take_from_record(t->g, v);
        } else if (v->def && ir_is_formula(v->def)) {
            take_recorded(v->def, t);
            gen_op(t->g, v->def);
        }
    }
    return true;
}

/* -- functions --------------------------------------------------------------------------------------------------------- */

/* for rt_gpu_resume and rt_gpu_pause: whose state a function takes over from the grid before, and leaves to the next */
static int32_t
what_runs(const gen *g)
{
    return g->role == GEN_RUNS ? RT_GPU_TASK : g->role == GEN_SETTLES ? RT_GPU_SETTLES : RT_GPU_SEGMENT;
}

void
gen_resume(gen *g, LLVMValueRef launch)
{
    LLVMValueRef args[4] = {g->s->launch, g->s->warp, launch, gen_i32(g, what_runs(g))};
    gen_runtime_call(g, g->s->top, "rt_gpu_resume", g->nothing, 4, args);
}

void
gen_pause(gen *g)
{
    LLVMValueRef args[2] = {g->s->launch, gen_i32(g, what_runs(g))};
    gen_runtime_call(g, g->b, "rt_gpu_pause", g->nothing, 2, args);
}

/* once for each slot of the record that is changed; by one lane, of which all have the same */
static bool
write_slot_back(ir_op *op, void *user)
{
    taker *t = user;
    gen *g = t->g;
    const ir_value *slot = op->nargs ? op->args[0] : NULL;
    if (ir_changes_slot(op) && !ir_region_inside(slot->region, t->entry->regions[0]) && !g->captured[slot->id]) {
        g->captured[slot->id] = true;
        LLVMBuildMemCpy(g->b, gen_recorded(g, slot), 8, gen_get(g, slot), 8, row_bytes(g, slot));
    }
    return true;
}

/* one warp, which has read all that it takes */
static void
leave_in_record(gen *g, const ir_op *op)
{
    taker t = {g, op};
    const ir_op *yield = ir_terminator(op->regions[0]);
    bool segment = op->code == RG_OP_SEGMENT;
    LLVMValueRef *values = arena_new_n(g->scratch, LLVMValueRef, op->nresults + 1);
    for (uint32_t i = 0; i < op->nresults; i++)
        values[i] = gen_get(g, segment ? yield->args[i] : op->results[i]);
    gen_some some = gen_once_begin(g);
    for (uint32_t i = 0; i < op->nresults; i++)
        for (uint32_t k = 0, place; segment ? segments_next_place(g->plan, op, i, &k, &place) : k++ == 0;)
            write_to_record(g, op->results[i], values[i], segment ? place : g->plan->places[op->results[i]->id]);
    g->captured = arena_new_n(g->scratch, bool, g->ir->next_id);
    if (segment)
        ir_walk(op->regions[0], write_slot_back, &t);
    g->captured = NULL;
    gen_once_end(g, &some);
}

static LLVMValueRef
add_step_function(gen *g, const ir_op *op, gen_role role)
{
    static const char *const names[] = {[GEN_SEGMENT] = "segment", [GEN_PREPARES] = "prepare", [GEN_RUNS] = "run",
                                        [GEN_SETTLES] = "settle"};
    LLVMTypeRef params[2] = {g->ptr, g->ptr};
    LLVMValueRef fn = LLVMAddFunction(g->module, names[role], LLVMFunctionType(g->nothing, params, 2, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    gen_mark_kernel(g, fn);
    g->role = role;
    scope *s = gen_scope_open(g, op->regions[0], fn, false);
    s->args = LLVMGetParam(fn, 1);
    gen_enter_kernel(g, LLVMGetParam(fn, 0));
    taker t = {g, op};
    take_recorded((ir_op *)op /* only looked at */, &t);
    ir_walk(op->regions[0], take_recorded, &t);
    if (role == GEN_SEGMENT)
        gen_region(g, op->regions[0]);
    else
        gen_parallel(g, op);
    if (role == GEN_SEGMENT || role == GEN_SETTLES)
        leave_in_record(g, op);
    gen_tape_leave(g);
    gen_leave(g);
    gen_scope_close(g);
    return fn;
}

/* -- steps ------------------------------------------------------------------------------------------------------------- */

/* the function's number in the kernel's choice */
static uint32_t
add_case(gen *g, LLVMValueRef choice, LLVMValueRef kernel, LLVMValueRef fn)
{
    LLVMBuilderRef b = g->b;
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(g->context, kernel, "step");
    LLVMValueRef args[2] = {LLVMGetParam(kernel, 0), LLVMGetParam(kernel, 1)};
    uint32_t number = g->tasks_cut++;
    LLVMAddCase(choice, gen_i32(g, number), block);
    LLVMPositionBuilderAtEnd(b, block);
    LLVMBuildCall2(b, LLVMGlobalGetValueType(fn), fn, args, 2, "");
    LLVMBuildRetVoid(b);
    return number;
}

static void
add_entry_step(gen *g, LLVMValueRef choice, LLVMValueRef kernel, const ir_op *op, gen_role role, uint32_t place)
{
    uint32_t number = add_case(g, choice, kernel, add_step_function(g, op, role));
    segments_step step = {.kind = role == GEN_RUNS ? SEGMENTS_TASK : SEGMENTS_RUN, .entry = number, .place = place};
    vec_push(&g->gpu->steps, step);
}

/* Steps of the plan become those of functions; each goes on to the same ones. */
static void
add_steps_of_functions(gen *g, LLVMValueRef choice, LLVMValueRef kernel)
{
    const segments *plan = g->plan;
    uint32_t *now = arena_new_n(g->scratch, uint32_t, plan->steps.n + 1);
    for (size_t i = 0; i < plan->steps.n; i++) {
        segments_step step = plan->steps.at[i];
        const ir_op *op = step.kind == SEGMENTS_RUN || step.kind == SEGMENTS_TASK ? plan->entries.at[step.entry] : NULL;
        const ir_op *named = op || step.kind == SEGMENTS_LOOP ? segments_named(plan, (uint32_t)i) : NULL;
        uint32_t place = named ? gen_place_number(g, named, NULL, NULL, 0) : SEGMENTS_NO_PLACE;
        now[i] = (uint32_t)g->gpu->steps.n;
        if (step.kind == SEGMENTS_LOOP)
            step.entry = place;
        if (!op) {
            vec_push(&g->gpu->steps, step);
        } else if (step.kind == SEGMENTS_RUN) {
            add_entry_step(g, choice, kernel, op, GEN_SEGMENT, place);
        } else {
            if (gen_needs_cells(g, op))
                add_entry_step(g, choice, kernel, op, GEN_PREPARES, place);
            uint32_t run = (uint32_t)g->gpu->steps.n;
            add_entry_step(g, choice, kernel, op, GEN_RUNS, place);
            add_entry_step(g, choice, kernel, op, GEN_SETTLES, place);
            vec_push(&g->gpu->steps, ((segments_step){.kind = SEGMENTS_AGAIN, .to = run}));
        }
    }
    segments_renumber(g->gpu->steps.at, g->gpu->steps.n, now);
}

void
gen_kernel_in_segments(gen *g)
{
    segments plan = segments_make(g->ir, g->scratch);
    LLVMTypeRef params[2] = {g->ptr, g->ptr};
    LLVMValueRef kernel = LLVMAddFunction(g->module, g->symbol, LLVMFunctionType(g->nothing, params, 2, false));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(g->context, kernel, "entry");
    LLVMBasicBlockRef none = LLVMAppendBasicBlockInContext(g->context, kernel, "none");
    gen_mark_kernel(g, kernel);
    g->plan = &plan;
    LLVMPositionBuilderAtEnd(g->b, entry);
    LLVMValueRef at = gen_i64(g, offsetof(rt_gpu_launch, step));
    at = LLVMBuildInBoundsGEP2(g->b, g->i8, LLVMGetParam(kernel, 0), &at, 1, "");
    LLVMValueRef choice = LLVMBuildSwitch(g->b, LLVMBuildLoad2(g->b, g->i32, at, "step"), none, (unsigned)plan.steps.n);
    LLVMPositionBuilderAtEnd(g->b, none);
    LLVMBuildRetVoid(g->b);
    add_steps_of_functions(g, choice, kernel);
    g->gpu->is_cut = true;
    g->gpu->record = plan.bytes;
    g->plan = NULL;
}
