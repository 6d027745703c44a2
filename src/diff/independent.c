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
 * are. So all values are those of the loop. One that counts downwards, or by more than one, is written upwards first (ascending.h). Sums
 * that a loop carries keep their order, and the loop stays. */
#include "diff/ad.h"
#include "diff/ascending.h"
#include "diff/exclusive.h"
#include "opt/edit.h"
#include "opt/pass.h"

enum { SHORT = 32 /* iterations that are not worth it */ };

/* -- what an iteration does ---------------------------------------------------------------------------------------- */

typedef struct writes_query {
    const ir_op *loop;
    arena *scratch;
    vec(const ir_value *) apart; /* arrays that iterations write, each to elements of its own */
    ir_effects does; /* the loop's body */
    /* Iterations stay in one thread. They may add to the same elements of an array, if none reads it: its sums are complete only
     * behind the loop. */
    bool in_order;
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
as_serial(ir_op *loop)
{
    loop->code = RG_OP_FOR;
    loop->attr.step = 1;
}

/* of a loop that counts upwards by one */
static writes_query
look_at_writes(ir_op *loop, bool in_order, arena *scratch)
{
    writes_query q = {.loop = loop, .in_order = in_order, .scratch = scratch, .apart.in = scratch};
    q.fine = ir_walk(loop->regions[0], needs_no_order, &q);
    if (q.fine && in_order)
        q.does = ir_effects_of(loop->regions[0], scratch);
    as_parallel(loop); /* as who asks about threads wants to see it */
    if (q.fine)
        ir_walk(loop->regions[0], look_at_access, &q);
    as_serial(loop);
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
    if (!ir_walk(loop->regions[0], takes_own_arrays, loop->regions[0]))
        return false;
    ir_op *before = loop->prev, *form = ad_ascending(loop, scratch);
    bool apart = look_at_writes(form, true, scratch).fine;
    ad_ascending_undo(form, loop, before);
    return apart;
}

/* The loop, or one in its place that stands before it and counts upwards, if the iterations are independent; else NULL. */
static ir_op *
independent_form(ir_op *loop, arena *scratch)
{
    if (loop->code != RG_OP_FOR || loop->nresults || loop->records || runs_shortly(loop))
        return NULL;
    ir_op *before = loop->prev, *form = ad_ascending(loop, scratch);
    writes_query q = look_at_writes(form, false, scratch);
    if (q.fine && q.apart.n)
        return form;
    ad_ascending_undo(form, loop, before);
    return NULL;
}

bool
ad_is_independent(ir_op *loop, arena *scratch)
{
    ir_op *before = loop->prev, *form = independent_form(loop, scratch);
    if (form)
        ad_ascending_undo(form, loop, before);
    return form;
}

/* -- one loop over two indices --------------------------------------------------------------------------------------- */

/* The loop that is all that the threads do, but for whole numbers; its bounds are the same for all of them. NULL: there is none. */
static ir_op *
loop_alone(const ir_op *task)
{
    ir_op *op = task->regions[0]->first;
    while (op->nresults == 1 && !op->nregions && ir_ops[op->code].flags & IR_PURE && ir_is_integer(op->results[0]->type))
        op = op->next;
    bool only = op->code == RG_OP_FOR && op->next->code == RG_OP_YIELD;
    return only && edit_can_stand_before(op->args[0], task) && edit_can_stand_before(op->args[1], task) ? op : NULL;
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
        ir_op_arg(joined, e->fn, edit_number_before(e, task, inner->args[side]));
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
        ir_op *form = independent_form(inner, e->scratch);
        if (!form)
            break;
        task = join_loops(e, task, form);
    }
}

/* -- the walk -------------------------------------------------------------------------------------------------------- */

static void
look_in_region(edit *e, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(e, op);
        ir_op *form = independent_form(op, e->scratch);
        if (form) {
            as_parallel(form);
            e->changed = true;
        }
        if (form && form != op) {
            ir_remove(op);
            op = form;
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
