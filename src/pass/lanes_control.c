/* Ifs and loops in lanes: control is the same for the whole group, masks say who takes part.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   if c {A} else {B}    threads differ: if any(m & c) {A}, then if any(m & !c) {B}; results by select. Short pure
 *                        branches run unasked.
 *   for                  counts differ: up to the largest; a thread takes part while its own count is not reached
 *   loop                 a thread that leaves takes its results and is out of the mask; none left: the loop ends
 *   unwind               as many iterations as the group recorded, a thread joins at its own last one */
#include "pass/lanes.h"

enum { UNASKED_OPS = 8 };

static ir_value **
values(lanes *l, uint32_t n)
{
    return arena_new_n(l->scratch, ir_value *, n + 1);
}

static ir_value *
meet(lanes *l, ir_value *mask, ir_value *with)
{
    return mask ? lanes_binary(l, RG_OP_AND, mask, with) : with;
}

static ir_op *
control_op(lanes *l, const ir_op *op, rg_op code, uint32_t nargs, ir_value **args)
{
    ir_op *made = lanes_op(l, code, nargs, args, op->nregions);
    made->records = op->records;
    made->decided = op->decided;
    made->fast = op->fast;
    made->attr = op->attr;
    return made;
}

/* -- if ------------------------------------------------------------------------------------------- */

static void
same_if(lanes *l, const ir_op *op)
{
    ir_op *made = control_op(l, op, RG_OP_IF, 1, (ir_value *[]){lanes_one(l, op->args[0])});
    for (uint32_t k = 0; k < 2; k++) {
        const ir_op *end = ir_terminator(op->regions[k]);
        ir_region *was = lanes_enter(l, made->regions[k]);
        lanes_region(l, op->regions[k]);
        ir_value **yields = values(l, op->nresults);
        for (uint32_t i = 0; i < op->nresults; i++)
            yields[i] = lanes_carried(l, end->args[i], op->results[i]);
        lanes_yield(l, op->nresults, yields);
        lanes_enter(l, was);
    }
    for (uint32_t i = 0; i < op->nresults; i++) {
        ir_value *v = ir_op_result(made, l->fn, lanes_carried_type(l, op->results[i]), NULL);
        lanes_set_carried(l, op->results[i], v);
    }
}

static bool
is_cheap(const ir_op *op)
{
    if (op->code == RG_OP_CONST || op->code == RG_OP_RECALL)
        return op->results[0]->type.kind == IR_SCALAR;
    switch ((int)op->code) {
    case RG_OP_DIV:
    case RG_OP_REM:
    case RG_OP_FLOORDIV:
    case RG_OP_FLOORMOD:
    case RG_OP_SQRT:
    case RG_OP_RSQRT:
        return false;
    }
    return ir_ops[op->code].form != IR_OTHER && op->code < RG_OP_SQRT; /* the first function */
}

static bool
runs_unasked(const ir_op *op)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < 2; k++)
        ir_for_ops(inner, op->regions[k])
        {
            if (inner->code == RG_OP_YIELD)
                continue;
            if (!is_cheap(inner) || ++n > UNASKED_OPS)
                return false;
        }
    for (uint32_t i = 0; i < op->nresults; i++)
        if (op->results[i]->type.kind == IR_ARRAY)
            return false;
    return true;
}

/* The arm k under its mask; `out` receives its scalars where it ran, arrays go on in place. */
static void
asked_arm(lanes *l, const ir_op *op, uint32_t k, ir_value *mask, ir_value **out)
{
    const ir_op *end = ir_terminator(op->regions[k]);
    ir_value *outer = l->mask;
    if (op->regions[k]->first == end) {
        for (uint32_t i = 0; i < op->nresults; i++)
            out[i] = op->results[i]->type.kind == IR_ARRAY ? NULL : lanes_all(l, end->args[i]);
        return;
    }
    ir_op *made = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){lanes_any(l, mask)}, 2);
    ir_value **ran = values(l, op->nresults), **not = values(l, op->nresults), **before = values(l, op->nresults);
    for (uint32_t i = 0; i < op->nresults; i++)
        if (op->results[i]->type.kind == IR_ARRAY)
            before[i] = (ir_value *)lanes_array_root(end->args[i], op->regions[k]);
    ir_region *was = lanes_enter(l, made->regions[1]);
    for (uint32_t i = 0; i < op->nresults; i++)
        not[i] = before[i] ? lanes_operand(l, before[i]) : lanes_zero(l, lanes_type(l, op->results[i]->type));
    lanes_yield(l, op->nresults, not);
    lanes_enter(l, made->regions[0]);
    l->mask = mask;
    lanes_region(l, op->regions[k]);
    for (uint32_t i = 0; i < op->nresults; i++)
        ran[i] = before[i] ? lanes_operand(l, end->args[i]) : lanes_all(l, end->args[i]);
    lanes_yield(l, op->nresults, ran);
    lanes_enter(l, was);
    l->mask = outer;
    for (uint32_t i = 0; i < op->nresults; i++) {
        out[i] = ir_op_result(made, l->fn, ran[i]->type, NULL);
        if (before[i]) { /* the other arm finds it so */
            lanes_put(l, before[i], out[i]);
            out[i] = NULL;
        }
    }
}

/* the array that both arms go on with in place */
static const ir_value *
if_place(const ir_op *op, uint32_t i)
{
    return lanes_array_root(ir_terminator(op->regions[0])->args[i], op->regions[0]);
}

static void
differing_if(lanes *l, const ir_op *op)
{
    ir_value *c = lanes_all(l, op->args[0]), *active = lanes_active(l);
    ir_value **out[2] = {values(l, op->nresults), values(l, op->nresults)}, **was = values(l, op->nresults);
    for (uint32_t i = 0; i < op->nresults; i++)
        if (op->results[i]->type.kind == IR_ARRAY)
            was[i] = lanes_operand(l, (ir_value *)if_place(op, i));
    if (runs_unasked(op)) {
        for (uint32_t k = 0; k < 2; k++) {
            lanes_region(l, op->regions[k]);
            for (uint32_t i = 0; i < op->nresults; i++)
                out[k][i] = lanes_all(l, ir_terminator(op->regions[k])->args[i]);
        }
    } else {
        ir_value *masks[2] = {meet(l, active, c), NULL};
        masks[1] = meet(l, active, lanes_unary(l, RG_OP_NOT, c->type, c));
        for (uint32_t k = 0; k < 2; k++)
            asked_arm(l, op, k, masks[k], out[k]);
    }
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (op->results[i]->type.kind != IR_ARRAY) {
            lanes_set(l, op->results[i], NULL, lanes_select(l, c, out[0][i], out[1][i]));
            continue;
        }
        const ir_value *place = if_place(op, i);
        lanes_put(l, op->results[i], lanes_operand(l, (ir_value *)place));
        lanes_put(l, place, was[i]); /* the other branch of an if around finds it so */
    }
}

void
lanes_if(lanes *l, const ir_op *op)
{
    if (lanes_is_same(l, op->args[0]))
        same_if(l, op);
    else
        differing_if(l, op);
}

/* -- what loops share ------------------------------------------------------------------------------- */

static void
set_trace(lanes *l, const ir_op *op, ir_op *made)
{
    if (op->records && op->results[op->nresults - 1]->type.kind == IR_TRACE)
        lanes_set(l, op->results[op->nresults - 1], ir_op_result(made, l->fn, ir_trace(), NULL), NULL);
}

/* makes the carried parameters of body, for those of op from number `first` on */
static ir_value **
carried_params(lanes *l, const ir_op *op, ir_region *body, uint32_t first)
{
    const ir_region *old = op->regions[0];
    ir_value **params = values(l, old->nparams);
    for (uint32_t k = first; k < old->nparams; k++)
        params[k] = ir_region_param(body, lanes_carried_type(l, old->params[k]), NULL);
    return params;
}

static void
set_params(lanes *l, const ir_op *op, ir_value **params, uint32_t first)
{
    for (uint32_t k = first; k < op->regions[0]->nparams; k++)
        lanes_set_carried(l, op->regions[0]->params[k], params[k]);
}

/* operands of a loop like op: `lead` of them are given, then come the carried ones */
static uint32_t
carried_args(lanes *l, const ir_op *op, uint32_t first, uint32_t lead, ir_value **args)
{
    uint32_t n = op->regions[0]->nparams - first, init = ir_first_init(op);
    for (uint32_t k = 0; k < n; k++)
        args[lead + k] = lanes_carried(l, op->args[init + k], op->regions[0]->params[first + k]);
    return lead + n;
}

/* what the next iteration gets; lanes outside of `mask` (NULL: there are none) keep what they have */
static uint32_t
next_values(lanes *l, const ir_op *op, uint32_t first, ir_value *mask, ir_value **params, ir_value **next)
{
    const ir_op *end = ir_terminator(op->regions[0]);
    uint32_t n = op->regions[0]->nparams - first;
    for (uint32_t k = 0; k < n; k++) {
        next[k] = lanes_carried(l, end->args[k], op->regions[0]->params[first + k]);
        if (mask && next[k]->type.kind == IR_SCALAR && next[k]->type.lanes)
            next[k] = lanes_select(l, mask, next[k], params[first + k]);
    }
    return n;
}

/* -- for --------------------------------------------------------------------------------------------- */

static void
same_for(lanes *l, const ir_op *op)
{
    const ir_region *old = op->regions[0];
    ir_value **args = values(l, op->nargs + 2), **next = values(l, op->nargs);
    args[0] = lanes_one(l, op->args[0]);
    args[1] = lanes_one(l, op->args[1]);
    uint32_t n = carried_args(l, op, 1, 2, args);
    ir_op *made = control_op(l, op, RG_OP_FOR, n, args);
    ir_region *was = lanes_enter(l, made->regions[0]);
    lanes_set(l, old->params[0], ir_region_param(made->regions[0], old->params[0]->type, NULL), NULL);
    ir_value **params = carried_params(l, op, made->regions[0], 1);
    set_params(l, op, params, 1);
    lanes_region(l, old);
    lanes_yield(l, next_values(l, op, 1, NULL, params, next), next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < ir_value_results(op); k++) {
        ir_value *v = ir_op_result(made, l->fn, params[1 + k]->type, NULL);
        lanes_set_carried(l, op->results[k], v);
    }
    set_trace(l, op, made);
}

/* how often each thread runs it: (|hi - lo| - 1) / |step| + 1, or 0, unsigned */
static ir_value *
counts(lanes *l, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype, u = ir_bits(d) == 64 ? RG_U64 : RG_U32;
    int64_t step = op->attr.step;
    ir_value *lo = lanes_operand(l, op->args[0]), *hi = lanes_operand(l, op->args[1]);
    ir_value *from = step > 0 ? lo : hi, *to = step > 0 ? hi : lo;
    uint64_t size = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    ir_value *some = lanes_compare(l, RG_OP_LT, from, to);
    ir_value *count = lanes_binary(l, RG_OP_SUB, lanes_cast(l, to, u), lanes_cast(l, from, u));
    if (size > 1) {
        count = lanes_binary(l, RG_OP_SUB, count, lanes_const(l, u, 1));
        count = lanes_binary(l, RG_OP_DIV, count, lanes_const(l, u, size));
        count = lanes_binary(l, RG_OP_ADD, count, lanes_const(l, u, 1));
    }
    return lanes_select(l, some, count, lanes_const(l, u, 0));
}

static void
differing_index(lanes *l, const ir_op *op, ir_value *trip)
{
    const ir_value *index = op->regions[0]->params[0];
    rg_dtype d = (rg_dtype)index->type.dtype;
    ir_value *past = lanes_cast(l, trip, d);
    if (op->attr.step != 1)
        past = lanes_binary(l, RG_OP_MUL, past, lanes_const(l, d, (uint64_t)op->attr.step));
    if (lanes_shape_of(l, index).kind == LANES_ANY)
        lanes_set(l, index, NULL, lanes_binary(l, RG_OP_ADD, lanes_all(l, op->args[0]), past));
    else
        lanes_set_carried(l, index, lanes_binary(l, RG_OP_ADD, lanes_one(l, op->args[0]), past));
}

/* whether a result that the threads of a running loop have alike must be kept for each */
static bool
is_kept(const lanes *l, const ir_op *op, uint32_t k)
{
    const ir_value *v = op->results[k];
    return v->type.kind == IR_SCALAR && l->uses[v->id] && !lanes_carried_type(l, op->regions[0]->params[1 + k]).lanes;
}

static void
differing_for(lanes *l, const ir_op *op)
{
    const ir_region *old = op->regions[0];
    uint32_t results = ir_value_results(op);
    ir_value *count = lanes_or_identity(l, lanes_active(l), lanes_splat(l, counts(l, op)), RG_RMW_MAX);
    ir_value *most = lanes_reduce(l, RG_RMW_MAX, count), *outer = l->mask; /* 0 where no thread runs it */
    ir_value **args = values(l, 2 * op->nargs), **next = values(l, 2 * op->nargs), **kept = values(l, results);
    args[1] = most;
    args[0] = lanes_const(l, (rg_dtype)most->type.dtype, 0);
    uint32_t n = carried_args(l, op, 1, 2, args);
    for (uint32_t k = 0; k < results; k++)
        if (is_kept(l, op, k))
            args[n++] = lanes_all(l, op->args[2 + k]);
    ir_op *made = control_op(l, op, RG_OP_FOR, n, args);
    made->attr.step = 1;
    ir_region *body = made->regions[0], *was = lanes_enter(l, body);
    ir_value *trip = ir_region_param(body, most->type, NULL);
    ir_value **params = carried_params(l, op, body, 1);
    for (uint32_t k = 0; k < results; k++)
        if (is_kept(l, op, k))
            kept[k] = ir_region_param(body, lanes_type(l, op->results[k]->type), NULL);
    l->mask = lanes_compare(l, RG_OP_LT, trip, count);
    differing_index(l, op, trip);
    set_params(l, op, params, 1);
    lanes_region(l, old);
    n = next_values(l, op, 1, l->mask, params, next);
    for (uint32_t k = 0; k < results; k++)
        if (kept[k])
            next[n++] = lanes_select(l, l->mask, lanes_all(l, ir_terminator(old)->args[k]), kept[k]);
    lanes_yield(l, n, next);
    l->mask = outer;
    lanes_enter(l, was);
    for (uint32_t k = 0; k < results; k++)
        lanes_put(l, op->results[k], ir_op_result(made, l->fn, params[1 + k]->type, NULL));
    for (uint32_t k = 0; k < results; k++)
        if (kept[k])
            lanes_put(l, op->results[k], ir_op_result(made, l->fn, kept[k]->type, NULL));
    set_trace(l, op, made);
    lanes_loop_of(l, op)->frames = lanes_cast(l, most, RG_I64);
}

void
lanes_for(lanes *l, const ir_op *op)
{
    if (lanes_loop_of(l, op)->varies)
        differing_for(l, op);
    else
        same_for(l, op);
}

/* -- loop -------------------------------------------------------------------------------------------- */

static void
same_loop(lanes *l, const ir_op *op)
{
    const ir_region *old = op->regions[0];
    uint32_t results = ir_value_results(op);
    ir_value **args = values(l, op->nargs), **next = values(l, op->nargs);
    uint32_t n = carried_args(l, op, 0, 0, args);
    ir_op *made = control_op(l, op, RG_OP_LOOP, n, args);
    ir_region *was = lanes_enter(l, made->regions[0]);
    ir_value **params = carried_params(l, op, made->regions[0], 0);
    set_params(l, op, params, 0);
    ir_for_ops(inner, old)
    {
        if (inner->code == RG_OP_YIELD)
            break;
        if (inner->code != RG_OP_EXIT_IF) {
            lanes_make(l, inner);
            continue;
        }
        ir_value **leave = values(l, inner->nargs);
        leave[0] = lanes_one(l, inner->args[0]);
        for (uint32_t k = 0; k < results; k++)
            leave[1 + k] = lanes_carried(l, inner->args[1 + k], op->results[k]);
        lanes_op(l, RG_OP_EXIT_IF, inner->nargs, leave, 0);
    }
    lanes_yield(l, next_values(l, op, 0, NULL, params, next), next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < results; k++) {
        ir_value *v = ir_op_result(made, l->fn, lanes_carried_type(l, op->results[k]), NULL);
        lanes_set_carried(l, op->results[k], v);
    }
    set_trace(l, op, made);
}

/* A loop that threads leave differently carries, behind what it carried: who is still in it, the results of those
 * who left, and where it records, how many iterations the group ran. */
typedef struct leaving {
    const ir_op *op;
    bool partial; /* iterations are recorded to their end, whoever leaves */
    uint32_t results;
    ir_value *alive, *count, **kept, **params; /* as they stand now */
} leaving;

/* threads that leave take their results along */
static void
take_leave(lanes *l, leaving *a, const ir_op *exit)
{
    ir_value *c = lanes_all(l, exit->args[0]), *outs = meet(l, a->alive, c);
    for (uint32_t k = 0; k < a->results; k++)
        if (a->kept[k])
            a->kept[k] = lanes_select(l, outs, lanes_all(l, exit->args[1 + k]), a->kept[k]);
    a->alive = lanes_binary(l, RG_OP_AND, a->alive, lanes_unary(l, RG_OP_NOT, c->type, c));
    l->mask = a->alive;
}

/* the group leaves with these results; arrays are where `exit` has them */
static void
leave_if(lanes *l, leaving *a, ir_value *condition, ir_value *const *kept, const ir_op *exit)
{
    ir_value **out = values(l, a->results + 2);
    uint32_t n = 0;
    out[n++] = condition;
    for (uint32_t k = 0; k < a->results; k++)
        if (a->kept[k])
            out[n++] = kept[k];
        else if (a->op->results[k]->type.kind == IR_ARRAY)
            out[n++] = lanes_operand(l, exit->args[1 + k]);
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

/* at an exit that is the same for all */
static void
leave_together(lanes *l, leaving *a, const ir_op *exit)
{
    ir_value **last = values(l, a->results);
    for (uint32_t k = 0; k < a->results; k++)
        if (a->kept[k])
            last[k] = lanes_select(l, a->alive, lanes_all(l, exit->args[1 + k]), a->kept[k]);
    leave_if(l, a, lanes_one(l, exit->args[0]), last, exit);
}

/* what the next iteration begins with; `ran`: this one came to its end, else it stays at what it began with */
static uint32_t
next_of_leaving(lanes *l, leaving *a, bool ran, ir_value **next)
{
    uint32_t n = a->op->regions[0]->nparams;
    if (ran)
        next_values(l, a->op, 0, NULL, a->params, next);
    else
        memcpy(next, a->params, n * sizeof *next);
    next[n++] = a->alive;
    for (uint32_t k = 0; k < a->results; k++)
        if (a->kept[k])
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
        if (!a->partial && lanes_is_same(l, op->args[0])) {
            leave_together(l, a, op);
            continue;
        }
        take_leave(l, a, op);
        if (!a->partial) {
            leave_if_alone(l, a, op);
            continue;
        }
        ir_op *left = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){lanes_any(l, a->alive)}, 2);
        ir_region *was = lanes_enter(l, left->regions[1]);
        uint32_t n = next_of_leaving(l, a, false, next);
        lanes_yield(l, n, next);
        lanes_enter(l, left->regions[0]);
        n = rest_of_iteration(l, a, op->next, next);
        lanes_yield(l, n, next);
        lanes_enter(l, was);
        for (uint32_t k = 0; k < n; k++)
            next[k] = ir_op_result(left, l->fn, next[k]->type, NULL);
        return n;
    }
    return next_of_leaving(l, a, true, next);
}

static uint32_t
leaving_args(lanes *l, const ir_op *op, ir_value **args)
{
    uint32_t n = carried_args(l, op, 0, 0, args);
    ir_value *active = lanes_active(l);
    args[n++] = active ? active : lanes_splat(l, lanes_const(l, RG_BOOL, 1));
    for (uint32_t k = 0; k < ir_value_results(op); k++)
        if (op->results[k]->type.kind == IR_SCALAR && l->uses[op->results[k]->id])
            args[n++] = lanes_zero(l, lanes_type(l, op->results[k]->type));
    if (op->records)
        args[n++] = lanes_const(l, RG_I64, 0);
    return n;
}

static void
leaving_params(lanes *l, leaving *a, ir_region *body)
{
    a->params = carried_params(l, a->op, body, 0);
    a->alive = l->mask = ir_region_param(body, ir_with_lanes(ir_scalar(RG_BOOL), l->width), NULL);
    for (uint32_t k = 0; k < a->results; k++)
        if (a->op->results[k]->type.kind == IR_SCALAR && l->uses[a->op->results[k]->id])
            a->kept[k] = ir_region_param(body, lanes_type(l, a->op->results[k]->type), NULL);
    a->count = a->op->records ? ir_region_param(body, ir_scalar(RG_I64), NULL) : NULL;
    set_params(l, a->op, a->params, 0);
}

static void
differing_loop(lanes *l, const ir_op *op)
{
    leaving a = {.op = op, .results = ir_value_results(op), .partial = lanes_loop_of(l, op)->partial};
    a.kept = values(l, a.results);
    ir_value **args = values(l, op->nargs + a.results + 2), **next = values(l, op->nargs + a.results + 2);
    ir_value *outer = l->mask;
    ir_op *made = control_op(l, op, RG_OP_LOOP, leaving_args(l, op, args), args);
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
        lanes_loop_of(l, op)->frames = ir_op_result(made, l->fn, ir_scalar(RG_I64), NULL);
    set_trace(l, op, made);
}

void
lanes_loop(lanes *l, const ir_op *op)
{
    if (lanes_loop_of(l, op)->varies)
        differing_loop(l, op);
    else
        same_loop(l, op);
}

/* -- unwind ------------------------------------------------------------------------------------------- */

/* An iteration of an unwind around it may have run for threads that left their loop before its end: this loop's
 * frames are then more than those who come back need. */
static bool
may_idle(lanes *l, const ir_op *maker)
{
    for (const ir_region *r = maker->parent; r && r->op; r = r->op->parent)
        if (r->op->code == RG_OP_LOOP && lanes_loop_of(l, r->op)->varies)
            return true;
    return false;
}

/* how many iterations the group recorded: more than the threads that come here may have run in full */
static ir_value *
recorded(lanes *l, const ir_op *op)
{
    ir_value *frames = lanes_loop_of(l, ir_trace_maker(op->args[0]))->frames;
    if (!frames) /* the same for all */
        return lanes_is_same(l, op->args[1]) ? lanes_one(l, op->args[1]) : NULL;
    if (ir_region_inside(l->into, frames->region))
        return frames;
    return lanes_unary(l, RG_OP_RECALL, frames->type, frames);
}

static void
unwound_body(lanes *l, const ir_op *op, ir_value **params, ir_value *mask, ir_value **next)
{
    ir_value *outer = l->mask;
    l->mask = mask ? mask : outer;
    set_params(l, op, params, 1);
    lanes_region(l, op->regions[0]);
    next_values(l, op, 1, mask, params, next);
    l->mask = outer;
}

/* iterations that no thread has run in full are passed over */
static void
perhaps_idle(lanes *l, const ir_op *op, ir_value **params, ir_value *mask, uint32_t n, ir_value **next)
{
    ir_op *made = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){lanes_any(l, mask)}, 2);
    ir_region *was = lanes_enter(l, made->regions[1]);
    lanes_yield(l, n, params + 1);
    lanes_enter(l, made->regions[0]);
    unwound_body(l, op, params, mask, next);
    lanes_yield(l, n, next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < n; k++)
        next[k] = ir_op_result(made, l->fn, params[1 + k]->type, NULL);
}

/* Undoes the last iterations of the threads that are at theirs: what their carried values start with, and what is
 * used behind the unwind (`behind`, nbehind of them, carried as `kept`). */
static void
undo_partial(lanes *l, const ir_op *op, ir_value *at, ir_value **params, ir_value *const *behind, uint32_t nbehind,
             ir_value **kept)
{
    uint32_t carried = op->regions[0]->nparams - 1, init = ir_first_init(op), n = 0;
    ir_value **ran = values(l, carried + nbehind), **not = values(l, carried + nbehind), *outer = l->mask;
    ir_op *made = lanes_op(l, RG_OP_IF, 1, (ir_value *[]){lanes_any(l, at)}, 2);
    ir_region *was = lanes_enter(l, made->regions[0]);
    l->mask = at;
    lanes_make_moved(l, op);
    for (uint32_t k = 0; k < carried; k++)
        if (op->args[init + k]->def && lanes_is_moved(l, op->args[init + k]->def, op))
            ran[n++] = lanes_select(l, at, lanes_all(l, op->args[init + k]), params[1 + k]);
    for (uint32_t k = 0; k < nbehind; k++)
        ran[n++] = lanes_select(l, at, lanes_all(l, behind[k]), kept[k]);
    lanes_yield(l, n, ran);
    l->mask = outer;
    lanes_enter(l, made->regions[1]);
    n = 0;
    for (uint32_t k = 0; k < carried; k++)
        if (op->args[init + k]->def && lanes_is_moved(l, op->args[init + k]->def, op))
            not[n++] = params[1 + k];
    for (uint32_t k = 0; k < nbehind; k++)
        not[n++] = kept[k];
    lanes_yield(l, n, not);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < carried; k++)
        if (op->args[init + k]->def && lanes_is_moved(l, op->args[init + k]->def, op))
            params[1 + k] = ir_op_result(made, l->fn, params[1 + k]->type, NULL);
    for (uint32_t k = 0; k < nbehind; k++)
        kept[k] = ir_op_result(made, l->fn, kept[k]->type, NULL);
}

/* operands of the unwind: carried values that the last iterations give start in each thread when it comes to its own */
static uint32_t
unwind_args(lanes *l, const ir_op *op, ir_value **args)
{
    args[0] = lanes_one(l, op->args[0]);
    args[1] = recorded(l, op);
    if (!args[1]) { /* made by a loop that all run alike, undone differently far */
        ir_value *most = lanes_or_identity(l, lanes_active(l), lanes_all(l, op->args[1]), RG_RMW_MAX);
        args[1] = lanes_reduce(l, RG_RMW_MAX, most);
    }
    uint32_t n = op->regions[0]->nparams - 1, init = ir_first_init(op);
    for (uint32_t k = 0; k < n; k++) {
        ir_value *v = op->args[init + k];
        bool later = v->def && lanes_is_moved(l, v->def, op);
        args[2 + k] = later ? lanes_zero(l, lanes_type(l, v->type)) : lanes_carried(l, v, op->regions[0]->params[1 + k]);
    }
    return 2 + n;
}

/* The type in which iterations are counted: 32 bits where they hold every thread's count, which is a cast of so few
 * bits, or that of a `for` over such an index. Last iterations are marked by -1. */
static rg_dtype
count_dtype(lanes *l, const ir_op *op)
{
    const ir_op *maker = ir_trace_maker(op->args[0]), *count = op->args[1]->def;
    rg_dtype index = (rg_dtype)maker->args[0]->type.dtype;
    rg_dtype cast = count && count->code == RG_OP_CAST ? (rg_dtype)count->args[0]->type.dtype : RG_NONE;
    bool few = ir_is_int(cast) && ir_bits(cast) <= 32;
    if (lanes_loop_of(l, op)->partial)
        return few && ir_is_signed(cast) ? RG_I32 : RG_I64;
    return few || (maker->code == RG_OP_FOR && ir_bits(index) <= 32) ? RG_U32 : RG_I64;
}

/* how many full iterations each thread has to undo: none, where it takes no part */
static ir_value *
own_counts(lanes *l, const ir_op *op, rg_dtype d)
{
    ir_value *count = lanes_cast(l, lanes_all(l, op->args[1]), d), *active = lanes_active(l);
    bool partial = lanes_loop_of(l, op)->partial; /* none, and no last one either */
    return active ? lanes_select(l, active, count, lanes_const(l, d, partial ? ~(uint64_t)0 : 0)) : count;
}

void
lanes_unwind(lanes *l, const ir_op *op)
{
    const lane_loop *loop = lanes_loop_of(l, op);
    const ir_region *old = op->regions[0];
    uint32_t nbehind = loop->partial ? lanes_moved_results(l, op, NULL) : 0;
    ir_value **args = values(l, op->nargs + nbehind), **next = values(l, op->nargs + nbehind);
    ir_value **behind = values(l, nbehind), **kept = values(l, nbehind), *mask = NULL;
    uint32_t n = unwind_args(l, op, args);
    rg_dtype d = count_dtype(l, op);
    ir_value *count = loop->varies ? own_counts(l, op, d) : NULL;
    if (nbehind)
        lanes_moved_results(l, op, behind);
    for (uint32_t k = 0; k < nbehind; k++)
        args[n++] = lanes_zero(l, lanes_type(l, behind[k]->type));
    ir_op *made = control_op(l, op, RG_OP_UNWIND, n, args);
    ir_region *body = made->regions[0], *was = lanes_enter(l, body);
    ir_value *iteration = ir_region_param(body, old->params[0]->type, NULL);
    lanes_set(l, old->params[0], iteration, NULL);
    ir_value **params = carried_params(l, op, body, 1);
    for (uint32_t k = 0; k < nbehind; k++)
        kept[k] = ir_region_param(body, lanes_type(l, behind[k]->type), NULL);
    ir_value *number = count ? lanes_cast(l, iteration, d) : NULL;
    if (loop->partial)
        undo_partial(l, op, lanes_compare(l, RG_OP_EQ, number, count), params, behind, nbehind, kept);
    if (loop->varies)
        mask = lanes_compare(l, RG_OP_LT, number, count);
    n = old->nparams - 1;
    if (mask && (loop->partial || may_idle(l, ir_trace_maker(op->args[0]))))
        perhaps_idle(l, op, params, mask, n, next);
    else
        unwound_body(l, op, params, mask, next);
    for (uint32_t k = 0; k < nbehind; k++)
        next[n++] = kept[k];
    lanes_yield(l, n, next);
    lanes_enter(l, was);
    for (uint32_t k = 0; k < op->nresults; k++)
        lanes_set_carried(l, op->results[k], ir_op_result(made, l->fn, params[1 + k]->type, NULL));
    for (uint32_t k = 0; k < nbehind; k++)
        lanes_put(l, behind[k], ir_op_result(made, l->fn, lanes_type(l, behind[k]->type), NULL));
}
