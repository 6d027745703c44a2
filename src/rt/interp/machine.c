/* The machine: programs, frames, dispatch. SPDX-License-Identifier: Apache-2.0 */
#include "rt/interp/machine.h"

#include <math.h>

/* -- programs
 * ---------------------------------------------------------------------------------------- */

static uint8_t
kind_flags(ir_type t)
{
    switch ((ir_kind)t.kind) {
    case IR_ARRAY:
        return INTERP_ARRAY | INTERP_MOVES;
    case IR_SLOT:
        return INTERP_ARRAY;
    case IR_TRACE:
        return INTERP_TRACE;
    case IR_SCALAR:
        return t.lanes ? INTERP_ARRAY : 0;
    case IR_BUFFER:
    case IR_CURSOR:
        break;
    }
    return 0;
}

static void
classify_params(interp_program *p, const ir_region *r)
{
    for (uint32_t k = 0; k < r->nparams; k++)
        p->flags[r->params[k]->id] |= kind_flags(r->params[k]->type);
}

static bool
classify(ir_op *op, void *user)
{
    interp_program *p = user;
    for (uint32_t k = 0; k < op->nresults; k++)
        p->flags[op->results[k]->id] |= kind_flags(op->results[k]->type);
    for (uint32_t k = 0; k < op->nregions; k++)
        classify_params(p, op->regions[k]);
    if (op->code == RG_OP_TABLE)
        p->flags[op->results[0]->id] &= (uint8_t)~INTERP_MOVES;
    if (op->nargs > p->widest)
        p->widest = op->nargs;
    return true;
}

static bool
mark_recalled(ir_op *op, void *user)
{
    interp_program *p = user;
    if (op->code == RG_OP_RECALL) {
        uint8_t *flags = &p->flags[op->args[0]->id];
        *flags = (uint8_t)((*flags | INTERP_RECALLED) & ~INTERP_MOVES);
    }
    return true;
}

typedef struct collector {
    interp_program *program;
    arena *arena;
    vec(uint32_t) ids;
    int64_t bytes;
} collector;

static void
collect_value(collector *c, const ir_value *v)
{
    if (!(c->program->flags[v->id] & INTERP_RECALLED))
        return;
    vec_push(&c->ids, v->id);
    if (v->type.kind == IR_SCALAR || v->type.kind == IR_ARRAY)
        c->bytes += ir_slot_bytes(v->type);
}

static bool
collect_op(ir_op *op, void *user)
{
    collector *c = user;
    for (uint32_t k = 0; k < op->nresults; k++)
        collect_value(c, op->results[k]);
    for (uint32_t k = 0; k < op->nregions; k++)
        for (uint32_t i = 0; i < op->regions[k]->nparams; i++)
            collect_value(c, op->regions[k]->params[i]);
    return true;
}

/* A recording loop saves every recalled value of its body, inner loops included. */
static bool
find_saved(ir_op *op, void *user)
{
    collector *c = user;
    const ir_value *trace = interp_trace_result(op);
    if (!trace)
        return true;
    vec_clear(&c->ids);
    c->bytes = 0;
    for (uint32_t i = 0; i < op->nregions; i++) {
        ir_region *body = op->regions[i];
        for (uint32_t k = 0; k < body->nparams; k++)
            collect_value(c, body->params[k]);
        ir_walk(body, collect_op, c);
    }
    if (op->code == RG_OP_SNAPSHOT) /* a row is an element */
        c->bytes = ir_bytes((rg_dtype)op->args[0]->type.dtype);
    interp_saved *saved = arena_one(c->arena, interp_saved);
    saved->n = (uint32_t)c->ids.n;
    saved->ids = arena_new_n(c->arena, uint32_t, c->ids.n + 1);
    if (c->ids.n)
        memcpy(saved->ids, c->ids.at, sizeof(uint32_t) * c->ids.n);
    saved->bytes = c->bytes;
    saved->flags = c->program->flags;
    c->program->saved[trace->id] = saved;
    return true;
}

interp_program *
interp_prepare(interp_machine *m, const ir_fn *fn)
{
    for (interp_program *p = m->programs; p; p = p->next)
        if (p->fn == fn)
            return p;
    interp_program *p = arena_one(m->arena, interp_program);
    p->fn = fn;
    p->flags = arena_new_n(m->arena, uint8_t, fn->next_id + 1);
    p->saved = arena_new_n(m->arena, interp_saved *, fn->next_id + 1);
    classify_params(p, fn->body);
    ir_walk(fn->body, classify, p);
    if (fn->shape)
        ir_walk(fn->shape, classify, p);
    ir_walk(fn->body, mark_recalled, p);
    collector c = {.program = p, .arena = m->arena, .ids.in = m->arena};
    ir_walk(fn->body, find_saved, &c);
    if (p->widest > m->scratch_size) {
        m->scratch = arena_new_n(m->arena, interp_word, p->widest);
        m->scratch_size = p->widest;
    }
    p->next = m->programs;
    return m->programs = p;
}

/* -- frames
 * ------------------------------------------------------------------------------------------ */

void
interp_frame_open(interp_frame *f, interp_machine *m, const interp_program *p)
{
    *f = (interp_frame){.machine = m, .program = p, .flags = p->flags};
    f->words = mem_zalloc(((size_t)p->fn->next_id + 1) * sizeof *f->words);
    f->caller = m->frame;
    m->frame = f;
}

void
interp_frame_close(interp_frame *f)
{
    for (uint32_t id = 0; f->words && id < f->program->fn->next_id; id++)
        if (f->flags[id] & INTERP_COUNTED)
            interp_drop(f->machine, f->flags[id], f->words[id]);
    mem_free(f->words);
    f->words = NULL;
    f->machine->frame = f->caller;
}

/* -- faults
 * ------------------------------------------------------------------------------------------ */

interp_flow
interp_fault(interp_frame *f, const ir_op *op, rt_fault fault, const char *format, ...)
{
    interp_report *report = f->machine->report;
    const ir_module *module = f->program->fn->module;
    report->fault = fault;
    report->loc = op->loc;
    report->path = op->loc.file < module->files.n ? module->files.at[op->loc.file].path : NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(report->message, sizeof report->message, format, args);
    va_end(args);
    return FLOW_FAULT;
}

bool
interp_may_go_on(interp_frame *f, const ir_op *op)
{
    interp_machine *m = f->machine;
    const atomic_uint *stop = m->options->stop;
    if (stop && atomic_load_explicit(stop, memory_order_relaxed)) {
        interp_fault(f, op, RT_FAULT_CANCELLED, "the launch was cancelled");
        return false;
    }
    if (!m->options->step_limit || m->steps < m->options->step_limit)
        return true;
    m->report->out_of_steps = true;
    interp_fault(f, op, RT_FAULT_BUDGET, "gave up after %llu operations",
                 (unsigned long long)m->steps);
    return false;
}

/* -- dispatch
 * ---------------------------------------------------------------------------------------- */

static interp_flow
run_const(interp_frame *f, const ir_op *op)
{
    f->words[op->results[0]->id].bits = op->attr.bits;
    return FLOW_NEXT;
}

/* every op that is not computed from its operands' bits alone */
static interp_step *const steps[RG_OP_COUNT] = {
    [RG_OP_CONST] = run_const,
    [RG_OP_LOAD] = interp_load,
    [RG_OP_STORE] = interp_store,
    [RG_OP_RMW] = interp_rmw,
    [RG_OP_EXTENT] = interp_extent,
    [RG_OP_PICK] = interp_pick,
    [RG_OP_TEMP] = interp_temp,
    [RG_OP_ARRAY] = interp_array_op,
    [RG_OP_TABLE] = interp_table,
    [RG_OP_COPY] = interp_copy,
    [RG_OP_EXTRACT] = interp_extract,
    [RG_OP_INSERT] = interp_insert,
    [RG_OP_IF] = interp_if,
    [RG_OP_SEGMENT] = interp_segment,
    [RG_OP_FOR] = interp_for,
    [RG_OP_LOOP] = interp_loop,
    [RG_OP_PARALLEL] = interp_parallel,
    [RG_OP_YIELD] = interp_yield,
    [RG_OP_EXIT_IF] = interp_exit_if,
    [RG_OP_CALL] = interp_call,
    [RG_OP_UNWIND] = interp_unwind,
    [RG_OP_RECALL] = interp_recall,
    [RG_OP_SNAPSHOT] = interp_snapshot,
    [RG_OP_RESTORE] = interp_restore,
    [RG_OP_ASSERT] = interp_assert,
    [RG_OP_PRINT] = interp_print,
    [RG_OP_TAPE_BEGIN] = interp_tape_begin,
    [RG_OP_TAPE_END] = interp_tape_end,
    [RG_OP_TAPE_PUSH] = interp_tape_push,
    [RG_OP_TAPE_POP] = interp_tape_pop,
    [RG_OP_TAPE_OVER] = interp_tape_over,
    [RG_OP_TAPE_ROOM] = interp_tape_over,
    [RG_OP_TAPE_THIN] = interp_tape_thin,
    [RG_OP_TAPE_SAVE] = interp_tape_save,
    [RG_OP_TAPE_RESTORE] = interp_tape_restore,
    [RG_OP_TAPE_TASKS] = interp_tape_tasks,
    [RG_OP_TAPE_OVER_TASKS] = interp_tape_over_tasks,
    [RG_OP_SPLAT] = interp_splat,
    [RG_OP_LANE] = interp_lane_numbers,
    [RG_OP_LANES_ANY] = interp_lanes_any,
    [RG_OP_LANES_BITS] = interp_lanes_bits,
    [RG_OP_LANES_REDUCE] = interp_lanes_reduce,
    [RG_OP_LANE_GET] = interp_lane_get,
    [RG_OP_LANE_SET] = interp_lane_set,
    [RG_OP_SLOT] = interp_slot,
    [RG_OP_SLOT_LOAD] = interp_slot_load,
    [RG_OP_SLOT_STORE] = interp_slot_store,
    [RG_OP_SLOT_COPY] = interp_slot_copy,
    [RG_OP_SLOT_ZERO] = interp_slot_zero,
    [RG_OP_SLOT_TURN] = interp_slot_turn,
};

static void
run_scalar(interp_frame *f, const ir_op *op)
{
    interp_word *words = f->words;
    uint64_t x = words[op->args[0]->id].bits;
    uint64_t y = op->nargs > 1 ? words[op->args[1]->id].bits : 0;
    uint64_t z = op->nargs > 2 ? words[op->args[2]->id].bits : 0;
    uint64_t *result = &words[op->results[0]->id].bits;
    if (op->code == RG_OP_SELECT)
        *result = x & 1 ? y : z;
    else
        ir_eval((rg_op)op->code, (rg_dtype)op->args[0]->type.dtype,
                (rg_dtype)op->results[0]->type.dtype, x, y, z, result);
    rg_dtype type = (rg_dtype)op->results[0]->type.dtype;
    f->machine->nans += ir_is_float(type) && isnan(ir_bits_float(type, *result));
}

interp_flow
interp_region(interp_frame *f, const ir_region *region)
{
    for (const ir_op *op = region->first; op; op = op->next) {
        f->machine->steps++;
        interp_step *step = steps[op->code];
        if (!step && !op->results[0]->type.lanes) {
            run_scalar(f, op);
            continue;
        }
        interp_flow flow = step ? step(f, op) : interp_scalar_lanes(f, op);
        if (flow != FLOW_NEXT)
            return flow;
    }
    return FLOW_YIELD; /* not reached: every region ends with a yield */
}
