/* Which tasks, loops and branches run where they are reversed. SPDX-License-Identifier: Apache-2.0
 *
 *   %s = parallel { A } (add)           reverse of the ops behind it: the adjoint of %s
 *   %l = mul %s, 0.5              ->    %s = parallel { A; reverse of A } (add)
 *   store %y[0], %l                     %l = mul %s, 0.5
 *                                       store %y[0], %l
 *
 * Each thread of such a task is swept and then reversed, so that its tape is as deep as one thread instead of as long as the
 * task; so is each iteration of a thread's loop, if no iteration reaches what another one writes, and sums are all that the loop
 * carries; and a branch that holds such a loop. Ops behind the task or loop that need it (`late` ones) then run behind its reverse,
 * but pass adjoints on to it before: for that their rules must need no value of the task, nor of a late op. What late ops pass on
 * to others, and the reverse of all other ops, follows when the late values are there (vjp_reverse). All other ops run before the
 * task. No frames change their order: neither the task nor late ops leave any. */
#include "analysis/carried.h"
#include "analysis/cost.h"
#include "diff/vjp.h"

typedef struct choice {
    vjp *v;
    map late;          /* ops, and the values that they and tasks which run where they are reversed give */
    ir_effects behind; /* of the task, and of late ops */
} choice;

static bool
is_late(const choice *c, const ir_value *value)
{
    return map_get(&c->late, map_ptr(value));
}

static bool
takes_nothing_late(ir_op *op, void *user)
{
    for (uint32_t k = 0; k < op->nargs; k++)
        if (is_late(user, op->args[k]))
            return false;
    return true;
}

static bool
needs_late(choice *c, ir_op *op)
{
    bool needs = !takes_nothing_late(op, c);
    for (uint32_t i = 0; i < op->nregions && !needs; i++)
        needs = !ir_walk(op->regions[i], takes_nothing_late, c);
    return needs;
}

static void
mark_late(choice *c, ir_op *op)
{
    map_set(&c->late, map_ptr(op), op);
    for (uint32_t k = 0; k < op->nresults; k++)
        map_set(&c->late, map_ptr(op->results[k]), op);
    ir_effects_join(&c->behind, ir_footprint(&c->v->footprints, op));
}

/* -- what the reverse of a late op needs --------------------------------------------------------------------------- */
typedef struct needed {
    const choice *c;
    bool late;
} needed;

static ir_value *
note_needed(void *user, ir_value *value)
{
    needed *n = user;
    n->late |= is_late(n->c, value);
    return value;
}

/* The rules say themselves: they are applied where nobody looks. */
static bool
scalar_is_early(const choice *c, const ir_op *op)
{
    vjp *v = c->v;
    needed n = {.c = c};
    if (op->nresults != 1 || !vjp_active(v, op->results[0]))
        return true;
    ir_emit aside = {v->fn, ir_region_new(v->fn, NULL), NULL, op->loc};
    ir_value *g = ir_emit_const(&aside, ir_adjoint_dtype((rg_dtype)op->results[0]->type.dtype), 0);
    for (uint32_t k = 0; k < op->nargs; k++) {
        if (!vjp_active(v, op->args[k]) || !ad_flows(op, k) || op->code == RG_OP_CAST)
            continue;
        if (ad_rule_of((rg_op)op->code, k) == AD_RULE_ERROR)
            return false;
        if (!is_late(c, op->args[k]))
            continue; /* that is done when the late values are there */
        if (op->code == RG_OP_ZERO_GUARD)
            n.late |= is_late(c, op->args[0]);
        ad_rule_apply(&aside, op, k, g, note_needed, &n);
    }
    return !n.late;
}

static bool
access_is_early(const choice *c, const ir_op *op)
{
    vjp *v = c->v;
    bool buffer = op->args[0]->type.kind == IR_BUFFER && ir_is_float((rg_dtype)op->args[0]->type.dtype);
    uint32_t places = op->args[0]->type.rank + 1u;
    if (!buffer || (op->code == RG_OP_LOAD ? !vjp_active(v, op->results[0]) : !vjp_look(v, op->args[0]).any_adjoint))
        return true;
    for (uint32_t i = 0; i < places; i++)
        if (is_late(c, op->args[i]))
            return false;
    return op->code != RG_OP_RMW || (op->rmw == RG_RMW_ADD && !op->nresults);
}

static bool
takes_buffer(const ir_op *op)
{
    for (uint32_t k = 0; k < op->nargs; k++)
        if (op->args[k]->type.kind == IR_BUFFER)
            return true;
    return false;
}

static bool
reverse_is_early(const choice *c, ir_op *op)
{
    switch ((rg_op)op->code) {
    case RG_OP_LOAD:
    case RG_OP_STORE:
    case RG_OP_RMW:
        return access_is_early(c, op);
    case RG_OP_CALL:
        return !takes_buffer(op) && !vjp_has_work(c->v, op, true);
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
    case RG_OP_PARALLEL:
    case RG_OP_COPY:
    case RG_OP_EXTRACT:
    case RG_OP_INSERT:
        return !vjp_has_work(c->v, op, true);
    default:
        return scalar_is_early(c, op);
    }
}

/* -- the choice ------------------------------------------------------------------------------------------------------ */
static bool
is_no_contest(ir_op *op, void *user)
{
    (void)user;
    return !ad_is_contest(op);
}

/* Whether what a store put aside is stored again by its reverse: that must find the store done. */
static bool
stores_again(const vjp *v)
{
    return v->put_back && v->put_back->n;
}

static bool
task_can_be_swept(const vjp *v, const ir_op *op)
{
    bool good = ir_walk(op->regions[0], is_no_contest, NULL);
    for (uint32_t k = 0; good && k < op->nresults; k++)
        good = op->reduce[k] == RG_RMW_ADD;
    return good && (!stores_again(v) || !op->next->next);
}

static bool can_be_swept(vjp *v, ir_op *op);
static bool try_op(choice *c, ir_op *first);

/* What the reverse of cheap operations needs is computed again for less than it takes to have both sweeps in one loop. */
enum { DEAR = 5 };

/* A loop that records for its reverse is never cheap; nor is one that carries more than sums. */
static bool
is_cheap(ir_op *op, void *user)
{
    vjp *v = user;
    if (op->code == RG_OP_LOOP)
        return !vjp_has_work(v, op, true);
    for (uint32_t k = 0; k < op->nresults; k++)
        if (vjp_active(v, op->results[k]) && (op->code == RG_OP_FOR ? !ir_carries_sum(op, k, v->c->scratch) : ir_cost(op) >= DEAR))
            return false;
    return true;
}

static bool
loop_can_be_swept(vjp *v, ir_op *op)
{
    if (!vjp_has_work(v, op, true) || ir_walk(op->regions[0], is_cheap, v))
        return false;
    bool good = ad_iterations_are_apart(op, v->c->scratch);
    for (uint32_t k = 0; good && k < op->nresults; k++)
        good = ir_carries_sum(op, k, v->c->scratch);
    return good;
}

static bool
holds_swept(vjp *v, const ir_region *r)
{
    ir_for_ops(op, r)
    {
        choice c = {.v = v, .late.in = v->c->scratch, .behind.at.in = v->c->scratch};
        if (can_be_swept(v, op) && try_op(&c, op))
            return true;
    }
    return false;
}

/* A branch moves with the loops in it. */
static bool
branch_can_be_swept(vjp *v, ir_op *op)
{
    bool good = vjp_has_work(v, op, true) && ad_is_movable(op->regions[0]) && ad_is_movable(op->regions[1]);
    for (uint32_t k = 0; good && k < op->nresults; k++)
        good = op->results[k]->type.kind == IR_SCALAR;
    return good && (holds_swept(v, op->regions[0]) || holds_swept(v, op->regions[1]));
}

static bool
can_be_swept(vjp *v, ir_op *op)
{
    bool in_thread = op->parent->op;
    switch ((rg_op)op->code) {
    case RG_OP_PARALLEL:
        return !in_thread && task_can_be_swept(v, op);
    case RG_OP_FOR:
        return in_thread && !stores_again(v) && loop_can_be_swept(v, op);
    case RG_OP_IF:
        return in_thread && !stores_again(v) && branch_can_be_swept(v, op);
    default:
        return false;
    }
}

/* What a region yields is had behind its reverse; but for sums, a task's reductions need it before. */
static bool
yield_is_early(const choice *c, const ir_op *yield)
{
    const ir_op *around = yield->parent->op;
    for (uint32_t k = 0; around && around->code == RG_OP_PARALLEL && k < yield->nargs; k++)
        if (around->reduce[k] != RG_RMW_ADD && is_late(c, yield->args[k]))
            return false;
    return true;
}

/* A local array walks back with the reverse, one op behind the other. */
static bool
changes_array(const ir_op *op)
{
    bool changes = false;
    for (uint32_t k = 0; k < op->nresults; k++)
        changes |= op->results[k]->type.kind == IR_ARRAY;
    return changes;
}

/* Whether op, behind the one that is swept, is late. Behind what may end the thread it might go wrong before. */
static bool
has_to_wait(choice *c, ir_op *op)
{
    const ir_effects *does = ir_footprint(&c->v->footprints, op);
    bool guarded = c->behind.guards && (op->nregions || does->at.n);
    return guarded || (c->behind.order && does->order) || ir_effects_conflict(&c->behind, does) || needs_late(c, op);
}

/* Whether `first` can run where it is reversed, behind the reverse of all ops behind it. */
static bool
try_op(choice *c, ir_op *first)
{
    vjp *v = c->v;
    const ir_op *end = ir_terminator(first->parent);
    mark_late(c, first);
    for (ir_op *op = first->next; op != end; op = op->next) {
        bool swept = map_get(&v->swept, map_ptr(op));
        bool late = map_get(&v->late, map_ptr(op)) || has_to_wait(c, op);
        if (late)
            mark_late(c, op); /* its reverse may need its own result */
        if ((late && (swept || !reverse_is_early(c, op))) || changes_array(op))
            return false;
        for (uint32_t k = 0; swept && k < op->nresults; k++)
            map_set(&c->late, map_ptr(op->results[k]), op);
    }
    return yield_is_early(c, end);
}

void
vjp_choose_swept(vjp *v, const ir_region *r)
{
    arena *a = v->c->scratch;
    for (ir_op *op = r->last; op; op = op->prev) {
        choice c = {.v = v, .late.in = a, .behind.at.in = a};
        if (!can_be_swept(v, op) || !try_op(&c, op))
            continue;
        for (ir_op *behind = op->next; behind; behind = behind->next)
            if (map_get(&c.late, map_ptr(behind)))
                map_set(&v->late, map_ptr(behind), behind);
        map_set(&v->swept, map_ptr(op), op);
        map_set(&v->first_swept, map_ptr(r), op);
    }
}
