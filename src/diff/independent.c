/* Serial loops whose iterations have nothing to do with each other become parallel ones. SPDX-License-Identifier: Apache-2.0
 *
 *   for %i = %a to %b step 1 {                       parallel (%i) = (%a) to (%b) {
 *     %v = load %x[%i]  ..  store %y[%i], %w   ->      %v = load %x[%i]  ..  store %y[%i], %w
 *     yield }                                          yield }
 *
 *   parallel (%i) = (%a) to (%b) {                   parallel (%i, %j) = (%a, %c) to (%b, %d) {
 *     for %j = %c to %d step 1 { .. }          ->      ..
 *     yield }                                          yield }
 *
 * Such loops run in lanes and on all threads, and a thread's reverse follows its forward sweep: nothing is recorded from one iteration to
 * the next. They carry nothing, and of each array that they write no two iterations reach the same element, whatever the launch's sizes
 * are. So all values are those of the loop. Sums that a loop carries keep their order, and the loop stays. */
#include "diff/ad.h"
#include "diff/exclusive.h"
#include "opt/edit.h"
#include "opt/pass.h"

enum { SHORT = 32 /* iterations that are not worth it */, BOUND_DEPTH = 4 };

/* -- what an iteration does ---------------------------------------------------------------------------------------- */

typedef struct writes_query {
    const ir_op *loop;
    arena *scratch;
    vec(const ir_value *) apart; /* arrays that iterations write, each to elements of its own */
    ir_effects does; /* the loop's body */
    bool in_order; /* iterations stay in one thread: they may add to the same elements of arrays that are only added to */
    bool fine;
} writes_query;

static bool
needs_no_order(ir_op *op, void *user)
{
    const writes_query *q = user;
    switch ((int)op->code) {
    case RG_OP_YIELD:
    case RG_OP_EXIT_IF:
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
        return true;
    case RG_OP_PICK:
        return false;
    }
    bool array = ir_is_access(op) && op->args[0]->type.kind == IR_BUFFER;
    return array ? (!op->atomic || (q->in_order && ir_is_add(op))) && op->plane == RG_PRIMAL : (ir_ops[op->code].flags & IR_PURE) != 0;
}

static bool
look_at_access(ir_op *op, void *user)
{
    writes_query *q = user;
    if (!(ir_access_does(op) & IR_CHANGES) || op->args[0]->type.kind != IR_BUFFER)
        return true;
    for (size_t i = 0; i < q->apart.n; i++)
        if (q->apart.at[i] == op->args[0])
            return true;
    if (q->in_order && !(ir_effects_on(&q->does, op->args[0], RG_PRIMAL) & (IR_READS | IR_WRITES)))
        return true;
    ad_exclusive found = ad_exclusive_find(NULL, q->loop, op->args[0], q->scratch);
    q->fine = !found.why && !found.n;
    vec_push(&q->apart, op->args[0]);
    return q->fine;
}

/* of local arrays, an iteration takes its own alone */
static bool
takes_own_arrays(ir_op *op, void *body)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_ARRAY && !ir_region_inside(op->args[i]->region, body))
            return false;
    return true;
}

/* -- loops --------------------------------------------------------------------------------------------------------- */

static bool
runs_shortly(const ir_op *loop)
{
    uint64_t count = ir_fixed_iterations(loop, &(bool){false});
    return count && count <= SHORT;
}

/* the same operands and the same region */
static void
as_parallel(ir_op *loop)
{
    loop->code = RG_OP_PARALLEL;
    loop->attr.step = 0;
    loop->attr.rank = 1;
}

static void
as_serial(ir_op *loop, int64_t step)
{
    loop->code = RG_OP_FOR;
    loop->attr.step = step;
}

static writes_query
look_at_writes(ir_op *loop, bool in_order, arena *scratch)
{
    int64_t step = loop->attr.step;
    writes_query q = {.loop = loop, .in_order = in_order, .scratch = scratch, .apart.in = scratch};
    q.fine = ir_walk(loop->regions[0], needs_no_order, &q);
    if (q.fine && in_order)
        q.does = ir_effects_of(loop->regions[0], scratch);
    as_parallel(loop); /* as who asks about threads wants to see it */
    if (q.fine)
        ir_walk(loop->regions[0], look_at_access, &q);
    as_serial(loop, step);
    return q;
}

bool
ad_is_movable(ir_region *body)
{
    writes_query q = {.in_order = true};
    return ir_walk(body, needs_no_order, &q) && ir_walk(body, takes_own_arrays, body);
}

bool
ad_iterations_are_apart(ir_op *loop, arena *scratch)
{
    return ir_walk(loop->regions[0], takes_own_arrays, loop->regions[0]) && look_at_writes(loop, true, scratch).fine;
}

bool
ad_is_independent(ir_op *loop, arena *scratch)
{
    if (loop->code != RG_OP_FOR || loop->attr.step != 1 || loop->nresults || loop->records || runs_shortly(loop))
        return false;
    writes_query q = look_at_writes(loop, false, scratch);
    return q.fine && q.apart.n;
}

/* -- one loop over two indices --------------------------------------------------------------------------------------- */

/* whether the number can be computed before the task */
static bool
can_stand_before(const ir_value *v, const ir_op *task, unsigned depth)
{
    if (edit_visible(v, task))
        return true;
    bool computed = depth && v->def && !v->def->nregions && (v->def->code == RG_OP_CONST || ir_is_arithmetic(v->def));
    for (uint32_t i = 0; computed && i < v->def->nargs; i++)
        computed = can_stand_before(v->def->args[i], task, depth - 1);
    return computed;
}

/* The loop that is all that the threads do, but for whole numbers; its bounds are the same for all of them. NULL: there is none. */
static ir_op *
loop_alone(const ir_op *task)
{
    ir_op *op = task->regions[0]->first;
    while (op->nresults == 1 && !op->nregions && ir_ops[op->code].flags & IR_PURE && ir_is_integer(op->results[0]->type))
        op = op->next;
    bool only = op->code == RG_OP_FOR && op->next->code == RG_OP_YIELD;
    return only && can_stand_before(op->args[0], task, BOUND_DEPTH) && can_stand_before(op->args[1], task, BOUND_DEPTH) ? op : NULL;
}

static ir_value *
bound_before(edit *e, ir_op *task, ir_value *v)
{
    if (edit_visible(v, task))
        return v;
    ir_op *copy = ir_op_like(e->fn, v->def);
    for (uint32_t i = 0; i < v->def->nargs; i++)
        ir_op_arg(copy, e->fn, bound_before(e, task, v->def->args[i]));
    ir_insert_before(task, copy);
    return ir_op_result(copy, e->fn, v->type, v->name);
}

static bool
bring_up_to_date(ir_op *op, void *user)
{
    edit_operands(user, op);
    return true;
}

static ir_op *
join_loops(edit *e, ir_op *task, ir_op *inner)
{
    uint32_t rank = task->attr.rank;
    ir_op *joined = ir_op_new(e->fn, RG_OP_PARALLEL, 2 * (rank + 1), 1, task->loc);
    joined->flags = task->flags;
    joined->attr.rank = rank + 1;
    for (uint32_t side = 0; side < 2; side++) {
        for (uint32_t k = 0; k < rank; k++)
            ir_op_arg(joined, e->fn, task->args[side * rank + k]);
        ir_op_arg(joined, e->fn, bound_before(e, task, inner->args[side]));
    }
    for (uint32_t k = 0; k <= rank; k++) {
        ir_value *index = k < rank ? task->regions[0]->params[k] : inner->regions[0]->params[0];
        edit_replace(e, index, ir_region_param(joined->regions[0], index->type, index->name));
    }
    ir_op *yield = ir_op_new(e->fn, RG_OP_YIELD, 0, 0, task->loc);
    ir_append(joined->regions[0], yield);
    edit_splice(yield, task->regions[0], inner);
    edit_splice(yield, inner->regions[0], NULL);
    ir_insert_before(task, joined);
    ir_remove(task);
    ir_walk(joined->regions[0], bring_up_to_date, e);
    e->changed = true;
    return joined;
}

static void
widen_task(edit *e, ir_op *task)
{
    bool plain = !task->nresults && !task->records && !task->rewinds && task->regions[0]->nparams == task->attr.rank;
    for (ir_op *inner; plain && task->attr.rank < RG_MAX_RANK && (inner = loop_alone(task));) {
        if (!ad_is_independent(inner, e->scratch))
            break;
        task = join_loops(e, task, inner);
    }
}

/* -- the walk -------------------------------------------------------------------------------------------------------- */

static void
look_in_region(edit *e, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(e, op);
        if (ad_is_independent(op, e->scratch)) {
            as_parallel(op);
            e->changed = true;
        }
        if (op->code == RG_OP_PARALLEL)
            widen_task(e, op);
        for (uint32_t i = 0; op->code != RG_OP_PARALLEL && i < op->nregions; i++)
            look_in_region(e, op->regions[i]);
    }
}

bool
ad_independent(ir_module *m, pass_context *c)
{
    return edit_kernels(m, c->scratch, look_in_region);
}
