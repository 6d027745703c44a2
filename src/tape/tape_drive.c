/* Loops that drop frames: the code around them. SPDX-License-Identifier: Apache-2.0
 *
 * The tape of such a loop, from below:   [env] [state 0] [state 1] ... [state n]  frames  [footer]
 *
 * forwards    loop (%a, %c: cursor, %m: mark = %c, %lo = 0, %k = 0) {
 *               if tape_over %c, %m { ; the frames between %m and %c go
 *                 if %lo == 0 { push %m, env;  push state 0 }
 *                 %m1 = push %m, %a, %k ; from here on, frames are those of iterations %k and later
 *                 yield %m1, %m1, %k } else { yield %c, %m, %lo }
 *               ... }
 *             if %lo > 0 { push footer: where the frames end, %m, %lo }
 * backwards   loop (%hi = count, %c, %m, %lo, adjoints) {
 *               for %k = %hi - 1 down to %lo { ... the unwind ... }
 *               exit_if %lo == 0
 *               pop state n;  %c2, %a, %k = the state below, which stays
 *               for %k to %lo { ... record again, from %a ... }
 *               yield %lo, ... }
 *
 * Where nothing was dropped, nothing is kept: no env, state or footer. (But where local arrays are
 * carried, which the loop consumes, or arrays are parts of the state: there state 0 is always kept. With
 * arrays, [env] is where the tapes of the workers stood.) */
#include "tape/tape.h"

static uint32_t
first_carried(const ir_op *loop)
{
    return loop->code == RG_OP_FOR;
}

/* the values of a state: of the parameters, or of what they begin as; and the iteration's number */
static void
state_values(tape_segments *c, ir_value *const *from, ir_value *number, tape_values *out)
{
    vec_clear(out);
    for (size_t i = 0; i < c->state.n; i++)
        vec_push(out, from[c->state.at[i]]);
    vec_push(out, number);
}

/* Pushes that are no iteration's first record say so. */
static ir_value *
push_aside(tape *t, ir_value *const *values, size_t n, const ir_op *loop, ir_value *cursor, ir_op *at)
{
    ir_op *before = at->prev;
    cursor = tape_push_values(t, values, n, loop->loc, cursor, at);
    tape_mark_pushes(before ? before->next : at->parent->first, at, true, false);
    return cursor;
}

static ir_value *
array_state_op(tape *t, rg_op code, const tape_segments *c, ir_value *cursor, ir_value *array, ir_op *at)
{
    ir_op *op = tape_op(t, code, at);
    op->loc = c->loop->loc;
    ir_op_arg(op, t->fn, cursor);
    ir_op_arg(op, t->fn, array);
    return ir_op_result(op, t->fn, ir_cursor(), NULL);
}

static ir_value *
push_state(tape *t, tape_segments *c, ir_value *const *from, ir_value *number, ir_value *cursor, ir_op *at)
{
    tape_values values = {.in = t->scratch};
    for (size_t i = 0; i < c->arrays.n; i++)
        cursor = array_state_op(t, RG_OP_TAPE_SAVE, c, cursor, c->arrays.at[i], at);
    state_values(c, from, number, &values);
    cursor = push_aside(t, values.at, values.n, c->loop, cursor, at);
    return cursor;
}

/* out receives the state, the iteration's number last */
static ir_value *
pop_state(tape *t, tape_segments *c, ir_value **out, ir_value *cursor, ir_op *at)
{
    tape_values like = {.in = t->scratch};
    const ir_op *loop = c->loop;
    state_values(c, loop->regions[0]->params + first_carried(loop), c->lo, &like);
    cursor = tape_pop_values(t, like.at, like.n, out, cursor, at);
    for (size_t i = c->copies.n; i-- > 0;)
        cursor = array_state_op(t, RG_OP_TAPE_RESTORE, c, cursor, c->copies.at[i], at);
    return cursor;
}

static ir_value *
push_env(tape *t, const tape_segments *c, ir_value *cursor, ir_op *at)
{
    return push_aside(t, c->env.at, c->env.n, c->loop, cursor, at);
}

static ir_value **
room(const tape *t, size_t n)
{
    return arena_new_n(t->scratch, ir_value *, n + 1);
}

static ir_value *
drop_first_state(tape *t, tape_segments *c, ir_value *cursor, ir_op *at)
{
    if (c->arrays.n)
        return c->bottom;
    cursor = pop_state(t, c, room(t, c->state.n + 1), cursor, at);
    return tape_pop_values(t, c->env.at, c->env.n, room(t, c->env.n), cursor, at);
}

/* what was a trace is a cursor by now */
static ir_type
lowered(const ir_value *v)
{
    return v->type.kind == IR_TRACE ? ir_cursor() : v->type;
}

/* An if before `at`, its arms ready to be filled before their yields. */
static ir_op *
branch(tape *t, ir_op *at, ir_value *condition)
{
    ir_op *op = ir_op_new(t->fn, RG_OP_IF, 1, 2, at->loc);
    ir_op_arg(op, t->fn, condition);
    ir_insert_before(at, op);
    for (int i = 0; i < 2; i++)
        ir_append(op->regions[i], ir_op_new(t->fn, RG_OP_YIELD, 0, 0, at->loc));
    return op;
}

static ir_op *
arm(const ir_op *op, int i)
{
    return ir_terminator(op->regions[i]);
}

static ir_value *
branch_yields(tape *t, ir_op *op, ir_value *a, ir_value *b)
{
    ir_op_arg(arm(op, 0), t->fn, a);
    ir_op_arg(arm(op, 1), t->fn, b);
    return ir_op_result(op, t->fn, lowered(a), NULL);
}

/* `made`, the last result of its op, gives way to `old` */
static void
take_place(ir_value *made, ir_value *old)
{
    old->type = made->type;
    old->def = made->def;
    old->index = made->index;
    old->def->results[old->index] = old;
}

/* old, a result of its op, gives way to a new value */
static ir_value *
replace_result(tape *t, ir_value *old)
{
    ir_op *op = old->def;
    ir_value *made = ir_op_result(op, t->fn, lowered(old), old->name);
    op->nresults--;
    made->index = old->index;
    op->results[made->index] = made;
    return made;
}

static ir_value *
push_tasks(tape *t, const tape_segments *c, ir_value *cursor)
{
    ir_op *op = tape_op(t, RG_OP_TAPE_TASKS, c->loop);
    ir_op_arg(op, t->fn, cursor);
    return ir_op_result(op, t->fn, ir_cursor(), NULL);
}

/* -- forwards --------------------------------------------------------------------------------------------------- */
ir_value *
tape_open_segments(tape *t, tape_segments *c, ir_value *cursor)
{
    if (c->eager && !c->repeats) {
        ir_value *zero = tape_int(t, c->loop, RG_I64, 0);
        c->bottom = cursor;
        cursor = push_env(t, c, cursor, c->loop);
        if (c->arrays.n)
            cursor = push_tasks(t, c, cursor);
        c->header = cursor;
        cursor = push_state(t, c, c->loop->args + ir_first_init(c->loop), zero, cursor, c->loop);
    } else if (!c->repeats) {
        c->header = cursor;
    }
    c->mark = cursor;
    return cursor;
}

static ir_value *
carry_value(tape *t, const tape_segments *c, ir_value *init)
{
    ir_op_arg(c->loop, t->fn, init);
    return ir_region_param(c->loop->regions[0], lowered(init), NULL);
}

/* how many loops are around the body of c's loop, as a bit of a word */
static int64_t
level_of(const tape_segments *c)
{
    int64_t level = 0;
    for (const ir_op *op = c->loop; op; op = op->parent->op)
        level += op->code != RG_OP_IF;
    return level % 32;
}

/* with what rounding may add to its frame */
static int64_t
room_for(const ir_value *v)
{
    int64_t bytes = ir_slot_bytes(v->type);
    return bytes + (v->type.lanes ? bytes / 8 : 0) + 7;
}

/* Bytes that two states and what they need take; arrays not counted. */
static int64_t
room_for_states(const tape_segments *c)
{
    const ir_region *body = c->loop->regions[0];
    int64_t bytes = 8;
    for (size_t i = 0; i < c->state.n; i++)
        bytes += room_for(body->params[first_carried(c->loop) + c->state.at[i]]);
    for (size_t i = 0; i < c->env.n; i++)
        bytes += room_for(c->env.at[i]);
    return 2 * bytes;
}

/* Whether frames are to be dropped. Where an iteration pushes one frame and nothing else, its room is made
 * here: only a page change asks, and *cursor changes. */
static ir_value *
emit_drop_test(tape *t, const tape_segments *c, ir_value **cursor, ir_value *mark, ir_value *header, ir_op *at)
{
    uint32_t n = c->leaf ? 6 : 5;
    ir_value *args[6] = {*cursor, mark};
    args[2] = c->arrays.n ? header : tape_int(t, at, RG_I32, level_of(c));
    uint32_t forced = t->drop;
    args[3] = tape_int(t, at, RG_I32, forced ? 0 : c->parts);
    args[4] = tape_int(t, at, RG_I64, forced ? forced : room_for_states(c));
    if (c->leaf)
        args[5] = tape_int(t, at, RG_I64, tape_frame_bytes(t, tape_frame_of(t, c->loop), false));
    ir_op *over = tape_op(t, c->arrays.n ? RG_OP_TAPE_OVER_TASKS : c->leaf ? RG_OP_TAPE_ROOM : RG_OP_TAPE_OVER, at);
    over->loc = c->loop->loc;
    for (uint32_t i = 0; i < n; i++)
        ir_op_arg(over, t->fn, args[i]);
    if (c->leaf)
        *cursor = ir_op_result(over, t->fn, ir_cursor(), NULL);
    return ir_op_result(over, t->fn, ir_scalar(RG_BOOL), NULL);
}

/* The first time something is dropped, what the loop began with is kept too. */
static void
keep_first(tape *t, tape_segments *c, ir_op *at, ir_value **mark, ir_value **header)
{
    ir_value *zero = tape_int(t, at, RG_I64, 0);
    ir_op *first = branch(t, at, tape_scalar(t, RG_OP_EQ, at, RG_BOOL, c->lo, zero));
    ir_value *env = push_env(t, c, *mark, arm(first, 0));
    ir_value *kept = push_state(t, c, c->loop->args + ir_first_init(c->loop), zero, env, arm(first, 0));
    *mark = branch_yields(t, first, kept, *mark);
    *header = branch_yields(t, first, env, *header);
}

static void
use_lo(tape_segments *c, ir_value *lo)
{
    ir_for_ops(op, c->loop->regions[0])
    {
        if (op->code != RG_OP_EXIT_IF && op->code != RG_OP_YIELD)
            continue;
        for (uint32_t i = 0; i < op->nargs; i++)
            if (op->args[i] == c->lo)
                op->args[i] = lo;
    }
    c->lo = lo;
}

/* Many states take too much room themselves: then fewer are kept, and what lies between two of them is cut
 * again when it is recorded again. (Where a state's values take several frames, all are kept.) */
static ir_value *
thin(tape *t, tape_segments *c, ir_value *header, ir_value *mark, ir_op *at)
{
    tape_values values = {.in = t->scratch};
    state_values(c, c->loop->regions[0]->params + first_carried(c->loop), c->number, &values);
    if (tape_fit_one_frame(values.at, values.n)) {
        ir_value *most = tape_int(t, at, RG_I64, t->drop ? 4 * room_for_states(c) : 0);
        ir_op *op = tape_op(t, RG_OP_TAPE_THIN, at);
        op->loc = c->loop->loc;
        ir_op_arg(op, t->fn, header);
        ir_op_arg(op, t->fn, mark);
        ir_op_arg(op, t->fn, most);
        for (size_t i = 0; i < c->arrays.n; i++)
            ir_op_arg(op, t->fn, c->arrays.at[i]);
        for (size_t i = 0; i < values.n; i++)
            ir_op_arg(op, t->fn, values.at[i]);
        mark = ir_op_result(op, t->fn, ir_cursor(), NULL);
    }
    return mark;
}

/* The number of the iteration, which a loop from 0 in steps of 1 has in any case; others carry it. */
static ir_value *
iteration_number(tape *t, tape_segments *c, ir_op *at)
{
    const ir_op *loop = c->loop;
    ir_value *index = loop->regions[0]->params[0];
    uint64_t lo;
    if (c->repeats)
        return index;
    c->counted = loop->code == RG_OP_FOR && loop->attr.step == 1 && ir_is_const(loop->args[0], &lo) && !lo;
    if (!c->counted)
        return carry_value(t, c, tape_int(t, c->loop, RG_I64, 0));
    return index->type.dtype == RG_I64 ? index : tape_scalar(t, RG_OP_CAST, at, RG_I64, index, NULL);
}

ir_value *
tape_check_segments(tape *t, tape_segments *c, ir_value *cursor)
{
    ir_region *body = c->loop->regions[0];
    ir_op *at = body->first;
    uint32_t carried = first_carried(c->loop);
    ir_value *mark = carry_value(t, c, c->mark), *header = c->repeats ? c->header : carry_value(t, c, c->header);
    c->number = iteration_number(t, c, at);
    c->leaf = !c->arrays.n && !t->drop && tape_pushes_one_frame(t, c->loop);
    ir_op *over = branch(t, at, emit_drop_test(t, c, &cursor, mark, header, at));
    ir_value *kept = mark, *env = header;
    if (!c->eager && !c->repeats)
        keep_first(t, c, arm(over, 0), &kept, &env);
    kept = thin(t, c, env, kept, arm(over, 0));
    kept = push_state(t, c, body->params + carried, c->number, kept, arm(over, 0));
    ir_value *top = kept;
    if (c->leaf)
        (void)emit_drop_test(t, c, &top, kept, env, arm(over, 0));
    cursor = branch_yields(t, over, top, cursor);
    c->mark = branch_yields(t, over, kept, mark);
    c->header = c->repeats ? header : branch_yields(t, over, env, header);
    use_lo(c, branch_yields(t, over, c->number, c->lo));
    return cursor;
}

void
tape_pass_segments(tape *t, const tape_segments *c, ir_op *end)
{
    ir_op_arg(end, t->fn, c->mark);
    if (c->repeats)
        return;
    ir_op_arg(end, t->fn, c->header);
    if (end->code != RG_OP_YIELD || c->counted)
        return;
    ir_value *one = tape_int(t, end, RG_I64, 1);
    ir_op_arg(end, t->fn, tape_scalar(t, RG_OP_ADD, end, RG_I64, c->number, one));
}

static void
footer_values(const tape_segments *c, ir_value *end, ir_value *out[4])
{
    out[0] = end;
    out[1] = c->mark;
    out[2] = c->header;
    out[3] = c->last_lo;
}

ir_value *
tape_close_segments(tape *t, tape_segments *c, ir_value *trace, ir_value *cursor)
{
    ir_op *loop = c->loop;
    c->mark = ir_op_result(loop, t->fn, ir_cursor(), NULL);
    if (!c->repeats)
        c->header = ir_op_result(loop, t->fn, ir_cursor(), NULL);
    if (!c->repeats && !c->counted && loop->code == RG_OP_FOR)
        (void)ir_op_result(loop, t->fn, ir_scalar(RG_I64), NULL); /* the iterations' count */
    if (c->repeats)
        return cursor;
    ir_value *end = replace_result(t, trace), *footer[4];
    ir_value *top = cursor == trace ? end : cursor;
    footer_values(c, end, footer);
    if (c->eager) {
        ir_value *pushed = push_aside(t, footer, 4, loop, top, loop->next);
        take_place(pushed, trace);
        return trace;
    }
    if (!c->dropped) { /* a copy whose iterations nobody undoes: only a partial one is */
        ir_op *next = loop->next;
        c->dropped = tape_scalar(t, RG_OP_NE, next, RG_BOOL, c->last_lo, tape_int(t, next, RG_I64, 0));
    }
    ir_op *dropped = branch(t, c->dropped->def->next, c->dropped);
    ir_value *pushed = push_aside(t, footer, 4, loop, top, arm(dropped, 0));
    take_place(branch_yields(t, dropped, pushed, end), trace);
    return cursor == trace ? trace : branch_yields(t, dropped, pushed, top);
}

/* -- backwards ---------------------------------------------------------------------------------------------------- */
/* what the footer says, or that there is none */
static void
read_footer(tape *t, const tape_segments *c, ir_value *cursor, ir_op *at, ir_value *out[4])
{
    ir_value *like[4], *read[4];
    footer_values(c, cursor, like);
    ir_op *seen = c->eager ? NULL : branch(t, at, c->seen);
    ir_value *zero = tape_int(t, seen ? arm(seen, 1) : at, RG_I64, 0);
    (void)tape_pop_values(t, like, 4, read, cursor, seen ? arm(seen, 0) : at);
    for (int i = 0; i < 4; i++)
        out[i] = seen ? branch_yields(t, seen, read[i], i < 3 ? cursor : zero) : read[i];
}

/* Returns to the state below the one at `mark` and records from there to iteration `hi`. */
static ir_op *
place_again(tape *t, tape_segments *c, ir_value *mark, ir_value *header, ir_value *hi, ir_op *at)
{
    ir_value **state = room(t, c->state.n + 1);
    for (size_t i = 0; i < c->copy_ops.n; i++)
        ir_insert_before(at, c->copy_ops.at[i]);
    mark = pop_state(t, c, state, mark, at);
    (void)pop_state(t, c, state, mark, at);
    if (c->env.n) {
        ir_op_arg(c->env_pop, t->fn, header);
        ir_insert_before(at, c->env_pop);
    }
    ir_op *again = c->again;
    tape_segments *mine = tape_frame_of(t, again)->segments;
    ir_value *lo = state[c->state.n];
    ir_op_arg(again, t->fn, lo);
    ir_op_arg(again, t->fn, hi);
    size_t next = 0;
    const ir_region *body = again->regions[0];
    for (uint32_t i = 0; i + 1 < body->nparams; i++) {
        const ir_value *p = body->params[1 + i];
        bool kept = next < c->state.n && c->state.at[next] == i;
        ir_op_arg(again, t->fn, kept ? state[next++] : p == mine->lo ? lo : ir_zero_before(t->fn, at, p->type));
    }
    ir_insert_before(at, again);
    mine->header = header;
    mine->mark = mark;
    return again;
}

void
tape_drive(tape *t, tape_segments *c, ir_op *unwind, ir_value *cursor, tape_place *place)
{
    ir_value *footer[4];
    read_footer(t, c, cursor, unwind, footer);
    uint32_t n = unwind->nargs - 2;
    ir_op *drive = ir_op_new(t->fn, RG_OP_LOOP, n + 4, 1, unwind->loc);
    ir_insert_before(unwind, drive);
    ir_region *body = drive->regions[0];
    ir_value *hi = unwind->args[1], *inits[4] = {hi, footer[0], footer[1], footer[3]}, *param[4];
    for (int i = 0; i < 4; i++) {
        ir_op_arg(drive, t->fn, inits[i]);
        ir_type type = i == 0 || i == 3 ? ir_scalar(RG_I64) : ir_cursor();
        param[i] = ir_region_param(body, type, NULL);
    }
    ir_remove(unwind);
    ir_append(body, unwind);
    for (uint32_t i = 0; i < n; i++) {
        ir_value *init = unwind->args[2 + i], *old = unwind->results[i];
        ir_op_arg(drive, t->fn, init);
        unwind->args[2 + i] = ir_region_param(body, init->type, old->name);
        (void)replace_result(t, old);
        take_place(ir_op_result(drive, t->fn, old->type, old->name), old);
        old->region = drive->parent;
    }
    *place = (tape_place){.drive = drive, .hi = param[0], .cursor = param[1], .mark = param[2],
                          .lo = param[3], .header = footer[2]};
}

static void
pass_adjoints(tape *t, const ir_op *unwind, uint32_t n, ir_op *to)
{
    for (uint32_t i = 0; i < n; i++)
        ir_op_arg(to, t->fn, unwind->results[i]);
}

ir_value *
tape_drive_on(tape *t, tape_segments *c, ir_op *unwind, ir_value *below, const tape_place *p,
              ir_value *(*record)(tape *t, ir_op *again, ir_value *cursor))
{
    ir_fn *fn = t->fn;
    ir_region *body = p->drive->regions[0];
    uint32_t n = p->drive->nresults;
    ir_op *end = ir_op_new(fn, RG_OP_YIELD, n + 4, 0, unwind->loc);
    ir_append(body, end);
    ir_value *zero = tape_int(t, end, RG_I64, 0);
    ir_op *exit = ir_op_new(fn, RG_OP_EXIT_IF, n + 2, 0, unwind->loc);
    ir_op_arg(exit, fn, tape_scalar(t, RG_OP_LE, end, RG_BOOL, p->lo, zero));
    ir_insert_before(end, exit);
    pass_adjoints(t, unwind, n, exit);
    ir_op_arg(exit, fn, below);
    ir_value *last = ir_op_result(p->drive, fn, ir_cursor(), NULL);
    ir_op *again = place_again(t, c, p->mark, p->header, p->lo, end);
    tape_segments *mine = tape_frame_of(t, again)->segments;
    ir_value *top = record(t, again, mine->mark);
    ir_value *next[4] = {p->lo, top, mine->mark, mine->last_lo};
    for (int i = 0; i < 4; i++)
        ir_op_arg(end, fn, next[i]);
    pass_adjoints(t, unwind, n, end);
    if (c->eager)
        return drop_first_state(t, c, last, p->drive->next);
    ir_op *seen = branch(t, p->drive->next, c->seen);
    ir_value *dropped = drop_first_state(t, c, last, arm(seen, 0));
    return branch_yields(t, seen, dropped, last);
}
