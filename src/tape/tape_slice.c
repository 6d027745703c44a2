/* What must be computed again. SPDX-License-Identifier: Apache-2.0 */
#include "tape/tape_slice.h"

void
tape_slice_release(void *user)
{
    tape_slice *s = user;
    live_release(&s->live);
    map_free(&s->in_env);
}

static bool
root_slots(ir_op *op, void *user)
{
    tape_slice *s = user;
    bool loop = op->code == RG_OP_FOR || op->code == RG_OP_LOOP;
    if (!loop || !op->records || !tape_pushes(s->t, op))
        return true;
    live_op(&s->live, op);
    const tape_frame *f = tape_frame_of(s->t, op);
    for (size_t i = 0; i < f->slots.n; i++)
        live_value(&s->live, f->slots.at[i]);
    return true;
}

static void
find_live(tape_slice *s)
{
    live_release(&s->live);
    live_start(&s->live, s->t->fn);
    s->live.within = s->loop->regions[0];
    map_set(&s->live.ops, map_ptr(s->loop), s->loop); /* it runs as often as is known by then */
    const tape_frame *f = tape_frame_of(s->t, s->loop);
    for (size_t i = 0; i < f->slots.n; i++)
        live_value(&s->live, f->slots.at[i]);
    ir_walk(s->loop->regions[0], root_slots, s);
    live_spread(&s->live);
}

bool
tape_is_inside(const tape_slice *s, const ir_value *v)
{
    return ir_region_inside(v->region, s->loop->regions[0]);
}

bool
tape_is_visible(const tape_slice *s, const ir_value *v)
{
    return v->type.kind != IR_ARRAY && ir_region_inside(s->unwind->parent, v->region);
}

bool
tape_is_literal(const ir_value *v)
{
    return v->def && (v->def->code == RG_OP_CONST || v->def->code == RG_OP_TABLE);
}

static bool
can_be_kept(ir_type type)
{
    return type.kind == IR_SCALAR || type.kind == IR_ARRAY;
}

static bool
need_outer(tape_slice *s, ir_value *v)
{
    if (tape_is_inside(s, v) || tape_is_visible(s, v) || tape_is_literal(v) || map_get(&s->in_env, map_ptr(v)))
        return true;
    bool temp = v->type.kind == IR_BUFFER && v->def && v->def->code == RG_OP_TEMP;
    if (!can_be_kept(v->type) && !temp)
        return false;
    map_set(&s->in_env, map_ptr(v), v);
    vec_push(&s->chunks->env, v);
    return true;
}

/* whether an op gives the same results when it runs again without the effects around it */
static bool
runs_again(const tape_slice *s, const ir_op *op)
{
    switch (op->code) {
    case RG_OP_LOAD:
        return ir_stands_still(s->writes, op);
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
    case RG_OP_EXIT_IF:
    case RG_OP_YIELD:
        return true;
    case RG_OP_RECALL:
    case RG_OP_CALL:
        return false;
    default:
        return op->nregions == 0 && (ir_ops[op->code].flags & IR_PURE);
    }
}

/* whether operand i of a live op is used: of what leaves a region, only what is asked for */
static bool
uses_operand(const tape_slice *s, const ir_op *op, uint32_t i)
{
    return s->live.values[op->args[i]->id];
}

static bool
look_at_op(ir_op *op, void *user)
{
    tape_slice *s = user;
    if (!live_has_op(&s->live, op) && op->code != RG_OP_YIELD)
        return true;
    if (op->code == RG_OP_EXIT_IF && op->parent == s->loop->regions[0])
        return true;
    if (!runs_again(s, op))
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (uses_operand(s, op, i) && !need_outer(s, op->args[i]))
            return false;
    return true;
}

bool
tape_slice_find(tape_slice *s)
{
    const ir_region *body = s->loop->regions[0];
    uint32_t first = s->loop->code == RG_OP_FOR;
    vec_clear(&s->chunks->state);
    vec_clear(&s->chunks->env);
    find_live(s);
    for (uint32_t k = first; k < body->nparams; k++) {
        if (!s->live.values[body->params[k]->id])
            continue;
        if (!can_be_kept(body->params[k]->type))
            return false;
        vec_push(&s->chunks->state, k - first);
    }
    if (first && s->live.values[body->params[0]->id] && !need_outer(s, s->loop->args[0]))
        return false;
    return ir_walk(s->loop->regions[0], look_at_op, s);
}

bool
tape_slice_all(tape_slice *s)
{
    const ir_region *body = s->loop->regions[0];
    uint32_t first = s->loop->code == RG_OP_FOR;
    vec_clear(&s->chunks->state);
    for (uint32_t k = first; k < body->nparams; k++) {
        if (!can_be_kept(body->params[k]->type))
            return false;
        if (body->params[k] != s->chunks->lo)
            vec_push(&s->chunks->state, k - first);
    }
    return true;
}
