/* Slices of loop bodies, and copies of them. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/slice.h"

#include "ir/recall.h"

void
slice_start(slice *s, ir_fn *fn, const ir_op *loop, const ir_writes *writes, arena *scratch)
{
    *s = (slice){.fn = fn, .loop = loop, .scratch = scratch, .writes = writes, .outside.in = scratch, .possible = true};
    live_start(&s->live, fn, scratch);
    s->live.within = loop->regions[0];
    map_set(&s->live.ops, map_ptr(loop), (void *)loop); /* it runs as often as is known by then */
    s->state = arena_new_n(scratch, bool, loop->regions[0]->nparams + 1);
}

bool
slice_is_inside(const slice *s, const ir_value *v)
{
    return ir_region_inside(v->region, s->loop->regions[0]);
}

bool
slice_is_literal(const ir_value *v)
{
    return v->def && (v->def->code == RG_OP_CONST || v->def->code == RG_OP_TABLE);
}

bool
slice_runs_again(const ir_writes *writes, const ir_op *op)
{
    switch (op->code) {
    case RG_OP_LOAD:
        return ir_stands_still(writes, op);
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

typedef struct looking {
    slice *slice;
    map seen;
} looking;

static bool
is_own_exit(const slice *s, const ir_op *op)
{
    return op->code == RG_OP_EXIT_IF && op->parent == s->loop->regions[0];
}

/* Of what leaves a region only what is asked for is used. */
static bool
look_at_needed(ir_op *op, void *user)
{
    looking *l = user;
    slice *s = l->slice;
    if (is_own_exit(s, op) || (!live_has_op(&s->live, op) && op->code != RG_OP_YIELD))
        return true;
    s->possible &= slice_runs_again(s->writes, op);
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_value *v = op->args[i];
        if (!s->live.values[v->id] || slice_is_inside(s, v) || map_get(&l->seen, map_ptr(v)))
            continue;
        map_set(&l->seen, map_ptr(v), v);
        vec_push(&s->outside, v);
    }
    return true;
}

void
slice_solve(slice *s)
{
    const ir_region *body = s->loop->regions[0];
    live_spread(&s->live);
    for (uint32_t p = s->loop->code == RG_OP_FOR; p < body->nparams; p++) {
        ir_value *v = body->params[p];
        s->state[p] = s->live.values[v->id] && !(s->live.there && s->live.there(s->live.user, v));
    }
    looking l = {.slice = s, .seen.in = s->scratch};
    ir_walk(s->loop->regions[0], look_at_needed, &l);
}

/* -- copies ---------------------------------------------------------------------------------------------------- */
/* stands first, to be seen everywhere in the copy */
static ir_value *
copy_literal(slice_copies *c, const ir_value *v)
{
    ir_op *copy = ir_op_clone(c->slice->fn, v->def, c->map, c->body);
    ir_remove(copy);
    ir_insert_first(c->body, copy);
    return copy->results[0];
}

/* a zero at the end of what has been made: feeds what nobody asks for */
static ir_value *
zero(slice_copies *c, ir_type type)
{
    ir_op *end = ir_op_new(c->slice->fn, RG_OP_YIELD, 0, 0, c->slice->loop->loc);
    ir_append(c->into, end);
    ir_value *made = ir_zero_before(c->slice->fn, end, type);
    ir_remove(end);
    return made;
}

ir_value *
slice_copy_of(slice_copies *c, ir_value *v)
{
    ir_value *mapped = v->id < c->map_n ? c->map[v->id] : NULL;
    bool inside = slice_is_inside(c->slice, v);
    /* a literal that was copied for another place, which this one does not see, is copied again */
    bool elsewhere = mapped && !inside && slice_is_literal(v) && !ir_region_inside(c->into, mapped->region);
    if (mapped && !elsewhere)
        return mapped;
    if (!inside && v->type.kind != IR_ARRAY && ir_region_inside(c->seen, v->region))
        return v;
    if (!inside && slice_is_literal(v))
        return copy_literal(c, v);
    return zero(c, v->type);
}

static void
copy_region(slice_copies *c, const ir_region *r, ir_region *into)
{
    for (uint32_t i = 0; i < r->nparams; i++)
        c->map[r->params[i]->id] = ir_region_param(into, r->params[i]->type, r->params[i]->name);
    slice_copy_ops(c, r, into);
}

void
slice_copy_op(slice_copies *c, const ir_op *op, ir_region *into)
{
    ir_fn *fn = c->slice->fn;
    ir_region *outer = c->into;
    c->into = into;
    ir_op *copy = ir_op_like(fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, fn, slice_copy_of(c, op->args[i]));
    ir_append(into, copy);
    for (uint32_t i = 0; i < op->nregions; i++)
        copy_region(c, op->regions[i], copy->regions[i]);
    for (uint32_t i = 0; i < op->nresults; i++) {
        const ir_value *old = op->results[i];
        ir_value *made = ir_op_result(copy, fn, old->type, old->name);
        if (c->all || old->type.kind == IR_TRACE || c->slice->live.values[old->id])
            c->map[old->id] = made;
    }
    c->into = outer;
}

static bool
is_op_wanted(const slice_copies *c, const ir_op *op)
{
    return c->all ? op->code != RG_OP_ASSERT && op->code != RG_OP_PRINT : live_has_op(&c->slice->live, op);
}

void
slice_copy_ops(slice_copies *c, const ir_region *r, ir_region *into)
{
    ir_for_ops(op, r)
        if (!is_own_exit(c->slice, op) && (op->code == RG_OP_YIELD || is_op_wanted(c, op)))
            slice_copy_op(c, op, into);
}
