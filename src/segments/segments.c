/* Entries, steps and the record of a launch in segments. SPDX-License-Identifier: Apache-2.0 */
#include "segments/segments.h"

#include "analysis/effects.h"
#include "ir/edges.h"

enum { ZEROS_AT_ONCE = 4096 }; /* bytes */
enum { ROW = 16 }; /* what slots and descriptions of arrays are aligned to */

/* -- the record ---------------------------------------------------------------------------------------------------- */

static uint32_t
reserve_place(segments *s, uint32_t bytes, uint32_t align)
{
    uint32_t place = (s->bytes + align - 1) & ~(align - 1);
    s->bytes = place + bytes;
    return place;
}

static void
place_values(segments *s, ir_value *const *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        s->places[values[i]->id] = reserve_place(s, SEGMENTS_CELL, SEGMENTS_CELL);
}

static void
place_results(segments *s, const ir_op *op)
{
    place_values(s, op->results, op->nresults);
    if (op->code != RG_OP_LOOP)
        return;
    const ir_op *exit = ir_next_exit(op, NULL); /* what it gives without a step, all exits do */
    for (uint32_t k = 0; k < op->nresults; k++)
        if (ir_stays_in_place(exit, 1 + k))
            s->places[op->results[k]->id] = s->places[exit->args[1 + k]->id];
}

/* what a segment makes that lies in the record as a whole */
static bool
place_memory(ir_op *op, void *user)
{
    segments *s = user;
    ir_value *made = op->nresults ? op->results[0] : NULL;
    if (op->code == RG_OP_TEMP) /* behind it the planes of the execution before */
        s->places[made->id] = reserve_place(s, sizeof(rt_arg) + sizeof(void *) * RT_PLANES, ROW);
    else if (op->code == RG_OP_SLOT)
        s->places[made->id] = reserve_place(s, made->type.length * ir_bytes(ir_dtype(made)), ROW);
    return true;
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

static uint32_t
add_step(segments *s, segments_step step)
{
    vec_push(&s->steps, step);
    return (uint32_t)s->steps.n - 1;
}

static uint32_t
place_of(const segments *s, const ir_value *condition)
{
    assert(s->places[condition->id] != SEGMENTS_NO_PLACE);
    return s->places[condition->id];
}

static void
add_entry(segments *s, const ir_op *op, segments_kind kind)
{
    add_step(s, (segments_step){.kind = kind, .entry = (uint32_t)s->entries.n});
    vec_push(&s->entries, op);
    place_values(s, op->results, op->nresults);
    if (kind == SEGMENTS_RUN)
        ir_walk(op->regions[0], place_memory, s);
}

static void add_steps(segments *s, const ir_region *r, uint32_t around);

static void
add_loop(segments *s, const ir_op *op)
{
    const ir_region *body = op->regions[0];
    uint32_t loop = add_step(s, (segments_step){.kind = SEGMENTS_LOOP, .entry = (uint32_t)s->loops.n});
    vec_push(&s->loops, op);
    place_values(s, body->params, body->nparams);
    place_results(s, op);
    add_steps(s, body, loop);
    uint32_t end = add_step(s, (segments_step){.kind = SEGMENTS_END, .to = loop});
    s->steps.at[loop].to = end;
    for (uint32_t i = loop; i < end; i++)
        if (s->steps.at[i].kind == SEGMENTS_EXIT_IF && s->steps.at[i].to == loop)
            s->steps.at[i].to = end;
}

static void
add_if(segments *s, const ir_op *op, uint32_t around)
{
    uint32_t first = add_step(s, (segments_step){.kind = SEGMENTS_IF, .place = place_of(s, op->args[0])});
    place_results(s, op);
    add_steps(s, op->regions[0], around);
    uint32_t before = (uint32_t)s->steps.n;
    uint32_t otherwise = add_step(s, (segments_step){.kind = SEGMENTS_ELSE});
    add_steps(s, op->regions[1], around);
    if (s->steps.n == before + 1) /* there is nothing in it */
        s->steps.n = before;
    uint32_t end = add_step(s, (segments_step){.kind = SEGMENTS_END, .to = (uint32_t)s->steps.n});
    s->steps.at[otherwise].to = end; /* of the if itself, where there is no else */
    s->steps.at[first].to = otherwise;
}

/* around: the step of the loop around; exits name it until its end is known */
static void
add_steps(segments *s, const ir_region *r, uint32_t around)
{
    ir_for_ops (op, r) {
        switch ((int)op->code) {
        case RG_OP_SEGMENT:
            add_entry(s, op, SEGMENTS_RUN);
            break;
        case RG_OP_PARALLEL:
            add_entry(s, op, SEGMENTS_TASK);
            break;
        case RG_OP_LOOP:
            add_loop(s, op);
            break;
        case RG_OP_IF:
            add_if(s, op, around);
            break;
        case RG_OP_EXIT_IF:
            add_step(s, (segments_step){.kind = SEGMENTS_EXIT_IF, .place = place_of(s, op->args[0]), .to = around});
            break;
        case RG_OP_SLOT:
            place_memory(op, s);
            break;
        }
    }
}

segments
segments_make(const ir_fn *fn, arena *in)
{
    segments s = {.steps.in = in, .entries.in = in, .loops.in = in, .places = arena_new_n(in, uint32_t, fn->next_id)};
    for (uint32_t i = 0; i < fn->next_id; i++)
        s.places[i] = SEGMENTS_NO_PLACE;
    add_steps(&s, fn->body, UINT32_MAX);
    s.bytes = (s.bytes + ROW - 1) & ~(uint32_t)(ROW - 1);
    return s;
}

static bool
is_no_loop(ir_op *op, void *user)
{
    bool loops = op->code == RG_OP_FOR || op->code == RG_OP_LOOP;
    if (loops)
        *(const ir_op **)user = op;
    return !loops;
}

const ir_op *
segments_named(const segments *s, uint32_t at)
{
    uint32_t around = segments_loop_around(s->steps.at, at);
    const ir_op *named = around != SEGMENTS_NO_PLACE ? s->loops.at[s->steps.at[around].entry] : NULL;
    for (size_t i = at; i < s->steps.n && !named; i++) {
        const segments_step *step = &s->steps.at[i];
        if (step->kind == SEGMENTS_TASK)
            named = s->entries.at[step->entry];
        else if (step->kind == SEGMENTS_LOOP)
            named = s->loops.at[step->entry];
        else if (step->kind == SEGMENTS_RUN)
            ir_walk(s->entries.at[step->entry]->regions[0], is_no_loop, &named);
    }
    return named;
}

void
segments_renumber(segments_step *steps, size_t n, const uint32_t *now)
{
    for (size_t i = 0; i < n; i++)
        if (steps[i].kind >= SEGMENTS_LOOP && steps[i].kind <= SEGMENTS_END)
            steps[i].to = now[steps[i].to];
}

/* -- what a segment writes ----------------------------------------------------------------------------------------- */

/* the op after the segment, if it hands results on to a loop or out of one; else NULL */
static const ir_op *
handed_on_by(const ir_op *segment)
{
    const ir_op *op = segment->next;
    while (op && ir_is_no_step(op))
        op = op->next;
    bool hands = op && (op->code == RG_OP_LOOP || op->code == RG_OP_EXIT_IF || op->code == RG_OP_YIELD);
    return hands ? op : NULL;
}

bool
segments_next_place(const segments *s, const ir_op *segment, uint32_t i, uint32_t *k, uint32_t *place)
{
    const ir_value *result = segment->results[i];
    const ir_op *op = handed_on_by(segment);
    *place = s->places[result->id];
    if ((*k)++ == 0)
        return true;
    for (uint32_t at = op ? ir_own_operands(op) + *k - 2 : 0; op && at < op->nargs; at++, ++*k)
        if (op->args[at] == result) {
            *place = s->places[ir_handed_to(op, at)->id];
            return true;
        }
    return false;
}

/* -- what is done behind a segment --------------------------------------------------------------------------------- */

static bool
copies_array(const ir_op *op)
{
    return op->code == RG_OP_TAPE_SAVE || op->code == RG_OP_TAPE_RESTORE;
}

/* a temp, which is set to zero */
static bool
may_come_before_zeros(const ir_op *op, const ir_op *temp)
{
    unsigned does = 0;
    if (copies_array(op))
        return segments_put_off(op) || !ir_may_be_same(op->args[1], temp->results[0]);
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        does |= ir_does_to(op, temp->results[0], plane);
    return !does;
}

/* Of frames that are restored none may be written over, and those that are saved are not there yet. What is put off of several ops is done
 * in their order. */
static bool
may_come_before(ir_op *op, void *user)
{
    const ir_op *copy = user;
    bool restores = copy->code == RG_OP_TAPE_RESTORE;
    if (copy->code == RG_OP_TEMP)
        return may_come_before_zeros(op, copy);
    if (op->code == copy->code)
        return true;
    if (copies_array(op) || op->code == RG_OP_TAPE_THIN || (restores && (op->code == RG_OP_TAPE_PUSH || op->code == RG_OP_TAPE_TASKS)))
        return false;
    return ir_commute(ir_does_to(op, copy->args[1], RG_PRIMAL), restores ? IR_WRITES : IR_READS);
}

bool
segments_meet(const ir_op *put_off, const ir_op *op)
{
    bool may = may_come_before((ir_op *)op, (ir_op *)put_off);
    for (uint32_t i = 0; i < op->nregions && may; i++)
        may = ir_walk(op->regions[i], may_come_before, (ir_op *)put_off);
    return !may;
}

/* so few that a step would take longer */
static bool
are_few_zeros(const ir_op *temp)
{
    uint64_t n = 1, extent;
    for (uint32_t k = 0; k < temp->nargs; k++) {
        if (!ir_is_const(temp->args[k], &extent))
            return false;
        n = n > ZEROS_AT_ONCE || extent > ZEROS_AT_ONCE ? n + extent : n * extent;
    }
    return n * ir_bytes(ir_dtype(temp->results[0])) <= ZEROS_AT_ONCE;
}

bool
segments_put_off(const ir_op *op)
{
    if (!copies_array(op) && (op->code != RG_OP_TEMP || are_few_zeros(op)))
        return false;
    for (const ir_op *at = op;; at = at->parent->op) {
        const ir_op *around = at->parent->op;
        for (const ir_op *next = at->next; next; next = next->next)
            if (segments_meet(op, next))
                return false;
        if (!around || around->code != RG_OP_IF)
            return around && around->code == RG_OP_SEGMENT;
    }
}
