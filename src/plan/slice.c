/* Slices of loop bodies, for register blocks. SPDX-License-Identifier: Apache-2.0 */
#include "plan/slice.h"

#include "analysis/integers.h"

enum { LOOP_INSIDE = 100 /* costs: nobody knows how often it runs */ };

/* whether each iteration can hand v on: nothing but ifs lies between it and the body */
static bool
can_hand_on(const ad_slice *s, const ir_value *v)
{
    return ir_around_branches(v->region)->op == s->of.loop && v->type.kind == IR_SCALAR && !v->def->nregions;
}

static bool
must_be_kept(const ad_slice *s, const ir_op *op)
{
    bool memory = op->code == RG_OP_LOAD || op->code == RG_OP_EXTENT;
    return !slice_runs_again(s->of.writes, op) || (memory && slice_is_inside(&s->of, op->args[0]));
}

static bool
is_available(void *user, ir_value *v)
{
    ad_slice *s = user;
    ir_value *start;
    uint64_t step;
    if (!v->def)
        return ir_is_induction(s->of.loop, v, &start, &step);
    if (!must_be_kept(s, v->def))
        return false;
    s->possible &= can_hand_on(s, v);
    vec_push(&s->kept, v);
    return true;
}

void
ad_slice_open(ad_slice *s, ir_fn *fn, const ir_op *loop, const ir_writes *writes, arena *scratch)
{
    *s = (ad_slice){.possible = true, .wanted.in = scratch, .kept.in = scratch};
    slice_start(&s->of, fn, loop, writes, scratch);
    s->of.live.there = is_available;
    s->of.live.user = s;
    s->now = arena_new_n(scratch, bool, fn->next_id + 1);
}

void
ad_slice_want(ad_slice *s, ir_value *v)
{
    for (size_t i = 0; i < s->wanted.n; i++)
        if (s->wanted.at[i] == v)
            return;
    vec_push(&s->wanted, v);
    s->possible &= v->type.kind == IR_SCALAR;
    s->now[v->id] = true;
    live_value(&s->of.live, v);
}

static bool
weigh_op(ir_op *op, void *user)
{
    ad_slice *s = user;
    if (!live_has_op(&s->of.live, op))
        return true;
    s->ops += op->nresults > 0;
    for (uint32_t i = 0; i < op->nresults; i++)
        s->arrays |= op->results[i]->type.kind == IR_ARRAY;
    return true;
}

/* of op with all that it holds */
static int32_t
cost_in_slice(const ad_slice *s, const ir_op *op)
{
    int32_t cost = ir_is_loop(op) ? LOOP_INSIDE : 0;
    if (!live_has_op(&s->of.live, op))
        return 0;
    if (!op->nregions && op->code != RG_OP_CONST && op->code != RG_OP_EXIT_IF)
        cost += ir_cost(op);
    for (uint32_t i = 0; i < op->nregions; i++)
        ir_for_ops (inner, op->regions[i])
            cost += cost_in_slice(s, inner);
    return cost;
}

/* The body's ops run whole, with all that stands in them. */
static void
need_now(const ad_slice *s, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        s->now[op->args[i]->id] = true;
    for (uint32_t i = 0; i < op->nregions; i++)
        ir_for_ops(inner, op->regions[i])
            if (inner->code == RG_OP_YIELD || live_has_op(&s->of.live, inner))
                need_now(s, inner);
}

static bool
is_now(const ad_slice *s, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nresults; i++)
        if (s->now[op->results[i]->id])
            return true;
    return s->arrays; /* in place: the order of ops counts */
}

void
ad_slice_solve(ad_slice *s)
{
    const ir_op *loop = s->of.loop;
    const ir_region *body = loop->regions[0];
    slice_solve(&s->of);
    s->possible &= s->of.possible;
    for (uint32_t p = 0; p < body->nparams; p++) {
        bool array = body->params[p]->type.kind == IR_ARRAY && s->of.state[p];
        s->arrays |= array;
        s->possible &= !s->of.state[p] || body->params[p]->type.kind == IR_SCALAR || (array && loop->code == RG_OP_FOR);
    }
    for (size_t i = 0; i < s->of.outside.n; i++) {
        const ir_value *v = s->of.outside.at[i];
        bool array = v->type.kind == IR_ARRAY;
        s->arrays |= array;
        /* where it is reversed, an array of outside may have been consumed */
        s->possible &= !array || slice_is_literal(v);
    }
    ir_walk(loop->regions[0], weigh_op, s);
    for (const ir_op *op = body->last; op; op = op->prev) {
        bool now = live_has_op(&s->of.live, op) && is_now(s, op);
        int32_t cost = cost_in_slice(s, op);
        s->cost += cost;
        s->cost_now += now ? cost : 0;
        if (now)
            need_now(s, op);
    }
}

void
ad_slice_copy(const ad_slice *s, ad_slice_part part, ir_value **map, ir_region *into)
{
    slice_copies c = {.slice = &s->of, .seen = into, .map = map, .body = into, .into = into};
    c.map_n = s->of.fn->next_id; /* its own values are mapped, none that is made later */
    ir_for_ops(op, s->of.loop->regions[0])
        if (op->code != RG_OP_EXIT_IF && live_has_op(&s->of.live, op) && is_now(s, op) == (part == AD_SLICE_WANTED))
            slice_copy_op(&c, op, into);
}
