/* What must be computed again. SPDX-License-Identifier: Apache-2.0 */
#include "tape/tape_slice.h"

static void
want_slots(tape_slice *s, const ir_op *op)
{
    const tape_frame *f = tape_frame_of(s->t, op);
    for (size_t i = 0; i < f->slots.n; i++)
        live_value(&s->of.live, f->slots.at[i]);
}

static bool
want_slots_inside(ir_op *op, void *user)
{
    tape_slice *s = user;
    bool loop = ir_is_loop(op);
    if (!loop || !op->records || !tape_pushes(s->t, op))
        return true;
    live_op(&s->of.live, op);
    want_slots(s, op);
    return true;
}

static bool
is_frame_type(ir_type type)
{
    return type.kind == IR_SCALAR || type.kind == IR_ARRAY;
}

/* A local array may have been consumed when the loop is unwound. */
static bool
need_outer(tape_slice *s, ir_value *v)
{
    bool visible = v->type.kind != IR_ARRAY && ir_region_inside(s->unwind->parent, v->region);
    if (visible || slice_is_literal(v))
        return true;
    bool temp = v->type.kind == IR_BUFFER && v->def && v->def->code == RG_OP_TEMP;
    vec_push(&s->segments->env, v);
    return is_frame_type(v->type) || temp;
}

bool
tape_slice_find(tape_slice *s)
{
    const ir_region *body = s->loop->regions[0];
    uint32_t first = s->loop->code == RG_OP_FOR;
    vec_clear(&s->segments->state);
    vec_clear(&s->segments->env);
    slice_start(&s->of, s->t->fn, s->loop, s->writes, s->t->scratch);
    want_slots(s, s->loop);
    ir_walk(s->loop->regions[0], want_slots_inside, s);
    slice_solve(&s->of);
    bool possible = s->of.possible;
    for (uint32_t k = first; k < body->nparams; k++) {
        if (!s->of.state[k])
            continue;
        possible &= is_frame_type(body->params[k]->type);
        vec_push(&s->segments->state, k - first);
    }
    ir_value *lo = first && s->of.live.values[body->params[0]->id] ? s->loop->args[0] : NULL;
    possible = possible && (!lo || need_outer(s, lo));
    for (size_t i = 0; i < s->of.outside.n && possible; i++)
        possible = s->of.outside.at[i] == lo || need_outer(s, s->of.outside.at[i]);
    return possible;
}

bool
tape_slice_all(tape_slice *s)
{
    const ir_region *body = s->loop->regions[0];
    uint32_t first = s->loop->code == RG_OP_FOR;
    slice_start(&s->of, s->t->fn, s->loop, s->writes, s->t->scratch);
    vec_clear(&s->segments->state);
    for (uint32_t k = first; k < body->nparams; k++) {
        if (!is_frame_type(body->params[k]->type))
            return false;
        if (body->params[k] != s->segments->lo)
            vec_push(&s->segments->state, k - first);
    }
    return true;
}
