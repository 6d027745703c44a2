/* Traces, unwinds and recalls become frames on a tape. SPDX-License-Identifier: Apache-2.0
 *
 * before   %r, %t = loop records (%a = %v0) { exit_if %c (%a) ... yield %a1 }
 *          unwind %t, %n (%k, %g = %g0) { %p = recall %a ... yield %g1 }
 * after    %r, %c1 = loop (%a = %v0, %c = %c0) { exit_if .. (%a, %c) ... %d = tape_push %c, %a  yield %a1, %d }
 *          for %k = %n - 1 down to 0 (%g = %g0, %c = %c1) { %d, %p = tape_pop %c ... yield %g1, %d }
 *
 * What is still recalled is what a frame holds. An iteration pushes its own frame last, after its inner
 * loops' frames, so the reverse pops it first and knows all it needs before it reverses what is inside.
 * Forwards, the cursor is an ordinary value that every region in which frames are pushed carries along.
 * A trace is the cursor behind its loop's last frame: where it is visible the unwind starts from it;
 * inside an unwound iteration it is where the previous unwind ended, or it was recorded (tape_frames.c).
 * Where the last unwind of what an op left has run, the cursor goes back to where it was before that op: a
 * derivative inside a loop's body leaves nothing on the tape.
 * A loop that records nothing and holds nothing that does is reversed without a tape.
 *
 * Afterwards there are no traces, unwinds or recalls. */
#include "analysis/order.h"
#include "tape/tape.h"

static ir_value *thread_region(tape *t, ir_region *r, ir_value *cursor);

static ir_value *
tape_begin(tape *t, ir_region *r, ir_loc loc)
{
    ir_op *begin = ir_op_new(t->fn, RG_OP_TAPE_BEGIN, 0, 0, loc);
    tape_total total = tape_count_of(t, r);
    if (total.formula)
        ir_insert_before(total.formula->def->next, begin);
    else
        ir_insert_first(r, begin);
    if (total.most)
        total.formula = tape_int(t, begin, RG_I64, (int64_t)total.most);
    if (total.formula)
        ir_op_arg(begin, t->fn, total.formula);
    begin->one_page = total.most > 0;
    begin->drops = total.formula && total.drops;
    ir_value *cursor = ir_op_result(begin, t->fn, ir_cursor(), NULL);
    map_set(&t->begins, map_ptr(r), cursor);
    return cursor;
}

/* -- forwards ---------------------------------------------------------------------------------------------- */
static ir_value *
thread_if(tape *t, ir_op *op, ir_value *cursor)
{
    for (uint32_t i = 0; i < 2; i++) {
        ir_value *end = thread_region(t, op->regions[i], cursor);
        ir_op_arg(ir_terminator(op->regions[i]), t->fn, end);
    }
    return ir_op_result(op, t->fn, ir_cursor(), NULL);
}

/* the cursor at an iteration's start is recorded where the unwinds inside do not lead back to it */
static void
record_start(tape *t, const ir_op *maker, ir_value *cursor)
{
    tape_frame *f = tape_frame_of(t, maker);
    if (!tape_region_moves(t, maker->regions[0]) || tape_is_chain(t, maker))
        return;
    f->start = cursor;
    vec_push(&f->slots, cursor);
    memmove(f->slots.at + 1, f->slots.at, sizeof(f->slots.at[0]) * (f->slots.n - 1));
    f->slots.at[0] = cursor; /* cursors are among the widest */
}

/* A loop that is left amid frames of its partial last iteration: its trace is the cursor below them. */
static bool
leaves_amid_frames(tape *t, const ir_op *op)
{
    return op->code == RG_OP_LOOP && op->records && tape_region_moves(t, op->regions[0]);
}

/* what op drops frames by, if it does */
static tape_segments *
segments_of(tape *t, const ir_op *op)
{
    return op->records ? tape_frame_of(t, op)->segments : NULL;
}

static ir_value *
thread_loop(tape *t, ir_op *op, ir_value *cursor)
{
    ir_region *body = op->regions[0];
    tape_segments *segments = segments_of(t, op);
    bool amid = leaves_amid_frames(t, op), records = op->records;
    ir_value *trace = records ? op->results[op->nresults - 1] : NULL;
    if (segments)
        cursor = tape_open_segments(t, segments, cursor);
    ir_op_arg(op, t->fn, cursor);
    ir_value *inside = ir_region_param(body, ir_cursor(), NULL);
    if (segments)
        inside = tape_check_segments(t, segments, inside);
    map_set(&t->begins, map_ptr(body), inside);
    if (records)
        record_start(t, op, inside);
    inside = thread_region(t, body, inside);
    ir_op *end = ir_terminator(body);
    if (records)
        inside = tape_push(t, op, inside, end);
    ir_op_arg(end, t->fn, inside);
    if (segments)
        tape_pass_segments(t, segments, end);
    op->records = false;
    cursor = !records || amid ? ir_op_result(op, t->fn, ir_cursor(), NULL) : trace;
    return segments ? tape_close_segments(t, segments, trace, cursor) : cursor;
}

static void
thread_exit(tape *t, ir_op *exit, ir_value *cursor)
{
    const ir_op *loop = exit->parent->op;
    if (!tape_moves(t, loop))
        return;
    if (leaves_amid_frames(t, loop))
        ir_op_arg(exit, t->fn, map_get(&t->begins, map_ptr(exit->parent)));
    ir_op_arg(exit, t->fn, cursor);
    tape_segments *segments = segments_of(t, loop);
    if (segments)
        tape_pass_segments(t, segments, exit);
}

/* -- backwards ------------------------------------------------------------------------------------------------ */
/* unwind trace, count, inits  ->  for hi - 1 down to lo (NULL: 0), inits; upwards where nobody can tell:
 * memory is read faster that way */
static void
become_for(tape *t, ir_op *op, ir_value *hi, ir_value *lo)
{
    bool upwards = ir_has_no_order(op, t->scratch);
    ir_value *minus_one = tape_int(t, op, RG_I64, -1);
    op->code = RG_OP_FOR;
    op->attr.step = upwards ? 1 : -1;
    if (upwards) {
        op->args[0] = lo ? lo : tape_int(t, op, RG_I64, 0);
        op->args[1] = hi;
        return;
    }
    op->args[0] = tape_scalar(t, RG_OP_ADD, op, RG_I64, hi, minus_one);
    op->args[1] = lo ? tape_scalar(t, RG_OP_ADD, op, RG_I64, lo, minus_one) : minus_one;
}

/* Unwinds one iteration (a thread, for a parallel) of maker from `cursor`; returns the cursor below it. */
static ir_value *
unwind_iteration(tape *t, const ir_op *maker, ir_op *by, ir_value *cursor, ir_op *first)
{
    ir_value *start = NULL;
    cursor = tape_pop(t, maker, by, cursor, first, &start);
    ir_value *end = thread_region(t, by->regions[0], cursor);
    return start ? start : end;
}

/* The unwind of what is on the tape at `cursor`; returns the cursor below. */
static ir_value *
thread_frames(tape *t, ir_op *op, ir_value *cursor, ir_value *hi, ir_value *lo)
{
    ir_region *body = op->regions[0];
    ir_op_arg(op, t->fn, cursor);
    ir_value *inside = ir_region_param(body, ir_cursor(), NULL);
    inside = unwind_iteration(t, tape_maker(t, op), op, inside, body->first);
    ir_op_arg(ir_terminator(body), t->fn, inside);
    become_for(t, op, hi, lo);
    return ir_op_result(op, t->fn, ir_cursor(), NULL);
}

/* `cursor` is where the unwind before this one ended. Returns where this one ends. */
static ir_value *
thread_unwind(tape *t, ir_op *op, ir_value *cursor)
{
    ir_op *maker = tape_maker(t, op);
    if (!tape_pushes(t, maker)) { /* but what an iteration records for itself, each from the same place */
        thread_region(t, op->regions[0], cursor);
        become_for(t, op, op->args[1], NULL);
        return cursor;
    }
    bool chained = tape_in_chain(t, op);
    ir_value *start = chained ? cursor : op->args[0], *end;
    tape_segments *segments = tape_frame_of(t, maker)->segments;
    if (segments) {
        tape_place at;
        tape_drive(t, segments, op, start, &at);
        end = thread_frames(t, op, at.cursor, at.hi, at.lo);
        end = tape_drive_on(t, segments, op, end, &at, thread_loop);
    } else {
        end = thread_frames(t, op, start, op->args[1], NULL);
    }
    return chained ? end : cursor;
}

/* -- arrays that are kept whole ------------------------------------------------------------------------------- */
static ir_value *
thread_snapshot(tape *t, ir_op *op, ir_value *cursor)
{
    op->code = RG_OP_TAPE_SAVE;
    ir_op_arg(op, t->fn, op->args[0]);
    op->args[0] = cursor;
    return op->results[0];
}

static ir_value *
thread_restore(tape *t, ir_op *op, ir_value *cursor)
{
    bool chained = tape_in_chain(t, op);
    ir_value *trace = op->args[1];
    op->code = RG_OP_TAPE_RESTORE;
    op->args[1] = op->args[0];
    op->args[0] = chained ? cursor : trace;
    ir_value *end = ir_op_result(op, t->fn, ir_cursor(), NULL);
    return chained ? end : cursor;
}

/* -- tasks -------------------------------------------------------------------------------------------------------- */
/* the trace operand of a rewinding parallel goes away */
static void
drop_trace_operand(ir_op *op)
{
    uint32_t at = 2 * op->attr.rank;
    memmove(&op->args[at], &op->args[at + 1], sizeof(op->args[0]) * (op->nargs - at - 1));
    op->nargs--;
}

static bool
unwinds_in(tape *t, const ir_region *r)
{
    for (size_t i = 0; i < t->unwinds.n; i++)
        if (ir_region_inside(t->unwinds.at[i]->parent, r) && tape_pushes(t, tape_maker(t, t->unwinds.at[i])))
            return true;
    return false;
}

static void
thread_parallel(tape *t, ir_op *op)
{
    ir_region *body = op->regions[0];
    ir_op *maker = op->rewinds ? tape_maker(t, op) : op;
    bool keeps = (op->records || op->rewinds) && tape_pushes(t, maker);
    if (op->rewinds)
        drop_trace_operand(op);
    if (op->records)
        op->nresults--;
    op->records = op->records && keeps;
    op->rewinds = op->rewinds && keeps;
    if (!keeps && !tape_region_moves(t, body) && !unwinds_in(t, body)) {
        thread_region(t, body, NULL);
        return;
    }
    ir_value *cursor = tape_begin(t, body, op->loc);
    if (op->rewinds) {
        cursor = unwind_iteration(t, maker, op, cursor, cursor->def->next);
    } else {
        if (op->records)
            record_start(t, op, cursor);
        cursor = thread_region(t, body, cursor);
    }
    ir_op *end = ir_terminator(body);
    if (op->records)
        cursor = tape_push(t, op, cursor, end);
    if (keeps)
        ir_op_arg(tape_op(t, RG_OP_TAPE_END, end), t->fn, cursor);
    if (tape_count_of(t, body).most)
        tape_has_room(body);
}

/* Ops of a region that left frames, and the cursor before each. */
typedef struct leaving {
    const ir_op *op;
    ir_value *before;
} leaving;
typedef vec(leaving) leavings;

/* frames that nobody takes back any more are left behind: the last ones, as far as that goes */
static ir_value *
leave_spent_frames(tape *t, leavings *left, const ir_op *now, ir_value *cursor)
{
    while (left->n) {
        leaving *last = &left->at[left->n - 1];
        const ir_op *by = tape_spent_by(t, last->op);
        if (!by || tape_number(t, by) > tape_number(t, now))
            break;
        cursor = last->before;
        left->n--;
    }
    return cursor;
}

/* Leads the cursor through r's ops (NULL: nothing in r moves or needs it); returns it at the region's end. */
static ir_value *
thread_region(tape *t, ir_region *r, ir_value *cursor)
{
    leavings left = {.in = t->scratch};
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next; /* an unwind may move */
        if (op->code == RG_OP_EXIT_IF) {
            thread_exit(t, op, cursor);
        } else if (op->code == RG_OP_PARALLEL) {
            thread_parallel(t, op);
        } else if (op->code == RG_OP_UNWIND) {
            cursor = thread_unwind(t, op, cursor);
        } else if (op->code == RG_OP_RESTORE) {
            cursor = thread_restore(t, op, cursor);
        } else if (op->code == RG_OP_SNAPSHOT) {
            vec_push(&left, ((leaving){op, cursor}));
            cursor = thread_snapshot(t, op, cursor);
        } else if (tape_moves(t, op)) {
            vec_push(&left, ((leaving){op, cursor}));
            cursor = op->code == RG_OP_IF ? thread_if(t, op, cursor) : thread_loop(t, op, cursor);
        } else {
            for (uint32_t i = 0; i < op->nregions; i++)
                thread_region(t, op->regions[i], cursor); /* for unwinds inside */
            if (op->records)
                op->nresults--;
            op->records = false;
        }
        cursor = leave_spent_frames(t, &left, op, cursor);
    }
    return cursor;
}

/* -- the pass ------------------------------------------------------------------------------------------------------- */
static ir_value *
begin_around(tape *t, const ir_region *r)
{
    ir_value *begin = NULL;
    for (; r && !begin; r = r->op ? r->op->parent : NULL)
        begin = map_get(&t->begins, map_ptr(r));
    return begin;
}

/* recalls go; what were traces are cursors; a trace of a loop that was not reached is any cursor */
static void
clean_up(tape *t, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->nregions; i++)
            clean_up(t, op->regions[i]);
        for (uint32_t i = 0; i < op->nresults; i++)
            if (op->results[i]->type.kind == IR_TRACE)
                op->results[i]->type = ir_cursor();
        if (op->code == RG_OP_CONST && op->results[0]->type.kind == IR_CURSOR) {
            t->replace[op->results[0]->id] = begin_around(t, r);
            ir_remove(op);
        } else if (op->code == RG_OP_RECALL) {
            ir_remove(op);
        }
    }
}

static void
lower_fn(ir_fn *fn, pass_context *c)
{
    tape t = {.fn = fn, .scratch = c->scratch, .drop = c->plan.drop};
    t.frames.in = t.lifted.in = t.owners.in = t.makers.in = t.moving.in = t.begins.in = c->scratch;
    t.order.in = t.spent.in = t.counts.in = c->scratch;
    t.recalls.in = t.unwinds.in = t.ways.in = t.segments.in = c->scratch;
    tape_find_slots(&t);
    ir_see_through_recalls(fn, c->scratch);
    for (size_t i = 0; i < t.unwinds.n; i++)
        (void)tape_is_chain(&t, tape_maker(&t, t.unwinds.at[i])); /* asked of what stands now */
    tape_order_slots(&t);
    tape_make_again(&t);
    tape_count_all(&t);
    /* ids of values made from here on are never replaced */
    size_t room = fn->next_id + 1;
    t.replace = arena_new_n(c->scratch, ir_value *, room);
    bool needed = tape_region_moves(&t, fn->body) || unwinds_in(&t, fn->body);
    ir_value *cursor = needed ? tape_begin(&t, fn->body, fn->loc) : NULL;
    thread_region(&t, fn->body, cursor);
    if (tape_count_of(&t, fn->body).most)
        tape_has_room(fn->body);
    clean_up(&t, fn->body);
    ir_value **replace = arena_new_n(c->scratch, ir_value *, fn->next_id + 1);
    memcpy(replace, t.replace, sizeof(*replace) * room);
    ir_replace_all(fn, replace);
}

bool
lower_tape(ir_module *m, pass_context *c)
{
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        lower_fn(fn, c);
    return true;
}
