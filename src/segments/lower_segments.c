/* A kernel becomes a host program of tasks and segments. SPDX-License-Identifier: Apache-2.0
 *
 *   %n = load %count[0]                          %n = segment { %v = load %count[0]  yield %v }
 *   parallel (%i) = (0) to (%n) { .. }     ->    parallel (%i) = (0) to (%n) { .. }
 *   %s = load %sum[0]                            segment { %s = load %sum[0]  store %out[0], %s  yield }
 *   store %out[0], %s
 *
 * A GPU whose blocks cannot wait for each other runs a kernel as several grids, one after the other. A *segment* is kernel-level
 * code between two tasks: one warp runs it. Kernel-level loops and ifs with tasks inside stay around segments and tasks; the host,
 * or a list of commands that it has made, runs them. All other code of the kernel level stands in segments, but for declarations
 * (constants, tables, slots) and formulas.
 *
 *   %m = segment { %v = mul %n, %i  yield %v }         %m = mul %n, %i
 *   parallel (%j) = (0) to (%m) { .. }           ->    parallel (%j) = (0) to (%m) { .. }
 *
 * A *formula* is arithmetic so cheap that each segment and task that uses it computes it: a segment of nothing else would cost a step of
 * the launch. It needs no place in the record, as what it is made of stands still as long as it can be seen: what a loop carries changes
 * where an iteration ends. Which buffer something is, is always a formula, so that analyses see it.
 *
 * What a segment yields lies in the launch's record (segments.h). Nothing but segments and tasks can write there, so each value that
 * such a loop or if hands on is the result of the segment directly before: that segment writes it to where it goes. Values that are
 * there already (ir_stays_in_place) need no segment. So it is with conditions: who runs a launch may have the segment compare the condition
 * with what was expected, and go on without a look. What a loop computes before its first exit moves to the end of each iteration,
 * as does what an iteration begins with behind that exit.
 *
 * Arrays that a segment saves on the tape or restores are copied behind it, and temporary ones are set to zero (segments_put_off). What may
 * not come before such a copy is another segment's. So are conditions, behind which nothing of the segment may be left to be done. */
#include "analysis/cost.h"
#include "ir/edges.h"
#include "opt/edit.h"
#include "opt/pass.h"
#include "segments/segments.h"

typedef struct cutter {
    ir_fn *fn;
    arena *scratch;
    ir_op *open; /* the segment that takes what comes next; NULL: there is none */
    const ir_op *copies; /* the last one that puts something off */
    ir_value **picked; /* by id of a buffer that a segment has chosen: the same behind it */
} cutter;

static bool
runs_no_task(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_PARALLEL;
}

static bool
holds_tasks(ir_op *op)
{
    for (uint32_t i = 0; i < op->nregions && op->code != RG_OP_PARALLEL; i++)
        if (!ir_walk(op->regions[i], runs_no_task, NULL))
            return true;
    return op->code == RG_OP_PARALLEL;
}

/* -- segments ------------------------------------------------------------------------------------------------------ */

static ir_op *
open_segment(cutter *c, ir_op *at)
{
    if (c->open)
        return c->open;
    c->open = ir_op_new(c->fn, RG_OP_SEGMENT, 0, 1, at->loc);
    ir_insert_before(at, c->open);
    ir_append(c->open->regions[0], ir_op_new(c->fn, RG_OP_YIELD, 0, 0, at->loc));
    return c->open;
}

/* op: NULL, or what may not come behind anything that is put off; a temp it may, which is then set to zero at once */
static bool
may_come_behind(ir_op *put_off, void *op)
{
    return !segments_put_off(put_off) || (op && (put_off->code == RG_OP_TEMP || !segments_meet(put_off, op)));
}

/* What has to come behind something that is put off of the open segment begins another one. */
static void
move_into_segment(cutter *c, ir_op *op)
{
    if (c->open && c->copies == c->open && !ir_walk(c->open->regions[0], may_come_behind, op))
        c->open = NULL;
    ir_op *segment = open_segment(c, op);
    ir_remove(op);
    ir_insert_before(ir_terminator(segment->regions[0]), op);
    bool copies = !may_come_behind(op, NULL);
    for (uint32_t i = 0; i < op->nregions && !copies; i++)
        copies = !ir_walk(op->regions[i], may_come_behind, NULL);
    if (copies)
        c->copies = segment;
}

/* the segment's result that is v */
static ir_value *
hand_out(cutter *c, ir_op *segment, ir_value *v)
{
    ir_op *yield = ir_terminator(segment->regions[0]);
    for (uint32_t i = 0; i < yield->nargs; i++)
        if (yield->args[i] == v)
            return segment->results[i];
    ir_op_arg(yield, c->fn, v);
    return ir_op_result(segment, c->fn, v->type, v->name);
}

/* Behind the end of an arm, what asks for a condition has a segment of its own. */
static bool
may_ask_next(const ir_op *op)
{
    const ir_op *around = op->parent->op;
    return op->code != RG_OP_YIELD || (around && around->code == RG_OP_LOOP);
}

/* What op hands on comes from the segment before it; so does its condition, which that segment compares with what is expected. The kernel's
 * results are read wherever they are. */
static void
take_from_segment(cutter *c, ir_op *op)
{
    uint32_t own = ir_own_operands(op);
    bool asks = op->code != RG_OP_YIELD;
    if (c->copies == c->open && may_ask_next(op))
        c->open = NULL;
    for (uint32_t i = own; i < op->nargs; i++)
        if (!ir_stays_in_place(op, i))
            op->args[i] = hand_out(c, open_segment(c, op), op->args[i]);
    for (uint32_t i = 0; asks && i < own; i++) /* an exit that hands on has a segment before it */
        if (!ir_asks_first(op))
            op->args[i] = hand_out(c, open_segment(c, op), op->args[i]);
    c->open = NULL;
}

/* -- counted loops --------------------------------------------------------------------------------------------------- */

/* how many iterations it runs, u64 */
static ir_value *
trip_count(const ir_emit *e, const ir_op *loop)
{
    bool up = loop->attr.step > 0;
    ir_value *lo = loop->args[0], *hi = loop->args[1];
    uint64_t step = up ? (uint64_t)loop->attr.step : 0 - (uint64_t)loop->attr.step;
    ir_value *some = ir_emit_2(e, up ? RG_OP_LT : RG_OP_GT, lo, hi), *one = ir_emit_int(e, RG_U64, 1);
    ir_value *from = ir_emit_cast(e, RG_U64, up ? lo : hi), *to = ir_emit_cast(e, RG_U64, up ? hi : lo);
    ir_value *last = ir_emit_2(e, RG_OP_SUB, ir_emit_2(e, RG_OP_SUB, to, from), one);
    if (step > 1)
        last = ir_emit_2(e, RG_OP_DIV, last, ir_emit_const(e, RG_U64, step));
    return ir_emit_3(e, RG_OP_SELECT, some, ir_emit_2(e, RG_OP_ADD, last, one), ir_emit_int(e, RG_U64, 0));
}

/* behind a yield's operands, as the carried values of a loop that was counted */
static void
count_on(cutter *c, ir_op *loop, ir_value *count, ir_value *done)
{
    ir_region *body = loop->regions[0];
    ir_op *yield = ir_terminator(body), *next = ir_op_new(c->fn, RG_OP_YIELD, yield->nargs + 3, 0, yield->loc);
    ir_emit e = ir_emit_before(yield);
    ir_value *index = body->params[0], *step = ir_emit_int(&e, ir_dtype(index), loop->attr.step);
    ir_op_arg(next, c->fn, ir_emit_2(&e, RG_OP_ADD, index, step));
    for (uint32_t i = 0; i < yield->nargs; i++)
        ir_op_arg(next, c->fn, yield->args[i]);
    ir_value *now = ir_emit_2(&e, RG_OP_ADD, done, ir_emit_int(&e, RG_U64, 1));
    ir_op_arg(next, c->fn, now);
    ir_op_arg(next, c->fn, ir_emit_2(&e, RG_OP_GE, now, count));
    ir_remove(yield);
    ir_append(body, next);
}

/* A for with tasks inside: the segment at the end of an iteration says whether there is another one, so that the loop's
 * beginning needs none. */
static void
count_in_segments(cutter *c, ir_op *loop)
{
    ir_emit e = ir_emit_before(loop);
    ir_region *body = loop->regions[0];
    ir_value *count = trip_count(&e, loop), *zero = ir_emit_int(&e, RG_U64, 0), *none = ir_emit_2(&e, RG_OP_EQ, count, zero);
    ir_value *done = ir_region_param(body, count->type, "done"), *stop = ir_region_param(body, none->type, "stop");
    edit_drop_arg(loop, 1);
    ir_op_arg(loop, c->fn, zero);
    ir_op_arg(loop, c->fn, none);
    count_on(c, loop, count, done);
    ir_op *exit = ir_op_new(c->fn, RG_OP_EXIT_IF, 1 + loop->nresults, 0, loop->loc);
    ir_op_arg(exit, c->fn, stop);
    for (uint32_t i = 0; i < loop->nresults; i++)
        ir_op_arg(exit, c->fn, body->params[1 + i]);
    ir_insert_first(body, exit);
    loop->code = RG_OP_LOOP;
    loop->attr.step = 0;
    loop->closed = loop->few = false;
    loop->block = 0;
}

/* -- loops that begin with kernel-level code --------------------------------------------------------------------------- */

enum { TURNED_MOST = 200 }; /* ops that are copied */

/* What a loop does before its first exit, or between that and its first task, if that is kernel-level code. It moves to the segments
 * before the loop and at the end of each iteration, where the next one is decided on. What only chooses buffers stays, and behind the
 * exit all formulas do. */
typedef struct lead {
    ir_op *loop, *exit, *first, *end; /* end: behind the last one */
    arena *scratch;
    ir_value **param; /* by id of a value of it: the parameter that it becomes */
    uint32_t ops;
    bool behind, possible, replaces; /* behind: the exit */
} lead;

/* Where arrays are saved or restored, the segment is not the last step of an iteration. */
static bool
can_be_copied(ir_op *op, void *user)
{
    lead *l = user;
    bool copies = op->code == RG_OP_TAPE_SAVE || op->code == RG_OP_TAPE_RESTORE;
    l->ops++;
    l->possible &= op->code != RG_OP_TEMP && op->code != RG_OP_SLOT && op->code != RG_OP_PARALLEL && l->ops <= TURNED_MOST;
    l->possible &= !(copies && l->behind);
    return l->possible;
}

static bool
goes_with_lead(const lead *l, const ir_op *op)
{
    bool stays = ir_is_declaration(op) || op->code == RG_OP_PICK || (l->behind && ir_is_formula(op));
    return !stays && ir_stands_before(op, l->end);
}

static void
look_at_lead(lead *l)
{
    bool some = false;
    for (ir_op *op = l->first; op != l->end && l->possible; op = op->next) {
        some |= goes_with_lead(l, op);
        can_be_copied(op, l);
        for (uint32_t i = 0; i < op->nregions; i++)
            ir_walk(op->regions[i], can_be_copied, l);
        for (uint32_t i = 0; i < op->nresults; i++)
            l->possible &= op->results[i]->type.kind != IR_SLOT;
    }
    l->possible &= some;
}

static bool
belongs_to_lead(const lead *l, const ir_value *v)
{
    return v->def && v->region == l->loop->regions[0] && !ir_stands_before(v->def, l->first) && goes_with_lead(l, v->def);
}

/* A value of the lead that is used behind it is carried now. */
static bool
carry_lead(ir_op *op, void *user)
{
    lead *l = user;
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *v = op->args[i];
        if (!belongs_to_lead(l, v))
            continue;
        if (!l->param[v->id])
            l->param[v->id] = ir_region_param(l->loop->regions[0], v->type, v->name);
        if (l->replaces)
            op->args[i] = l->param[v->id];
    }
    return true;
}

static void
carry_all(lead *l, bool replaces)
{
    l->replaces = replaces;
    for (ir_op *op = l->first; op; op = op->next) {
        if (goes_with_lead(l, op))
            continue;
        carry_lead(op, l);
        for (uint32_t i = 0; i < op->nregions; i++)
            ir_walk(op->regions[i], carry_lead, l);
    }
}

/* The lead once more in `into`, for these values of the loop's parameters. Operands of `to`: what is carried of it. */
static void
copy_lead(const lead *l, ir_value *const *given, uint32_t n, ir_region *into, ir_op *to)
{
    ir_region *body = l->loop->regions[0];
    ir_value **map = arena_new_n(l->scratch, ir_value *, body->fn->next_id);
    for (uint32_t i = 0; i < n; i++)
        map[body->params[i]->id] = given[i];
    for (const ir_op *op = l->first; op != l->end; op = op->next)
        ir_op_clone(body->fn, op, map, into);
    for (uint32_t i = n; i < body->nparams; i++)
        for (const ir_op *op = l->first; op != l->end; op = op->next)
            for (uint32_t r = 0; r < op->nresults; r++)
                if (l->param[op->results[r]->id] == body->params[i])
                    ir_op_arg(to, body->fn, map[op->results[r]->id]);
}

/* Before `at`, which goes on with the loop. */
static void
copy_before_exit(const lead *l, ir_op *at, ir_value *const *given, uint32_t n)
{
    ir_region *aside = ir_region_new(l->loop->parent->fn, NULL);
    copy_lead(l, given, n, aside, at);
    edit_splice(at, aside, NULL);
}

/* a cursor of these; NULL: none is there */
static ir_value *
some_cursor(ir_value *const *given, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (given[i]->type.kind == IR_CURSOR)
            return given[i];
    return NULL;
}

/* The same of what stands behind the exit, where the loop goes on. Else what is carried is nothing. */
static void
copy_behind_exit(const lead *l, ir_op *at, ir_value *const *given, uint32_t n)
{
    ir_fn *fn = l->loop->parent->fn;
    ir_op *choice = ir_op_new(fn, RG_OP_IF, 1, 2, l->loop->loc), *none = ir_op_new(fn, RG_OP_YIELD, 0, 0, l->loop->loc);
    ir_op *yield = ir_op_new(fn, RG_OP_YIELD, 0, 0, l->loop->loc);
    ir_op_arg(choice, fn, given[l->exit->args[0]->index]);
    ir_insert_before(at, choice);
    ir_append(choice->regions[0], none);
    copy_lead(l, given, n, choice->regions[1], yield);
    ir_append(choice->regions[1], yield);
    ir_emit e = ir_emit_before(none);
    for (uint32_t i = 0; i < yield->nargs; i++) {
        ir_type type = yield->args[i]->type;
        ir_op_arg(none, fn, type.kind == IR_CURSOR ? some_cursor(given, n) : ir_emit_const(&e, (rg_dtype)type.dtype, 0));
    }
    for (uint32_t i = 0; i < yield->nargs; i++)
        ir_op_arg(at, fn, ir_op_result(choice, fn, yield->args[i]->type, yield->args[i]->name));
}

static bool
turn_lead(lead *l, uint32_t ids, void (*copy)(const lead *l, ir_op *at, ir_value *const *given, uint32_t n))
{
    ir_region *body = l->loop->regions[0];
    ir_op *yield = ir_terminator(body);
    uint32_t n = body->nparams;
    look_at_lead(l);
    if (!l->possible)
        return false;
    l->param = arena_new_n(l->scratch, ir_value *, ids);
    carry_all(l, false);
    copy(l, l->loop, l->loop->args, n);
    copy(l, yield, yield->args, n);
    carry_all(l, true);
    for (ir_op *op = l->first, *next; op != l->end; op = next) {
        next = op->next;
        if (goes_with_lead(l, op))
            ir_remove(op);
    }
    return true;
}

/* Code before the first exit. */
static bool
turn_loop(cutter *c, ir_op *loop)
{
    ir_op *exit = ir_next_exit(loop, NULL);
    lead l = {.loop = loop, .exit = exit, .first = loop->regions[0]->first, .end = exit, .scratch = c->scratch, .possible = true};
    return turn_lead(&l, c->fn->next_id, copy_before_exit);
}

static bool
gives_values(const lead *l)
{
    bool cursor = some_cursor(l->loop->args, l->loop->nargs);
    for (const ir_op *op = l->first; op != l->end; op = op->next)
        for (uint32_t r = 0; r < op->nresults; r++) {
            ir_type type = op->results[r]->type;
            if (goes_with_lead(l, op) && !(type.kind == IR_SCALAR && !type.lanes) && !(type.kind == IR_CURSOR && cursor))
                return false;
        }
    return true;
}

/* Code behind it, if what comes before it says whether it is taken. */
static bool
turn_head(cutter *c, ir_op *loop)
{
    ir_op *exit = ir_next_exit(loop, NULL);
    lead l = {.loop = loop, .exit = exit, .first = exit->next, .end = exit->next, .scratch = c->scratch, .behind = true};
    while (!holds_tasks(l.end) && l.end->code != RG_OP_EXIT_IF && l.end->code != RG_OP_YIELD)
        l.end = l.end->next;
    l.possible = ir_asks_first(exit) && gives_values(&l);
    return turn_lead(&l, c->fn->next_id, copy_behind_exit);
}

/* -- the walk ---------------------------------------------------------------------------------------------------------- */

/* a buffer, by what is known before the open segment */
static bool
chooses_from_outside(const cutter *c, const ir_op *op)
{
    for (uint32_t i = 0; c->open && op->code == RG_OP_PICK && i < op->nargs; i++)
        if (op->args[i]->region == c->open->regions[0])
            return false;
    return op->code == RG_OP_PICK;
}

static void
cut_region(cutter *c, ir_region *r)
{
    c->open = NULL;
    for (ir_op *op = r->first, *next; op; op = next) {
        ir_op *before = op->prev;
        next = op->next;
        if (op->code == RG_OP_FOR && holds_tasks(op)) {
            count_in_segments(c, op);
            next = before ? before->next : r->first; /* what counts comes first */
        } else if (op->code == RG_OP_LOOP && holds_tasks(op) && (turn_loop(c, op) || turn_head(c, op))) {
            next = before ? before->next : r->first;
        } else if (ir_is_declaration(op) || chooses_from_outside(c, op)) {
            ir_op *at = c->open ? c->open : op;
            ir_remove(op);
            ir_insert_before(at == op ? next : at, op);
        } else if (op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF) {
            take_from_segment(c, op);
        } else if (!holds_tasks(op)) {
            move_into_segment(c, op);
        } else {
            bool task = op->code == RG_OP_PARALLEL;
            if (!task)
                take_from_segment(c, op);
            for (uint32_t i = 0; !task && i < op->nregions; i++)
                cut_region(c, op->regions[i]);
            c->open = NULL;
        }
    }
    c->open = NULL;
}

/* -- what other segments and tasks use of a segment's values ------------------------------------------------------------- */

static void use_from_segment(cutter *c, ir_op *op);

/* A buffer that a segment has chosen, chosen again behind it by the same number. */
static ir_value *
choose_again(cutter *c, ir_op *segment, ir_op *pick)
{
    ir_value **again = &c->picked[pick->results[0]->id];
    if (!*again) {
        ir_op *copy = ir_op_like(c->fn, pick);
        for (uint32_t i = 0; i < pick->nargs; i++)
            ir_op_arg(copy, c->fn, pick->args[i]);
        *again = ir_op_result(copy, c->fn, pick->results[0]->type, pick->results[0]->name);
        ir_insert_before(segment->next, copy);
        use_from_segment(c, copy);
    }
    return *again;
}

/* They are its results. */
static void
use_from_segment(cutter *c, ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *v = op->args[i];
        ir_op *segment = v->region->op;
        if (!segment || segment->code != RG_OP_SEGMENT || ir_region_inside(op->parent, v->region))
            continue;
        bool picked = v->def && v->def->code == RG_OP_PICK;
        op->args[i] = picked ? choose_again(c, segment, v->def) : hand_out(c, segment, v);
    }
}

static bool
use_results(ir_op *op, void *user)
{
    use_from_segment(user, op);
    return true;
}

/* -- formulas ------------------------------------------------------------------------------------------------------------ */

enum { FORMULA_MOST = 64 }; /* simple operations that a value may take each entry */

/* What control asks for or hands on lies in the record. */
static void
keep_in_record(const ir_region *r, bool *kept)
{
    ir_for_ops (op, r) {
        if (op->code == RG_OP_SEGMENT || op->code == RG_OP_PARALLEL || ir_is_no_step(op))
            continue;
        for (uint32_t i = 0; i < op->nargs; i++)
            kept[op->args[i]->id] = true;
        for (uint32_t i = 0; i < op->nregions; i++)
            keep_in_record(op->regions[i], kept);
    }
}

/* Formulas that use others cost as much as all of them. */
static bool
note_formula(uint32_t *cost, const ir_op *op)
{
    uint32_t sum = (uint32_t)ir_cost(op);
    for (uint32_t i = 0; i < op->nargs; i++)
        sum += cost[op->args[i]->id];
    cost[op->results[0]->id] = sum < FORMULA_MOST ? sum : FORMULA_MOST + 1;
    return sum <= FORMULA_MOST;
}

typedef struct dissolver {
    bool *kept;        /* by id: it lies in the record */
    uint32_t *cost;    /* by id: of a formula, with those that it is made of */
    ir_value **formed; /* by id: what a segment's result is now */
} dissolver;

static bool note_formulas(uint32_t *cost, const ir_region *r);

/* Quotients in an arm that is not taken would cost more than the choice. */
static bool
divides(const ir_region *r)
{
    ir_for_ops (op, r)
        if (ir_divides(op))
            return true;
    return false;
}

/* An if with nothing but formulas in its arms is a choice between their results. */
static bool
note_choice(uint32_t *cost, const ir_op *op)
{
    if (op->code != RG_OP_IF || divides(op->regions[0]) || divides(op->regions[1]))
        return false;
    if (!note_formulas(cost, op->regions[0]) || !note_formulas(cost, op->regions[1]))
        return false;
    for (uint32_t i = 0; i < op->nresults; i++) {
        uint32_t sum = 1 + cost[op->args[0]->id];
        for (int arm = 0; arm < 2; arm++)
            sum += cost[ir_terminator(op->regions[arm])->args[i]->id];
        if (op->results[i]->type.kind != IR_SCALAR || ir_lanes_of(op) || sum > FORMULA_MOST)
            return false;
        cost[op->results[i]->id] = sum;
    }
    return true;
}

static bool
note_formulas(uint32_t *cost, const ir_region *r)
{
    ir_for_ops (op, r) {
        bool known = op->code == RG_OP_CONST || op->code == RG_OP_YIELD;
        if (!known && !(ir_is_formula(op) ? note_formula(cost, op) : note_choice(cost, op)))
            return false;
    }
    return true;
}

static bool
is_of_formulas(const dissolver *d, const ir_op *segment)
{
    for (uint32_t i = 0; i < segment->nresults; i++)
        if (d->kept[segment->results[i]->id])
            return false;
    return note_formulas(d->cost, segment->regions[0]);
}

/* Ifs become selects. */
static void
flatten_choices(dissolver *d, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (op->code != RG_OP_IF)
            continue;
        const ir_emit e = ir_emit_before(op);
        for (int arm = 0; arm < 2; arm++) {
            flatten_choices(d, op->regions[arm]);
            edit_splice(op, op->regions[arm], NULL);
        }
        ir_op *yields[2] = {ir_terminator(op->regions[0]), ir_terminator(op->regions[1])};
        for (uint32_t i = 0; i < op->nresults; i++)
            d->formed[op->results[i]->id] = ir_emit_3(&e, RG_OP_SELECT, op->args[0], yields[0]->args[i], yields[1]->args[i]);
        ir_remove(op);
    }
}

/* A segment of nothing but formulas is no step. */
static void
dissolve_segments(dissolver *d, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        if (op->code == RG_OP_SEGMENT && is_of_formulas(d, op)) {
            const ir_op *yield = ir_terminator(op->regions[0]);
            for (uint32_t i = 0; i < op->nresults; i++) {
                d->formed[op->results[i]->id] = yield->args[i];
                d->cost[op->results[i]->id] = d->cost[yield->args[i]->id];
            }
            flatten_choices(d, op->regions[0]);
            edit_splice(op, op->regions[0], NULL);
            ir_remove(op);
        } else if (op->code != RG_OP_SEGMENT && op->code != RG_OP_PARALLEL) {
            if (ir_is_formula(op))
                note_formula(d->cost, op);
            for (uint32_t i = 0; i < op->nregions; i++)
                dissolve_segments(d, op->regions[i]);
        }
    }
}

static void
make_formulas(cutter *c)
{
    uint32_t n = c->fn->next_id;
    dissolver d = {arena_new_n(c->scratch, bool, n), arena_new_n(c->scratch, uint32_t, n),
                   arena_new_n(c->scratch, ir_value *, 2 * n) /* each choice gets a value more */};
    keep_in_record(c->fn->body, d.kept);
    dissolve_segments(&d, c->fn->body);
    ir_replace_all(c->fn, d.formed);
}

bool
lower_segments(ir_module *m, pass_context *context)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        if (!fn->kernel)
            continue;
        cutter c = {.fn = fn, .scratch = context->scratch};
        cut_region(&c, fn->body);
        c.picked = arena_new_n(context->scratch, ir_value *, fn->next_id);
        ir_walk(fn->body, use_results, &c);
        make_formulas(&c);
        changed = true;
    }
    return changed;
}
