/* Ifs in lanes. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/effects.h"
#include "lanes/lanes.h"

static void
same_if(lanes *l, const ir_op *op)
{
    ir_op *made = lanes_control_op(l, op, RG_OP_IF, 1, (ir_value *[]){lanes_one(l, op->args[0])});
    for (uint32_t k = 0; k < 2; k++) {
        const ir_op *end = ir_terminator(op->regions[k]);
        ir_region *was = lanes_enter(l, made->regions[k]);
        lanes_region(l, op->regions[k]);
        ir_value **yields = lanes_values(l, op->nresults);
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
is_cheap_in_lanes(const ir_op *op)
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
    case RG_OP_REMAINDER:
    case RG_OP_NEXTAFTER:
        return false;
    }
    return ir_ops[op->code].form != IR_OTHER && !(ir_ops[op->code].flags & IR_FUNCTION);
}

/* a float's quotient or root of 32 bits, which takes a few operations on a GPU */
static bool
is_quotient_or_root(const ir_op *op)
{
    return (op->code == RG_OP_DIV || op->code == RG_OP_SQRT || op->code == RG_OP_RSQRT) && op->results[0]->type.dtype == RG_F32;
}

/* an access of each lane's own, which a mask holds back */
static bool
is_own_access(const lanes *l, const ir_op *op)
{
    if (op->code == RG_OP_LOAD)
        return !ir_is_uniform_access(&l->divergence, op);
    return ir_is_add(op) && !ir_is_uniform_access(&l->divergence, op) && !ir_is_often_uniform_access(&l->divergence, op);
}

/* what an op of an arm that runs unasked takes; 0: it has to be asked for. *masked: it asks for its lanes itself */
static uint32_t
unasked_ops(const lanes *l, const ir_op *op, bool *masked)
{
    uint32_t ops = is_quotient_or_root(op) ? l->target->unasked_root : is_own_access(l, op) ? l->target->unasked_access : 0;
    *masked |= ops > 0;
    return ops ? ops : is_cheap_in_lanes(op);
}

/* *masked: under a mask */
static bool
runs_unasked(const lanes *l, const ir_op *op, bool *masked)
{
    uint32_t n = 0;
    *masked = false;
    for (uint32_t k = 0; k < 2; k++)
        ir_for_ops(inner, op->regions[k])
        {
            uint32_t ops = inner->code == RG_OP_YIELD ? 0 : unasked_ops(l, inner, masked);
            n += ops;
            if (inner->code != RG_OP_YIELD && (!ops || n > l->target->unasked))
                return false;
        }
    for (uint32_t i = 0; i < op->nresults; i++)
        if (op->results[i]->type.kind == IR_ARRAY)
            return false;
    return true;
}

/* x where lanes take part, else 1: before op */
static ir_value *
spared(lanes *l, ir_op *op, ir_value *x, ir_value *mask)
{
    ir_op *last = l->into->last;
    ir_value *one = lanes_splat(l, lanes_const(l, RG_F32, ir_float_bits(RG_F32, 1.0)));
    ir_value *made = lanes_select(l, mask, lanes_splat(l, x), one);
    for (ir_op *move = last->next, *next; move; move = next) {
        next = move->next;
        ir_remove(move);
        ir_insert_before(op, move);
    }
    return made;
}

/* Lanes that have nothing to do divide by 1, and take its root: no slow path is for them. */
static void
spare_slow_paths(lanes *l, ir_op *from, ir_value *mask)
{
    for (ir_op *op = from; op; op = op->next)
        if (ir_ops[op->code].form != IR_OTHER && is_quotient_or_root(op) && op->results[0]->type.lanes) {
            ir_value **x = &op->args[op->code == RG_OP_DIV];
            *x = spared(l, op, *x, mask);
        }
}

/* `out` receives the scalars of arm k; mask: of its lanes, or NULL */
static void
unasked_arm(lanes *l, const ir_op *op, uint32_t k, ir_value *mask, ir_value **out)
{
    ir_value *outer = l->mask;
    ir_op *before = l->into->last;
    l->mask = mask ? mask : outer;
    lanes_region(l, op->regions[k]);
    for (uint32_t i = 0; i < op->nresults; i++)
        out[i] = lanes_all(l, ir_terminator(op->regions[k])->args[i]);
    l->mask = outer;
    if (mask)
        spare_slow_paths(l, before ? before->next : l->into->first, mask);
}

/* -- arrays that an arm uses up ----------------------------------------------------------------------
 * In lanes both arms run, one after the other: where the first one changes an array of outside in place that is no
 * result, and the second one reads it, the first one gets a copy. */

typedef struct used_up {
    const ir_region *arm, *other;
    uint32_t n;
    ir_value **arrays, **kept; /* kept: what they were in lanes */
} used_up;

static bool
does_not_use(ir_op *op, void *user)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i] == user)
            return false;
    return true;
}

static bool
find_used_up(ir_op *op, void *user)
{
    used_up *u = user;
    bool all = op->code == RG_OP_YIELD || ir_is_loop(op) || op->code == RG_OP_UNWIND;
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *v = op->args[i];
        bool outside = v->type.kind == IR_ARRAY && !ir_region_inside(v->region, u->arm), known = false;
        if (!outside || !(all || (op->code == RG_OP_INSERT && i == 0)))
            continue;
        for (uint32_t k = 0; u->arrays && k < u->n; k++)
            known |= u->arrays[k] == v;
        if (known || ir_walk((ir_region *)u->other, does_not_use, v))
            continue;
        if (u->arrays)
            u->arrays[u->n] = v;
        u->n++;
    }
    return true;
}

/* copies for the arm k, where l is in it; `place` are results that go on in place */
static used_up
copy_used_up(lanes *l, const ir_op *op, uint32_t k, ir_value *const *place)
{
    used_up u = {.arm = op->regions[k], .other = op->regions[1 - k]};
    if (k == 1)
        return u;
    ir_walk(op->regions[k], find_used_up, &u);
    if (!u.n)
        return u;
    u.arrays = lanes_values(l, u.n);
    u.kept = lanes_values(l, u.n);
    u.n = 0;
    ir_walk(op->regions[k], find_used_up, &u);
    for (uint32_t i = 0; i < u.n; i++) {
        bool is_place = false;
        for (uint32_t r = 0; r < op->nresults; r++)
            is_place |= place[r] == u.arrays[i];
        if (is_place)
            continue;
        u.kept[i] = lanes_operand(l, u.arrays[i]);
        lanes_put(l, u.arrays[i], lanes_unary(l, RG_OP_COPY, u.kept[i]->type, u.kept[i]));
    }
    return u;
}

static void
restore_used_up(lanes *l, const used_up *u)
{
    for (uint32_t i = 0; i < u->n; i++)
        if (u->kept[i])
            lanes_put(l, u->arrays[i], u->kept[i]);
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
    ir_value **ran = lanes_values(l, op->nresults), **not = lanes_values(l, op->nresults), **before = lanes_values(l, op->nresults);
    for (uint32_t i = 0; i < op->nresults; i++)
        if (op->results[i]->type.kind == IR_ARRAY)
            before[i] = (ir_value *)lanes_array_root(end->args[i], op->regions[k]);
    ir_region *was = lanes_enter(l, made->regions[1]);
    for (uint32_t i = 0; i < op->nresults; i++)
        not[i] = before[i] ? lanes_operand(l, before[i]) : lanes_zero(l, lanes_type(l, op->results[i]->type));
    lanes_yield(l, op->nresults, not);
    lanes_enter(l, made->regions[0]);
    l->mask = mask;
    used_up copies = copy_used_up(l, op, k, before);
    lanes_region(l, op->regions[k]);
    for (uint32_t i = 0; i < op->nresults; i++)
        ran[i] = before[i] ? lanes_operand(l, end->args[i]) : lanes_all(l, end->args[i]);
    lanes_yield(l, op->nresults, ran);
    restore_used_up(l, &copies);
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
    ir_value **out[2] = {lanes_values(l, op->nresults), lanes_values(l, op->nresults)}, **was = lanes_values(l, op->nresults);
    for (uint32_t i = 0; i < op->nresults; i++)
        if (op->results[i]->type.kind == IR_ARRAY)
            was[i] = lanes_operand(l, (ir_value *)if_place(op, i));
    bool masked, unasked = runs_unasked(l, op, &masked);
    ir_value *masks[2] = {NULL, NULL};
    if (!unasked || masked) {
        masks[0] = lanes_meet(l, active, c);
        masks[1] = lanes_meet(l, active, lanes_unary(l, RG_OP_NOT, c->type, c));
    }
    for (uint32_t k = 0; k < 2; k++)
        (unasked ? unasked_arm : asked_arm)(l, op, k, masks[k], out[k]);
    c = masks[0] && l->target->warp ? masks[0] : c; /* one mask less that lives on */
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
    if (ir_is_uniform(&l->divergence, op->args[0]))
        same_if(l, op);
    else
        differing_if(l, op);
}
