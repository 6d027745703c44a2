/* Traces, unwinds and recalls become frames on a tape. SPDX-License-Identifier: Apache-2.0
 *
 * before   %r, %t = loop records (%a = %v0) { exit_if %c (%a) ... yield %a1 }
 *          unwind %t, %n (%k, %g = %g0) { %p = recall %a ... yield %g1 }
 * after    %r, %c1 = loop (%a = %v0, %c = %c0) { exit_if .. (%a, %c) ... %d = tape_push %c, %a  yield %a1, %d }
 *          for %k = %n - 1 down to 0 (%g = %g0, %c = %c1) { %d, %p = tape_pop %c ... yield %g1, %d }
 *
 * What is still recalled is what a frame holds. An iteration pushes its own frame last, after its inner
 * loops' frames, so the reverse pops it first and knows all it needs before it reverses what is inside.
 * The cursor is an ordinary value that every region through which frames come or go carries along;
 * where a reverse sweep does not pop all that was pushed, cursors are kept in frames (tape_balance.c). A
 * loop that records nothing and holds nothing that does is reversed without a tape.
 *
 * Afterwards there are no traces, unwinds or recalls. */
#include "pass/pass.h"
#include "pass/tape.h"
#include "rt/abi.h"

/* -- slots --------------------------------------------------------------------------------------------------- */
frame *
tape_frame(tape *t, const ir_op *maker)
{
    frame *f = map_get(&t->frames, map_ptr(maker));
    if (!f) {
        f = mem_zalloc(sizeof(*f));
        map_set(&t->frames, map_ptr(maker), f);
    }
    return f;
}

static bool
collect_recall(ir_op *op, void *user)
{
    tape *t = user;
    if (op->code == RG_OP_RECALL && op->args[0]->type.kind != IR_TRACE)
        vec_push(&t->recalls, op);
    return true;
}

/* carries a recalled value out of ifs (and of loops left early) up to the body that records it, or to
 * where it can be seen */
static void
lift_out(tape *t, ir_op *recall, ir_steps *steps)
{
    ir_recall_steps(recall, steps);
    if (steps->n)
        map_set(&t->asked, map_ptr(recall), recall->args[0]);
    for (size_t i = 0; i < steps->n && !steps->at[i].unwound_by; i++)
        recall->args[0] = ir_lift(t->fn, recall->args[0], steps->at[i].op, &t->lifted);
}

static void
find_slots(tape *t)
{
    ir_steps steps = {0};
    ir_walk(t->fn->body, collect_recall, t);
    for (size_t i = 0; i < t->recalls.n; i++) {
        ir_op *recall = t->recalls.at[i], *by;
        lift_out(t, recall, &steps);
        ir_op *owner = ir_recall_owner(recall, &by);
        if (!owner)
            continue; /* visible now */
        map_set(&t->owners, map_ptr(recall), by);
        frame *f = tape_frame(t, owner);
        bool known = false;
        for (size_t s = 0; s < f->slots.n && !known; s++)
            known = f->slots.at[s] == recall->args[0];
        if (!known)
            vec_push(&f->slots, recall->args[0]);
    }
    vec_free(&steps);
}

static uint32_t
element_bytes(ir_type type)
{
    return type.kind == IR_CURSOR ? 8 : ir_bytes((rg_dtype)type.dtype);
}

static uint32_t
slot_bytes(ir_type type)
{
    return element_bytes(type) * (type.kind == IR_ARRAY ? type.length : 1);
}

static int
by_size_then_id(const void *a, const void *b)
{
    const ir_value *x = *(ir_value *const *)a, *y = *(ir_value *const *)b;
    uint32_t bx = element_bytes(x->type), by = element_bytes(y->type);
    if (bx != by)
        return bx > by ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* -- pushes and pops --------------------------------------------------------------------------------------------- */
/* slots from `first` on that fit into one frame */
static size_t
frame_end(const frame *f, size_t first)
{
    uint32_t bytes = 0;
    size_t i = first;
    while (i < f->slots.n && (i == first || bytes + slot_bytes(f->slots.at[i]->type) <= RT_FRAME_MAX - 16))
        bytes += slot_bytes(f->slots.at[i++]->type);
    return i;
}

static ir_op *
make_op(tape *t, rg_op code, ir_op *before, ir_loc loc)
{
    ir_op *op = ir_op_new(t->fn, code, 0, 0, loc);
    ir_insert_before(before, op);
    return op;
}

/* the kept cursors of a recording op are slots of its frame */
static void
add_cursor_slots(tape *t, const ir_op *maker, frame *f)
{
    for (size_t i = 0; i < t->wanted.n; i++) {
        wanted *w = t->wanted.at[i];
        if (w->owner != maker)
            continue;
        if (!w->unwind)
            w->value = f->start;
        bool known = false;
        for (size_t s = 0; s < f->slots.n && !known; s++)
            known = f->slots.at[s] == w->value;
        if (!known)
            vec_push(&f->slots, w->value);
    }
}

static ir_value *
push_frame(tape *t, const ir_op *maker, ir_value *cursor, ir_op *before, ir_loc loc)
{
    frame *f = tape_frame(t, maker);
    add_cursor_slots(t, maker, f);
    if (f->slots.n > 1)
        qsort(f->slots.at, f->slots.n, sizeof(f->slots.at[0]), by_size_then_id);
    for (size_t i = 0, end; i < f->slots.n; i = end) {
        end = frame_end(f, i);
        ir_op *push = make_op(t, RG_OP_TAPE_PUSH, before, loc);
        ir_op_arg(push, t->fn, cursor);
        for (size_t s = i; s < end; s++)
            ir_op_arg(push, t->fn, f->slots.at[s]);
        cursor = ir_op_result(push, t->fn, ir_cursor(), NULL);
    }
    return cursor;
}

/* pops what push_frame pushed, last frame first; popped[slot] receives the values */
static ir_value *
pop_frame(tape *t, const frame *f, ir_value *cursor, ir_op *before, ir_value **popped, ir_loc loc)
{
    vec(size_t) starts = {0};
    for (size_t i = 0; i < f->slots.n; i = frame_end(f, i))
        vec_push(&starts, i);
    for (size_t c = starts.n; c-- > 0;) {
        ir_op *pop = make_op(t, RG_OP_TAPE_POP, before, loc);
        ir_op_arg(pop, t->fn, cursor);
        cursor = ir_op_result(pop, t->fn, ir_cursor(), NULL);
        size_t end = frame_end(f, starts.at[c]);
        for (size_t s = starts.at[c]; s < end; s++)
            popped[s] = ir_op_result(pop, t->fn, f->slots.at[s]->type, f->slots.at[s]->name);
    }
    vec_free(&starts);
    return cursor;
}

typedef struct popped_slots {
    tape *t;
    const frame *f;
    const ir_op *by;
    ir_value **popped;
} popped_slots;

static bool
use_popped(ir_op *op, void *user)
{
    popped_slots *p = user;
    if (op->code != RG_OP_RECALL || map_get(&p->t->owners, map_ptr(op)) != p->by)
        return true;
    for (size_t s = 0; s < p->f->slots.n; s++)
        if (p->f->slots.at[s] == op->args[0])
            p->t->replace[op->results[0]->id] = p->popped[s];
    return true;
}

/* before op `at` of the region in which `by` unwinds: pops a frame, and recalls become what it held */
static ir_value *
take_frame(tape *t, const ir_op *maker, ir_op *by, ir_op *at, ir_value *cursor)
{
    frame *f = tape_frame(t, maker);
    ir_value **popped = mem_zalloc(sizeof(*popped) * (f->slots.n + 1));
    popped_slots p = {t, f, by, popped};
    cursor = pop_frame(t, f, cursor, at, popped, by->loc);
    for (size_t i = 0; i < t->wanted.n; i++)
        for (size_t s = 0; t->wanted.at[i]->owner == maker && s < f->slots.n; s++)
            if (f->slots.at[s] == t->wanted.at[i]->value)
                t->wanted.at[i]->popped = popped[s];
    ir_walk(by->regions[0], use_popped, &p);
    mem_free(popped);
    return cursor;
}

/* -- the cursor's way -------------------------------------------------------------------------------------------- */
static ir_value *thread_region(tape *t, ir_region *r, ir_value *cursor);

static void
drop_trace_result(ir_op *op)
{
    if (op->records)
        op->nresults--;
    op->records = false;
}

/* Whether w is to be carried out of op next, and has come as far as op's region. */
static bool
lifts_next(const wanted *w, const ir_op *op)
{
    return w->value && w->lifted < w->lifts.n && w->lifts.at[w->lifted] == op;
}

/* Whether w is still to be carried out of op, now or later. */
static bool
passes(const wanted *w, const ir_op *op)
{
    for (size_t i = w->lifted; i < w->lifts.n; i++)
        if (w->lifts.at[i] == op)
            return true;
    return false;
}

static ir_value *
thread_if(tape *t, ir_op *op, ir_value *cursor)
{
    for (uint32_t i = 0; i < 2; i++) {
        ir_value *end = thread_region(t, op->regions[i], cursor);
        ir_op_arg(ir_terminator(op->regions[i]), t->fn, end);
    }
    ir_value *behind = ir_op_result(op, t->fn, ir_cursor(), NULL);
    for (size_t k = 0; k < t->wanted.n; k++) {
        wanted *w = t->wanted.at[k];
        if (!lifts_next(w, op))
            continue;
        for (uint32_t i = 0; i < 2; i++) {
            bool here = ir_region_inside(w->value->region, op->regions[i]);
            ir_op_arg(ir_terminator(op->regions[i]), t->fn, here ? w->value : cursor);
        }
        w->value = ir_op_result(op, t->fn, ir_cursor(), NULL);
        w->lifted++;
    }
    return behind;
}

/* An exit leaves with the cursor behind the last full iteration; if what the partial one pushed is unwound
 * too, with both, and with the cursors that are wanted outside. */
static void
thread_exit(tape *t, ir_op *exit, ir_op *loop, ir_value *cursor)
{
    const frame *f = tape_frame(t, loop);
    ir_op_arg(exit, t->fn, f->partial ? cursor : f->start);
    if (!f->partial)
        return;
    ir_op_arg(exit, t->fn, f->start);
    for (size_t k = 0; k < t->wanted.n; k++) {
        const wanted *w = t->wanted.at[k];
        if (passes(w, loop)) /* an exit before the unwound loop has nothing to say */
            ir_op_arg(exit, t->fn, lifts_next(w, loop) ? w->value : f->start);
    }
}

static ir_value *
loop_results(tape *t, ir_op *op, frame *f)
{
    ir_value *behind = ir_op_result(op, t->fn, ir_cursor(), NULL);
    f->full = f->partial ? ir_op_result(op, t->fn, ir_cursor(), NULL) : behind;
    for (size_t k = 0; k < t->wanted.n; k++) {
        wanted *w = t->wanted.at[k];
        if (lifts_next(w, op)) {
            w->value = ir_op_result(op, t->fn, ir_cursor(), NULL);
            w->lifted++;
        }
        if (w->unwind && w->maker == op)
            w->value = f->full;
    }
    return behind;
}

static ir_value *
thread_loop(tape *t, ir_op *op, ir_value *cursor)
{
    ir_region *body = op->regions[0];
    frame *f = tape_frame(t, op);
    bool records = op->records;
    drop_trace_result(op);
    ir_op_arg(op, t->fn, cursor);
    f->start = ir_region_param(body, ir_cursor(), NULL);
    ir_value *inside = thread_region(t, body, f->start);
    ir_op *end = ir_terminator(body);
    ir_op_arg(end, t->fn, records ? push_frame(t, op, inside, end, op->loc) : f->start);
    return loop_results(t, op, f);
}

/* unwind trace, count, inits  ->  for count - 1 down to 0, inits */
static void
become_for(tape *t, ir_op *op)
{
    ir_value *bounds[2];
    for (uint32_t i = 0; i < 2; i++) {
        ir_op *minus_one = make_op(t, RG_OP_CONST, op, op->loc);
        minus_one->attr.bits = ~(uint64_t)0;
        bounds[i] = ir_op_result(minus_one, t->fn, ir_scalar(RG_I64), NULL);
    }
    ir_op *last = make_op(t, RG_OP_ADD, op, op->loc);
    ir_op_arg(last, t->fn, op->args[1]);
    ir_op_arg(last, t->fn, bounds[0]);
    op->code = RG_OP_FOR;
    op->attr.step = -1;
    op->args[0] = ir_op_result(last, t->fn, ir_scalar(RG_I64), NULL);
    op->args[1] = bounds[1];
}

static ir_value *
thread_unwind(tape *t, ir_op *op, ir_value *cursor)
{
    ir_op *maker = ir_trace_maker(op->args[0]);
    ir_region *body = op->regions[0];
    if (!tape_pushes(t, maker)) {
        thread_region(t, body, cursor);
        become_for(t, op);
        return cursor;
    }
    bool balanced = tape_is_balanced(t, op);
    const wanted *top = tape_wanted(t, op, maker);
    ir_op_arg(op, t->fn, !top ? cursor : top->owner ? top->popped : top->value);
    ir_value *inside = take_frame(t, maker, op, body->first, ir_region_param(body, ir_cursor(), NULL));
    ir_value *start = balanced ? NULL : tape_wanted(t, NULL, maker)->popped;
    inside = thread_region(t, body, inside);
    ir_op_arg(ir_terminator(body), t->fn, start ? start : inside);
    become_for(t, op);
    return ir_op_result(op, t->fn, ir_cursor(), NULL);
}

/* the trace operand of a rewinding parallel goes away */
static void
drop_trace_operand(ir_op *op)
{
    uint32_t at = 2 * op->attr.rank;
    memmove(&op->args[at], &op->args[at + 1], sizeof(op->args[0]) * (op->nargs - at - 1));
    op->nargs--;
}

static ir_value *
tape_begin(tape *t, ir_region *r, ir_loc loc)
{
    ir_op *begin = ir_op_new(t->fn, RG_OP_TAPE_BEGIN, 0, 0, loc);
    ir_insert_first(r, begin);
    return ir_op_result(begin, t->fn, ir_cursor(), NULL);
}

static void
thread_parallel(tape *t, ir_op *op)
{
    ir_region *body = op->regions[0];
    ir_op *maker = op->rewinds ? ir_trace_maker(op->args[2 * op->attr.rank]) : op->records ? op : NULL;
    bool keeps = maker && tape_pushes(t, maker);
    bool records = op->records, rewinds = op->rewinds;
    bool balanced = !(keeps && rewinds) || tape_is_balanced(t, op);
    if (rewinds)
        drop_trace_operand(op);
    drop_trace_result(op);
    op->records = keeps && records;
    op->rewinds = keeps && rewinds;
    if (!keeps && !tape_needed(t, body)) {
        thread_region(t, body, NULL);
        return;
    }
    ir_value *cursor = tape_begin(t, body, op->loc);
    if (op->records)
        tape_frame(t, op)->start = cursor;
    if (op->rewinds)
        cursor = take_frame(t, maker, op, body->first->next, cursor);
    ir_value *start = balanced ? NULL : tape_wanted(t, NULL, maker)->popped;
    cursor = thread_region(t, body, cursor);
    cursor = start ? start : cursor;
    ir_op *end = ir_terminator(body);
    if (op->records)
        cursor = push_frame(t, op, cursor, end, op->loc);
    if (op->records || op->rewinds)
        ir_op_arg(make_op(t, RG_OP_TAPE_END, end, op->loc), t->fn, cursor);
}

/* Leads the cursor through r's ops; NULL: nothing in r moves it. Returns it at the region's end. */
static ir_value *
thread_region(tape *t, ir_region *r, ir_value *cursor)
{
    for (ir_op *op = r->first; op; op = op->next) {
        bool moving = tape_moves(t, op);
        if (op->code == RG_OP_EXIT_IF && tape_moves(t, r->op))
            thread_exit(t, op, r->op, cursor);
        else if (op->code == RG_OP_PARALLEL)
            thread_parallel(t, op);
        else if (op->code == RG_OP_UNWIND)
            cursor = thread_unwind(t, op, cursor);
        else if (moving)
            cursor = op->code == RG_OP_IF ? thread_if(t, op, cursor) : thread_loop(t, op, cursor);
        else {
            for (uint32_t i = 0; i < op->nregions; i++)
                thread_region(t, op->regions[i], cursor);
            if (op->nregions)
                drop_trace_result(op);
        }
    }
    return cursor;
}

/* -- the pass ------------------------------------------------------------------------------------------------------- */
static void
remove_recalls(ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->nregions; i++)
            remove_recalls(op->regions[i]);
        if (op->code == RG_OP_RECALL)
            ir_remove(op);
    }
}

static void
lower_fn(ir_fn *fn)
{
    tape t = {.fn = fn};
    tape_find_kept(&t);
    find_slots(&t);
    ir_see_through_recalls(fn);
    t.replace_n = fn->next_id;
    t.replace = mem_zalloc(sizeof(*t.replace) * (t.replace_n + 1));
    tape_find_wanted(&t);
    ir_value *cursor = tape_needed(&t, fn->body) ? tape_begin(&t, fn->body, fn->loc) : NULL;
    thread_region(&t, fn->body, cursor);
    ir_value **whole = mem_zalloc(sizeof(*whole) * (fn->next_id + 1));
    memcpy(whole, t.replace, sizeof(*whole) * t.replace_n);
    ir_replace_all(fn, whole);
    remove_recalls(fn->body);
    mem_free(whole);
    mem_free(t.replace);
    for (size_t i = 0; i < t.frames.cap; i++)
        if (t.frames.values && t.frames.values[i]) {
            vec_free(&((frame *)t.frames.values[i])->slots);
            mem_free(t.frames.values[i]);
        }
    map_free(&t.frames);
    map_free(&t.lifted);
    map_free(&t.owners);
    map_free(&t.moving);
    map_free(&t.asked);
    map_free(&t.balance);
    map_free(&t.kept);
    for (size_t i = 0; i < t.wanted.n; i++) {
        vec_free(&t.wanted.at[i]->lifts);
        mem_free(t.wanted.at[i]);
    }
    vec_free(&t.wanted);
    vec_free(&t.recalls);
}

bool
lower_tape(ir_module *m)
{
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        lower_fn(fn);
    return true;
}
