/* Loops with exits, in lanes. SPDX-License-Identifier: Apache-2.0 */
#include "lanes/lanes.h"

static void
same_loop(lanes *l, const ir_op *op)
{
    const ir_region *old = op->regions[0];
    uint32_t results = ir_value_results(op);
    ir_value **args = lanes_values(l, op->nargs), **next = lanes_values(l, op->nargs);
    uint32_t n = lanes_carried_args(l, op, 0, 0, args);
    ir_op *made = lanes_control_op(l, op, RG_OP_LOOP, n, args);
    ir_region *was = lanes_enter(l, made->regions[0]);
    ir_value **params = lanes_carried_params(l, op, made->regions[0], 0);
    lanes_set_params(l, op, params, 0);
    ir_for_ops(inner, old)
    {
        if (inner->code == RG_OP_YIELD)
            break;
        if (inner->code != RG_OP_EXIT_IF) {
            lanes_make(l, inner);
            continue;
        }
        ir_value **leave = lanes_values(l, inner->nargs);
        leave[0] = lanes_one(l, inner->args[0]);
        for (uint32_t k = 0; k < results; k++)
            leave[1 + k] = lanes_carried(l, inner->args[1 + k], op->results[k]);
        lanes_op(l, RG_OP_EXIT_IF, inner->nargs, leave, 0);
    }
    lanes_yield(l, lanes_next_values(l, op, 0, NULL, params, next), next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < results; k++) {
        ir_value *v = ir_op_result(made, l->fn, lanes_carried_type(l, op->results[k]), NULL);
        lanes_set_carried(l, op->results[k], v);
    }
    lanes_set_trace(l, op, made);
}

/* A loop that threads leave differently carries, behind what it carried: who is still in it, the results of those
 * who left, and where it records, how many iterations the group ran. */
typedef struct leaving {
    const ir_op *op;
    bool partial; /* iterations are recorded to their end, whoever leaves */
    uint32_t results;
    ir_value *alive, *count, **kept, **params; /* as they stand now */
    uint32_t *like;          /* by result: the first that leaving threads take the same of */
    ir_value *gone;          /* who has left in this iteration; NULL: no exit yet */
    ir_value **taken, **old; /* by result: what all of these take, NULL: not one value; what was kept before they left */
} leaving;

static bool
leaves_together(lanes *l, const leaving *a, const ir_op *exit)
{
    return !a->partial && ir_is_uniform(&l->divergence, exit->args[0]);
}

/* One select does for all that take the same at several exits: where the group stays, no other is used. */
static ir_value *
taken_along(lanes *l, leaving *a, uint32_t k, ir_value *v, ir_value *outs, bool is_first)
{
    if (is_first) {
        a->old[k] = a->kept[k];
        a->taken[k] = l->target->warp ? v : NULL;
    } else if (a->taken[k] == v) {
        return lanes_select(l, a->gone, v, a->old[k]);
    } else {
        a->taken[k] = NULL;
    }
    return lanes_select(l, outs, v, a->kept[k]);
}

/* threads that leave take their results along */
static void
take_leave(lanes *l, leaving *a, const ir_op *exit)
{
    ir_value *c = lanes_all(l, exit->args[0]), *outs = lanes_meet(l, a->alive, c);
    bool is_first = !a->gone;
    a->gone = is_first ? outs : lanes_binary(l, RG_OP_OR, a->gone, outs);
    for (uint32_t k = 0; k < a->results; k++)
        if (a->kept[k] && a->like[k] == k)
            a->kept[k] = taken_along(l, a, k, lanes_all(l, exit->args[1 + k]), outs, is_first);
        else if (a->kept[k])
            a->kept[k] = a->kept[a->like[k]];
    a->alive = lanes_binary(l, RG_OP_AND, a->alive, lanes_unary(l, RG_OP_NOT, c->type, c));
    l->mask = a->alive;
}

/* where result k, an array, is when the group leaves; no exit: at the start of an iteration */
static ir_value *
array_of_result(lanes *l, const leaving *a, const ir_op *exit, uint32_t k)
{
    const ir_region *old = a->op->regions[0];
    if (exit)
        return lanes_operand(l, exit->args[1 + k]);
    ir_for_ops(op, old)
    {
        if (op->code == RG_OP_EXIT_IF)
            return a->params[lanes_array_root(op->args[1 + k], old)->index];
    }
    return NULL;
}

/* the group leaves with these results; arrays are where `exit` has them */
static void
leave_if(lanes *l, leaving *a, ir_value *condition, ir_value *const *kept, const ir_op *exit)
{
    ir_value **out = lanes_values(l, a->results + 2);
    uint32_t n = 0;
    out[n++] = condition;
    for (uint32_t k = 0; k < a->results; k++)
        if (a->kept[k])
            out[n++] = kept[k];
        else if (a->op->results[k]->type.kind == IR_ARRAY)
            out[n++] = array_of_result(l, a, exit, k);
    if (a->count)
        out[n++] = a->count;
    lanes_op(l, RG_OP_EXIT_IF, n, out, 0);
}

static void
leave_if_alone(lanes *l, leaving *a, const ir_op *exit)
{
    ir_value *alone = lanes_unary(l, RG_OP_NOT, ir_scalar(RG_BOOL), lanes_any(l, a->alive));
    leave_if(l, a, alone, a->kept, exit);
}

/* stops at what has a slow path for some numbers */
static bool
is_quick(ir_op *op, void *user)
{
    (void)user;
    bool divides = op->code == RG_OP_DIV || op->code == RG_OP_SQRT || op->code == RG_OP_RSQRT;
    return !(divides && ir_is_float((rg_dtype)op->results[0]->type.dtype)) && !(ir_ops[op->code].flags & IR_FUNCTION);
}

/* Whether a little arithmetic behind this exit there is another one, at which the group may ask whether all have left. */
static bool
asks_soon(lanes *l, const leaving *a, const ir_op *exit)
{
    enum { LITTLE = 6 };
    const ir_op *op = exit->next;
    for (unsigned n = 0; n < LITTLE && op->code != RG_OP_EXIT_IF; n++, op = op->next)
        if ((op->code != RG_OP_CONST && ir_ops[op->code].form == IR_OTHER) || !is_quick((ir_op *)op, NULL))
            return false;
    return l->target->warp && op->code == RG_OP_EXIT_IF && !leaves_together(l, a, op);
}

/* at an exit that is the same for all */
static void
leave_together(lanes *l, leaving *a, const ir_op *exit)
{
    ir_value **last = lanes_values(l, a->results);
    for (uint32_t k = 0; k < a->results; k++)
        if (a->kept[k])
            last[k] = lanes_select(l, a->alive, lanes_all(l, exit->args[1 + k]), a->kept[k]);
    leave_if(l, a, lanes_one(l, exit->args[0]), last, exit);
}

/* the carried array k as it stands at `exit`: it may have been changed in place before */
static ir_value *
array_at(lanes *l, const leaving *a, const ir_op *exit, uint32_t k)
{
    const ir_region *old = a->op->regions[0];
    const ir_value *now = old->params[k];
    for (const ir_op *op = old->first; op != exit; op = op->next)
        for (uint32_t i = 0; i < op->nresults; i++) {
            const ir_value *v = op->results[i];
            if (v->type.kind == IR_ARRAY && lanes_array_root(v, old) == old->params[k])
                now = v;
        }
    return lanes_operand(l, (ir_value *)now);
}

/* Threads that have left a loop go on with the numbers that they had: on a GPU what iterations without them would make of
 * these, infinities as likely as not, has all lanes wait for slow paths. */
static void
keep_numbers(lanes *l, const leaving *a, ir_value **next)
{
    if (!l->target->warp || ir_walk(a->op->regions[0], is_quick, NULL))
        return;
    for (uint32_t k = 0; k < a->op->regions[0]->nparams; k++) {
        ir_type type = a->params[k]->type;
        if (type.kind == IR_SCALAR && type.lanes && ir_is_float((rg_dtype)type.dtype))
            next[k] = lanes_select(l, a->alive, next[k], a->params[k]);
    }
}

/* What the next iteration begins with; `exit`: all have left there, so this one stays at what it began with, NULL: it
 * came to its end. */
static uint32_t
next_of_leaving(lanes *l, leaving *a, const ir_op *exit, ir_value **next)
{
    uint32_t n = a->op->regions[0]->nparams;
    if (!exit) {
        lanes_next_values(l, a->op, 0, NULL, a->params, next);
        keep_numbers(l, a, next);
    }
    for (uint32_t k = 0; exit && k < n; k++)
        next[k] = a->params[k]->type.kind == IR_ARRAY ? array_at(l, a, exit, k) : a->params[k];
    next[n++] = a->alive;
    for (uint32_t k = 0; k < a->results; k++)
        if (a->kept[k] && a->like[k] == k)
            next[n++] = a->kept[k];
    return n;
}

/* The rest of an iteration. Where it is recorded to its end, what comes behind an exit stands in a branch for those
 * who are left. Returns how many values the next one begins with. */
static uint32_t
rest_of_iteration(lanes *l, leaving *a, const ir_op *from, ir_value **next)
{
    for (const ir_op *op = from; op->code != RG_OP_YIELD; op = op->next) {
        if (lanes_is_moved(l, op, NULL))
            continue;
        if (op->code != RG_OP_EXIT_IF) {
            lanes_make(l, op);
            continue;
        }
        if (leaves_together(l, a, op)) {
            leave_together(l, a, op);
            continue;
        }
        take_leave(l, a, op);
        if (!a->partial) {
            if (!asks_soon(l, a, op))
                leave_if_alone(l, a, op);
            continue;
        }
        ir_op *left = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){lanes_any(l, a->alive)}, 2);
        ir_region *was = lanes_enter(l, left->regions[1]);
        uint32_t n = next_of_leaving(l, a, op, next);
        lanes_yield(l, n, next);
        lanes_enter(l, left->regions[0]);
        n = rest_of_iteration(l, a, op->next, next);
        lanes_yield(l, n, next);
        lanes_enter(l, was);
        for (uint32_t k = 0; k < n; k++)
            next[k] = ir_op_result(left, l->fn, next[k]->type, NULL);
        return n;
    }
    return next_of_leaving(l, a, NULL, next);
}

/* whether result k is a number that leaving threads take along */
static bool
is_taken_along(const lanes *l, const ir_op *op, uint32_t k)
{
    return op->results[k]->type.kind == IR_SCALAR && l->uses[op->results[k]->id];
}

static bool
take_the_same(lanes *l, const leaving *a, uint32_t j, uint32_t k)
{
    if (!is_taken_along(l, a->op, j) || !ir_type_eq(a->op->results[j]->type, a->op->results[k]->type))
        return false;
    ir_for_ops (op, a->op->regions[0])
        if (op->code == RG_OP_EXIT_IF && op->args[1 + j] != op->args[1 + k] && !leaves_together(l, a, op))
            return false;
    return true;
}

static void
find_alike(lanes *l, leaving *a)
{
    for (uint32_t k = 0; k < a->results; k++) {
        a->like[k] = k;
        for (uint32_t j = 0; j < k && a->like[k] == k && l->target->warp; j++)
            if (a->like[j] == j && is_taken_along(l, a->op, k) && take_the_same(l, a, j, k))
                a->like[k] = j;
    }
}

static uint32_t
leaving_args(lanes *l, const leaving *a, ir_value **args)
{
    const ir_op *op = a->op;
    uint32_t n = lanes_carried_args(l, op, 0, 0, args);
    ir_value *active = lanes_active(l);
    args[n++] = active ? active : lanes_splat(l, lanes_const(l, RG_BOOL, 1));
    for (uint32_t k = 0; k < ir_value_results(op); k++)
        if (is_taken_along(l, op, k) && a->like[k] == k)
            args[n++] = lanes_zero(l, lanes_type(l, op->results[k]->type));
    if (op->records)
        args[n++] = lanes_const(l, RG_I64, 0);
    return n;
}

static void
leaving_params(lanes *l, leaving *a, ir_region *body)
{
    a->params = lanes_carried_params(l, a->op, body, 0);
    a->alive = l->mask = ir_region_param(body, ir_with_lanes(ir_scalar(RG_BOOL), l->width), NULL);
    for (uint32_t k = 0; k < a->results; k++)
        if (is_taken_along(l, a->op, k))
            a->kept[k] = a->like[k] < k ? a->kept[a->like[k]] : ir_region_param(body, lanes_type(l, a->op->results[k]->type), NULL);
    a->count = a->op->records ? ir_region_param(body, ir_scalar(RG_I64), NULL) : NULL;
    lanes_set_params(l, a->op, a->params, 0);
}

static void
differing_loop(lanes *l, const ir_op *op)
{
    leaving a = {.op = op, .results = ir_value_results(op), .partial = ir_loop_divergence_of(&l->divergence, op)->partial};
    a.kept = lanes_values(l, a.results);
    a.taken = lanes_values(l, a.results);
    a.old = lanes_values(l, a.results);
    a.like = arena_new_n(l->scratch, uint32_t, a.results + 1);
    find_alike(l, &a);
    ir_value **args = lanes_values(l, op->nargs + a.results + 2), **next = lanes_values(l, op->nargs + a.results + 2);
    ir_value *outer = l->mask;
    ir_op *made = lanes_control_op(l, op, RG_OP_LOOP, leaving_args(l, &a, args), args);
    ir_region *was = lanes_enter(l, made->regions[0]);
    leaving_params(l, &a, made->regions[0]);
    ir_value *count = a.count;
    if (a.partial)
        leave_if_alone(l, &a, NULL);
    uint32_t n = rest_of_iteration(l, &a, op->regions[0]->first, next);
    if (count)
        next[n++] = lanes_binary(l, RG_OP_ADD, count, lanes_const(l, RG_I64, 1));
    lanes_yield(l, n, next);
    l->mask = outer;
    lanes_enter(l, was);
    for (uint32_t k = 0; k < a.results; k++)
        if (a.kept[k] || op->results[k]->type.kind == IR_ARRAY)
            lanes_put(l, op->results[k], ir_op_result(made, l->fn, lanes_carried_type(l, op->results[k]), NULL));
    if (count)
        map_set(&l->frames, map_ptr(op), ir_op_result(made, l->fn, ir_scalar(RG_I64), NULL));
    lanes_set_trace(l, op, made);
}

void
lanes_loop(lanes *l, const ir_op *op)
{
    if (ir_loop_divergence_of(&l->divergence, op)->varies)
        differing_loop(l, op);
    else
        same_loop(l, op);
}
