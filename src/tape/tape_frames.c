/* Frames: which values they hold, which unwinds follow each other without a gap, pushes and pops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tape/tape.h"

tape_frame *
tape_frame_of(tape *t, const ir_op *maker)
{
    tape_frame *f = map_get(&t->frames, map_ptr(maker));
    if (!f) {
        f = arena_one(t->scratch, tape_frame);
        f->slots.in = t->scratch;
        map_set(&t->frames, map_ptr(maker), f);
    }
    return f;
}

ir_op *
tape_maker(tape *t, const ir_op *unwind)
{
    return map_get(&t->makers, map_ptr(unwind));
}

/* -- which ops move the cursor ----------------------------------------------------------------------------- */
bool
tape_region_moves(tape *t, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        if (tape_moves(t, op))
            return true;
    return false;
}

bool
tape_pushes(tape *t, const ir_op *maker)
{
    if (!maker->nregions)
        return true; /* a snapshot */
    const tape_frame *f = tape_frame_of(t, maker);
    return f->slots.n > 0 || f->segments || tape_region_moves(t, maker->regions[0]);
}

static bool
find_moves(tape *t, const ir_op *op)
{
    if (op->code == RG_OP_PARALLEL || op->code == RG_OP_UNWIND)
        return false; /* threads have their workers' tapes; an unwind starts from its trace */
    if (op->code == RG_OP_SNAPSHOT)
        return true;
    if (op->records)
        return tape_pushes(t, op);
    for (uint32_t i = 0; i < op->nregions; i++)
        if (tape_region_moves(t, op->regions[i]))
            return true;
    return false;
}

bool
tape_moves(tape *t, const ir_op *op)
{
    if (!op->nregions && op->code != RG_OP_SNAPSHOT && op->code != RG_OP_TAPE_SAVE)
        return false; /* (what was a snapshot is a save when it has been lowered) */
    uintptr_t known = (uintptr_t)map_get(&t->moving, map_ptr(op));
    if (!known) {
        known = find_moves(t, op) ? 1 : 2;
        map_set(&t->moving, map_ptr(op), (void *)known);
    }
    return known == 1;
}

/* -- chains ---------------------------------------------------------------------------------------------------
 * An iteration's frame stands on those of the loops inside it. If every unwind of the iteration undoes
 * just these loops, last to first, each starts where the one before it ended and the iteration below
 * starts where the last one ended. Else each inner trace is recorded like a value, and so is the cursor
 * at the iteration's start. */
uintptr_t
tape_number(const tape *t, const ir_op *op)
{
    return (uintptr_t)map_get(&t->order, map_ptr(op));
}

static bool
number_op(ir_op *op, void *user)
{
    tape *t = user;
    map_set(&t->order, map_ptr(op), (void *)(tape_number(t, op->prev ? op->prev : op) + 1));
    return true;
}

static const char outside; /* its address: an unwind stands outside of the region */

/* notes for every op around an unwind's maker how far the unwind reaches beyond it */
static void
note_unwind(tape *t, ir_op *unwind)
{
    for (ir_op *op = tape_maker(t, unwind); op; op = op->parent->op) {
        const ir_op *by = ir_ancestor_in(unwind, op->parent), *known = map_get(&t->spent, map_ptr(op));
        if (by == op)
            return; /* both are in it */
        if (!by)
            map_set(&t->spent, map_ptr(op), (void *)&outside);
        else if (!known || ((const char *)known != &outside && tape_number(t, known) < tape_number(t, by)))
            map_set(&t->spent, map_ptr(op), (void *)by);
    }
}

const ir_op *
tape_spent_by(tape *t, const ir_op *op)
{
    if (!t->order.n && t->unwinds.n) {
        ir_walk(t->fn->body, number_op, t);
        for (size_t i = 0; i < t->unwinds.n; i++)
            note_unwind(t, t->unwinds.at[i]);
    }
    const ir_op *by = map_get(&t->spent, map_ptr(op));
    return !by ? op : (const char *)by == &outside ? NULL : by;
}

void
tape_keeps_frames(tape *t, const ir_op *op)
{
    map_set(&t->spent, map_ptr(op), (void *)&outside);
}

/* whether frames that ops of r left before `at` are all taken back there */
static bool
is_clean_at(tape *t, const ir_op *at)
{
    for (const ir_op *op = at->parent->first; op != at; op = op->next) {
        const ir_op *by = tape_moves(t, op) ? tape_spent_by(t, op) : op;
        if (!by || (by != op && tape_number(t, by) >= tape_number(t, at)))
            return false;
    }
    return true;
}

/* whether this op takes back frames that were not left in its own region */
static bool
undoes(tape *t, const ir_op *op, const ir_region *r)
{
    return (op->code == RG_OP_UNWIND || op->code == RG_OP_RESTORE) && tape_pushes(t, tape_maker(t, op)) &&
           !ir_region_inside(tape_maker(t, op)->parent, r);
}

static bool
undoes_all(tape *t, const ir_op *maker, const ir_op *by)
{
    const ir_op *undo = by->regions[0]->first;
    for (const ir_op *op = maker->regions[0]->last; op; op = op->prev) {
        if (!tape_moves(t, op) || tape_spent_by(t, op))
            continue;
        while (undo && !undoes(t, undo, by->regions[0]))
            undo = undo->next;
        if (undo && !is_clean_at(t, undo))
            return false;
        bool snapshot = op->code == RG_OP_SNAPSHOT;
        bool flat = snapshot || op->code == RG_OP_FOR || !tape_region_moves(t, op->regions[0]);
        if (!undo || !(op->records || snapshot) || !flat || tape_maker(t, undo) != op)
            return false; /* a loop left amid frames does not end where its last full iteration did */
        undo = undo->next;
    }
    for (; undo; undo = undo->next)
        if (undoes(t, undo, by->regions[0]) && tape_maker(t, undo)->parent == maker->regions[0])
            return false; /* a second time, or out of order: the cursor is below those frames */
    return true;
}

bool
tape_is_chain(tape *t, const ir_op *maker)
{
    if (!maker->nregions)
        return true; /* a snapshot */
    tape_frame *f = tape_frame_of(t, maker);
    if (!f->chain) {
        f->chain = 1;
        for (size_t i = 0; i < t->unwinds.n && f->chain == 1; i++)
            if (tape_maker(t, t->unwinds.at[i]) == maker && !undoes_all(t, maker, t->unwinds.at[i]))
                f->chain = 2;
    }
    return f->chain == 1;
}

bool
tape_in_chain(tape *t, const ir_op *unwind)
{
    const ir_op *around = unwind->parent->op, *inner = tape_maker(t, unwind);
    const ir_op *outer = around ? tape_maker(t, around) : NULL;
    return outer && inner->parent == outer->regions[0] && tape_is_chain(t, outer);
}

/* -- slots ------------------------------------------------------------------------------------------------------ */
static bool
collect_frame_users(ir_op *op, void *user)
{
    tape *t = user;
    bool rewinds = op->code == RG_OP_PARALLEL && op->rewinds, restores = op->code == RG_OP_RESTORE;
    if (op->code == RG_OP_RECALL)
        vec_push(&t->recalls, op);
    if (op->code != RG_OP_UNWIND && !rewinds && !restores)
        return true;
    vec_push(&t->unwinds, op);
    map_set(&t->makers, map_ptr(op), ir_trace_maker(op->args[rewinds ? 2 * op->attr.rank : restores]));
    return true;
}

/* carries a recalled value out of ifs, and of loops left early, up to the body that records it or to
 * where it can be seen; a slot of that body's frame */
static void
make_slot(tape *t, ir_op *recall, const ir_steps *steps)
{
    size_t i = 0;
    for (; i < steps->n && !steps->at[i].unwound_by; i++)
        recall->args[0] = ir_lift(t->fn, recall->args[0], steps->at[i].op, &t->lifted);
    if (i == steps->n)
        return; /* visible now */
    map_set(&t->owners, map_ptr(recall), steps->at[i].unwound_by);
    tape_frame *f = tape_frame_of(t, steps->at[i].op);
    for (size_t s = 0; s < f->slots.n; s++)
        if (f->slots.at[s] == recall->args[0])
            return;
    vec_push(&f->slots, recall->args[0]);
}

/* whether some unwind starts from this recalled trace rather than from where another ended */
static bool
starts_an_unwind(tape *t, const ir_op *recall)
{
    for (size_t i = 0; i < t->unwinds.n; i++) {
        const ir_op *op = t->unwinds.at[i];
        bool starts = (op->code == RG_OP_UNWIND && op->args[0] == recall->results[0]) ||
                      (op->code == RG_OP_RESTORE && op->args[1] == recall->results[0]);
        if (starts &&
            tape_pushes(t, tape_maker(t, op)) && !tape_in_chain(t, op))
            return true;
    }
    return false;
}

/* whether loops drop frames is recorded like other values */
static void
find_segments(tape *t)
{
    size_t first = t->recalls.n;
    tape_find_segments(t);
    for (size_t i = first; i < t->recalls.n; i++) {
        vec_push(&t->ways, ((ir_steps){.in = t->scratch}));
        ir_recall_steps(t->recalls.at[i], &t->ways.at[i]);
        make_slot(t, t->recalls.at[i], &t->ways.at[i]);
    }
    for (size_t i = 0; i < t->segments.n; i++) {
        tape_segments *c = t->segments.at[i];
        const ir_op *recall = c->seen ? c->seen->def : NULL;
        if (recall && recall->code == RG_OP_RECALL && ir_region_inside(recall->parent, recall->args[0]->region))
            c->seen = recall->args[0]; /* carried out to where it can be seen */
    }
}

/* Slots of values first: they decide which loops push. Then of the traces that must be recorded; their
 * ways out are found before any is lifted, since the ways of inner ones lead through unwinds of outer. */
void
tape_find_slots(tape *t)
{
    ir_walk(t->fn->body, collect_frame_users, t);
    for (size_t i = 0; i < t->recalls.n; i++)
        vec_push(&t->ways, ((ir_steps){.in = t->scratch}));
    for (int traces = 0; traces < 2; traces++) {
        for (size_t i = 0; i < t->recalls.n; i++) {
            const ir_op *recall = t->recalls.at[i];
            bool trace = recall->args[0]->type.kind == IR_TRACE;
            if (trace == traces && (!trace || starts_an_unwind(t, recall)))
                ir_recall_steps(recall, &t->ways.at[i]);
        }
        for (size_t i = 0; i < t->recalls.n; i++)
            if ((t->recalls.at[i]->args[0]->type.kind == IR_TRACE) == traces && t->ways.at[i].n)
                make_slot(t, t->recalls.at[i], &t->ways.at[i]);
        if (!traces)
            find_segments(t);
    }
}

/* -- pushes and pops ---------------------------------------------------------------------------------------------- */
uint32_t
tape_frame_bytes(const tape *t, const tape_frame *f, bool starts)
{
    ir_frame frame = {0};
    if (starts)
        ir_frame_hold(&frame, ir_cursor());
    for (size_t i = 0; i < f->slots.n; i++)
        ir_frame_hold(&frame, f->slots.at[i]->type);
    return ir_frame_size(t->fn->module->target, &frame);
}

static int
by_size_then_id(const void *a, const void *b)
{
    const ir_value *x = *(ir_value *const *)a, *y = *(ir_value *const *)b;
    uint32_t bx = ir_slot_unit(x->type), by = ir_slot_unit(y->type);
    if (bx != by)
        return bx > by ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

void
tape_order_slots(tape *t)
{
    for (size_t i = 0; i < t->frames.cap; i++) {
        tape_frame *f = t->frames.values[i];
        if (f && f->slots.n > 1)
            qsort(f->slots.at, f->slots.n, sizeof(f->slots.at[0]), by_size_then_id);
    }
}

static uint32_t
most_of_push(const ir_value *v)
{
    return v->region->fn->module->target->frame_max - 16;
}


/* an array that no frame can hold: it is pushed element by element */
static bool
is_too_large(const ir_value *v)
{
    return ir_slot_bytes(v->type) > most_of_push(v);
}

/* values from `first` on that fit into one push */
static size_t
push_end(ir_value *const *values, size_t n, size_t first)
{
    uint32_t bytes = 0;
    size_t i = first;
    while (i < n && (i == first || bytes + ir_slot_bytes(values[i]->type) <= most_of_push(values[i])))
        bytes += ir_slot_bytes(values[i++]->type);
    return i;
}

bool
tape_fit_one_frame(ir_value *const *values, size_t n)
{
    return push_end(values, n, 0) == n && !(n == 1 && is_too_large(values[0]));
}

bool
tape_pushes_one_frame(tape *t, const ir_op *maker)
{
    const tape_frame *f = tape_frame_of(t, maker);
    return f->slots.n && tape_fit_one_frame(f->slots.at, f->slots.n) &&
           !tape_region_moves(t, maker->regions[0]);
}

static ir_value *
push_once(tape *t, ir_value *const *values, size_t n, ir_loc loc, ir_value *cursor, ir_op *at)
{
    ir_op *push = tape_op(t, RG_OP_TAPE_PUSH, at);
    push->loc = loc;
    ir_op_arg(push, t->fn, cursor);
    for (size_t s = 0; s < n; s++)
        ir_op_arg(push, t->fn, values[s]);
    return ir_op_result(push, t->fn, ir_cursor(), NULL);
}

/* for %i = from to (to), with carried values to come; its yield is made last */
static ir_op *
elements_loop(tape *t, const ir_value *array, bool up, ir_op *at)
{
    int64_t length = array->type.length;
    ir_op *loop = ir_op_new(t->fn, RG_OP_FOR, 4, 1, at->loc);
    ir_op_arg(loop, t->fn, tape_int(t, at, RG_I64, up ? 0 : length - 1));
    ir_op_arg(loop, t->fn, tape_int(t, at, RG_I64, up ? length : -1));
    loop->attr.step = up ? 1 : -1;
    ir_insert_before(at, loop);
    ir_region_param(loop->regions[0], ir_scalar(RG_I64), NULL);
    ir_append(loop->regions[0], ir_op_new(t->fn, RG_OP_YIELD, 2, 0, at->loc));
    return loop;
}

static ir_value *
carried(tape *t, ir_op *loop, ir_value *init)
{
    ir_op_arg(loop, t->fn, init);
    return ir_region_param(loop->regions[0], init->type, NULL);
}

static ir_value *
next_carried(tape *t, ir_op *loop, ir_value *next)
{
    ir_op_arg(ir_terminator(loop->regions[0]), t->fn, next);
    return ir_op_result(loop, t->fn, next->type, NULL);
}

static ir_type
array_element_type(const ir_value *array)
{
    return ir_with_lanes(ir_scalar((rg_dtype)array->type.dtype), array->type.lanes);
}

static ir_value *
push_elements(tape *t, ir_value *array, ir_loc loc, ir_value *cursor, ir_op *at)
{
    ir_op *loop = elements_loop(t, array, true, at), *end = ir_terminator(loop->regions[0]);
    cursor = carried(t, loop, cursor);
    ir_op *extract = tape_op(t, RG_OP_EXTRACT, end);
    ir_op_arg(extract, t->fn, array);
    ir_op_arg(extract, t->fn, loop->regions[0]->params[0]);
    ir_value *element = ir_op_result(extract, t->fn, array_element_type(array), NULL);
    return next_carried(t, loop, push_once(t, &element, 1, loc, cursor, end));
}

static ir_value *
pop_elements(tape *t, const ir_value *like, ir_value **out, ir_value *cursor, ir_op *at)
{
    ir_value *array = ir_zero_before(t->fn, at, like->type);
    ir_op *loop = elements_loop(t, like, false, at), *end = ir_terminator(loop->regions[0]);
    array = carried(t, loop, array);
    cursor = carried(t, loop, cursor);
    ir_op *pop = tape_op(t, RG_OP_TAPE_POP, end);
    ir_op_arg(pop, t->fn, cursor);
    cursor = ir_op_result(pop, t->fn, ir_cursor(), NULL);
    ir_op *insert = tape_op(t, RG_OP_INSERT, end);
    ir_op_arg(insert, t->fn, array);
    ir_op_arg(insert, t->fn, loop->regions[0]->params[0]);
    ir_op_arg(insert, t->fn, ir_op_result(pop, t->fn, array_element_type(like), NULL));
    *out = next_carried(t, loop, ir_op_result(insert, t->fn, like->type, like->name));
    return next_carried(t, loop, cursor);
}

ir_value *
tape_push_values(tape *t, ir_value *const *values, size_t n, ir_loc loc, ir_value *cursor, ir_op *at)
{
    for (size_t i = 0, end; i < n; i = end) {
        end = push_end(values, n, i);
        cursor = is_too_large(values[i]) ? push_elements(t, values[i], loc, cursor, at)
                                         : push_once(t, values + i, end - i, loc, cursor, at);
    }
    return cursor;
}

void
tape_mark_pushes(ir_op *from, const ir_op *to, bool again, bool room)
{
    for (ir_op *op = from; op != to; op = op->next) {
        if (op->code == RG_OP_FOR)
            tape_mark_pushes(op->regions[0]->first, NULL, again, room);
        if (op->code != RG_OP_TAPE_PUSH)
            continue;
        op->again = again;
        op->in_page = room;
    }
}

ir_value *
tape_push(tape *t, const ir_op *maker, ir_value *cursor, ir_op *at)
{
    tape_frame *f = tape_frame_of(t, maker);
    ir_op *before = at->prev;
    cursor = tape_push_values(t, f->slots.at, f->slots.n, maker->loc, cursor, at);
    tape_mark_pushes(before ? before->next : at->parent->first, at, f->again, f->segments && f->segments->leaf);
    return cursor;
}

/* The last push of several comes off first. */
ir_value *
tape_pop_values(tape *t, ir_value *const *like, size_t n, ir_value **out, ir_value *cursor, ir_op *at)
{
    size_t first = n;
    while (first > 0) {
        size_t end = first;
        for (first = 0; push_end(like, n, first) != end;)
            first = push_end(like, n, first);
        if (is_too_large(like[first])) {
            cursor = pop_elements(t, like[first], &out[first], cursor, at);
            continue;
        }
        ir_op *pop = tape_op(t, RG_OP_TAPE_POP, at);
        ir_op_arg(pop, t->fn, cursor);
        cursor = ir_op_result(pop, t->fn, ir_cursor(), NULL);
        for (size_t s = first; s < end; s++) {
            ir_type type = like[s]->type;
            out[s] = ir_op_result(pop, t->fn, type.kind == IR_TRACE ? ir_cursor() : type, like[s]->name);
        }
    }
    return cursor;
}

typedef struct popped {
    tape *t;
    const tape_frame *f;
    const ir_op *by;
    ir_value **values;
} popped;

static bool
use_popped(ir_op *op, void *user)
{
    popped *p = user;
    if (op->code != RG_OP_RECALL || map_get(&p->t->owners, map_ptr(op)) != p->by)
        return true;
    for (size_t s = 0; s < p->f->slots.n; s++)
        if (p->f->slots.at[s] == op->args[0])
            p->t->replace[op->results[0]->id] = p->values[s];
    return true;
}

ir_value *
tape_pop(tape *t, const ir_op *maker, ir_op *by, ir_value *cursor, ir_op *at, ir_value **start)
{
    tape_frame *f = tape_frame_of(t, maker);
    popped p = {t, f, by, arena_new_n(t->scratch, ir_value *, f->slots.n + 1)};
    cursor = tape_pop_values(t, f->slots.at, f->slots.n, p.values, cursor, at);
    for (size_t s = 0; s < f->slots.n; s++)
        if (f->slots.at[s] == f->start)
            *start = p.values[s];
    ir_walk(by->regions[0], use_popped, &p);
    return cursor;
}

/* -- small ops ------------------------------------------------------------------------------------------------------- */
ir_value *
tape_scalar(tape *t, rg_op code, ir_op *at, rg_dtype result, ir_value *x, ir_value *y)
{
    ir_emit e = {t->fn, at->parent, at, at->loc};
    return ir_emit_value(&e, code, ir_scalar(result), y ? 2 : 1, (ir_value *[]){x, y});
}

ir_value *
tape_int(tape *t, ir_op *at, rg_dtype dtype, int64_t v)
{
    ir_emit e = {t->fn, at->parent, at, at->loc};
    return ir_emit_int(&e, dtype, v);
}
