/* The reverse sweep in blocks of iterations. SPDX-License-Identifier: Apache-2.0
 *
 * before   unwind %t, %n (%k, %g = %g0) { .. recall %v .. yield %g1 }
 * after    %r = %n % R                                the partial last block: its state is at hand
 *          if %r > 0 { iteration 0; if %r > 1 { iteration 1; ..; reverse of 1 }; reverse of 0 }
 *          unwind %t1, %n / R (%q, %g = ..) {
 *              %a = recall (the state)
 *              iterations 0 .. R-1; reverse of R-1 .. 0
 *              yield .. }
 *
 * Where iterations must keep values, the partial block is undone by a copy of the old unwind. An iteration is a copy of
 * the slice (slice.h), its reverse a copy of the old unwind's body with the slice's values in place of recalls. */
#include "plan/blocks.h"

#include "analysis/integers.h"

typedef struct reverse {
    ad_block *c;
    ir_op *by;          /* the old unwind */
    ir_value **map;     /* by id: for values of the old body and outside what stands for them */
    ir_value **undone;  /* the same for the old unwind's, whose recalls still name values outside */
    uint32_t params;    /* of the old body */
    uint32_t carried;   /* of the unwind */
    uint32_t *number;   /* by id: of a wanted value, its number in slice.wanted */
    ir_value **starts;  /* by number of the body's parameter: where an induction value starts; NULL: it is none */
    uint64_t *steps;
    ir_value *rest;     /* iterations of the partial block */
} reverse;

/* Where the iterations of a block stand. */
typedef struct block {
    ir_value *first;   /* number of its first iteration */
    ir_value **origin; /* induction values there */
} block;

static ir_value **
new_values(const reverse *r, size_t n)
{
    return arena_new_n(r->c->scratch, ir_value *, n + 1);
}

static ir_value *
now(ir_value *const *map, ir_value *v)
{
    return map[v->id] ? map[v->id] : v;
}

/* -- what comes from outside the loop --------------------------------------------------------------------- */
static void
see_outside(reverse *r, const ir_emit *e)
{
    const ad_slice *s = &r->c->slice;
    for (size_t i = 0; i < s->of.outside.n; i++)
        r->map[s->of.outside.at[i]->id] = ad_had(e, s->of.outside.at[i]);
    for (uint32_t p = 0; p < r->params; p++) {
        ir_value *start, *param = r->c->loop->regions[0]->params[p];
        if (s->of.live.values[param->id] && !s->of.state[p] && ir_is_induction(r->c->loop, param, &start, &r->steps[p]))
            r->starts[p] = ad_had(e, start);
    }
}

/* -- iterations ------------------------------------------------------------------------------------------- */
static block
open_reverse_block(const reverse *r, const ir_emit *e, ir_value *first)
{
    block b = {first, new_values(r, r->params)};
    for (uint32_t p = 0; p < r->params; p++) {
        if (!r->starts[p])
            continue;
        rg_dtype dtype = (rg_dtype)r->starts[p]->type.dtype;
        ir_value *way = ir_emit_2(e, RG_OP_MUL, ir_emit_cast(e, dtype, first), ir_emit_const(e, dtype, r->steps[p]));
        b.origin[p] = ir_emit_2(e, RG_OP_ADD, r->starts[p], way);
    }
    return b;
}

/* the state after the iteration that map holds */
static ir_value **
next_state(const reverse *r, ir_region *into)
{
    const ad_slice *s = &r->c->slice;
    const ir_op *end = ir_terminator(r->c->loop->regions[0]);
    uint32_t index = r->c->loop->code == RG_OP_FOR;
    ir_value **state = new_values(r, r->params);
    ad_slice_copy(s, AD_SLICE_NEXT, r->map, into);
    for (uint32_t p = index; p < r->params; p++)
        if (s->of.state[p])
            state[p] = now(r->map, end->args[p - index]);
    return state;
}

/* Appends iteration j of the block; returns the wanted values. */
static ir_value **
iterate(const reverse *r, const ir_emit *e, const block *b, uint32_t j, ir_value *const *state)
{
    const ad_slice *s = &r->c->slice;
    for (uint32_t p = 0; p < r->params; p++) {
        ir_value *v = state[p];
        if (b->origin[p]) {
            rg_dtype dtype = (rg_dtype)b->origin[p]->type.dtype;
            v = ir_emit_2(e, RG_OP_ADD, b->origin[p], ir_emit_const(e, dtype, j * r->steps[p]));
        }
        r->map[r->c->loop->regions[0]->params[p]->id] = v;
    }
    for (size_t i = 0; i < s->kept.n; i++)
        r->map[s->kept.at[i]->id] = ad_recall(e, r->c->kept[j * s->kept.n + i]);
    ad_slice_copy(s, AD_SLICE_WANTED, r->map, e->region);
    ir_value **wanted = new_values(r, s->wanted.n);
    for (size_t i = 0; i < s->wanted.n; i++)
        wanted[i] = now(r->map, s->wanted.at[i]);
    return wanted;
}

/* Appends the reverse of iteration j; adjoints go in and come out. */
static void
undo(const reverse *r, const ir_emit *e, const block *b, uint32_t j, ir_value *const *wanted, ir_value **adjoints)
{
    const ir_region *body = r->by->regions[0];
    r->undone[body->params[0]->id] = ir_emit_2(e, RG_OP_ADD, b->first, ir_emit_int(e, RG_I64, j));
    for (uint32_t i = 0; i < r->carried; i++)
        r->undone[body->params[1 + i]->id] = adjoints[i];
    for (size_t i = 0; i < r->c->recalls.n; i++) {
        ad_recalled was = r->c->recalls.at[i];
        if (was.by == r->by)
            r->undone[was.result->id] = wanted[r->number[was.value->id]];
    }
    ir_for_ops(op, body)
    {
        if (op->code == RG_OP_YIELD)
            for (uint32_t i = 0; i < r->carried; i++)
                adjoints[i] = now(r->undone, op->args[i]);
        else
            ir_op_clone(r->c->fn, op, r->undone, e->region);
    }
}

/* -- the partial block ---------------------------------------------------------------------------------------- */
static void
yield_all(const reverse *r, ir_region *into, ir_value *const *values)
{
    ir_op *yield = ir_op_new(r->c->fn, RG_OP_YIELD, r->carried, 0, r->by->loc);
    for (uint32_t i = 0; i < r->carried; i++)
        ir_op_arg(yield, r->c->fn, values[i]);
    ir_append(into, yield);
}

/* If the block has an iteration j: that, what comes after it, and its reverse. */
static void
undo_rest(const reverse *r, const ir_emit *e, const block *b, uint32_t j, ir_value *const *state, ir_value **adjoints)
{
    ir_fn *fn = r->c->fn;
    ir_op *branch = ir_op_new(fn, RG_OP_IF, 1, 2, r->by->loc);
    ir_op_arg(branch, fn, ir_emit_2(e, RG_OP_GT, r->rest, ir_emit_int(e, RG_I64, j)));
    ir_emit_place(e, branch);
    yield_all(r, branch->regions[1], adjoints);
    ir_emit in = {fn, branch->regions[0], NULL, r->by->loc};
    if (j)
        state = next_state(r, in.region);
    ir_value **wanted = iterate(r, &in, b, j, state);
    if (j + 2 < r->c->size)
        undo_rest(r, &in, b, j + 1, state, adjoints);
    undo(r, &in, b, j, wanted, adjoints);
    yield_all(r, in.region, adjoints);
    for (uint32_t i = 0; i < r->carried; i++)
        adjoints[i] = ir_op_result(branch, fn, adjoints[i]->type, NULL);
}

/* -- full blocks ------------------------------------------------------------------------------------------------ */
static void
undo_block(const reverse *r, ir_op *unwind)
{
    ad_block *c = r->c;
    ir_region *body = unwind->regions[0];
    ir_emit e = {c->fn, body, NULL, r->by->loc};
    ir_value ***wanted = arena_new_n(c->scratch, ir_value **, c->size);
    ir_value **state = new_values(r, r->params), **adjoints = new_values(r, r->carried);
    for (uint32_t p = 0; p < r->params; p++)
        if (c->start[p])
            state[p] = ad_recall(&e, c->start[p]);
    block b = open_reverse_block(r, &e, ir_emit_2(&e, RG_OP_MUL, body->params[0], ir_emit_int(&e, RG_I64, c->size)));
    for (uint32_t j = 0; j < c->size; j++) {
        if (j)
            state = next_state(r, body);
        wanted[j] = iterate(r, &e, &b, j, state);
    }
    for (uint32_t i = 0; i < r->carried; i++)
        adjoints[i] = body->params[1 + i];
    for (uint32_t j = c->size; j-- > 0;)
        undo(r, &e, &b, j, wanted[j], adjoints);
    yield_all(r, body, adjoints);
}

static ir_op *
unwind_blocks(const reverse *r, const ir_emit *e, ir_value *count, ir_value *const *adjoints)
{
    ad_block *c = r->c;
    ir_op *unwind = ir_op_new(c->fn, RG_OP_UNWIND, r->carried + 2, 1, r->by->loc);
    ir_op_arg(unwind, c->fn, ad_had(e, c->trace));
    ir_op_arg(unwind, c->fn, count);
    ir_region_param(unwind->regions[0], ir_scalar(RG_I64), NULL);
    for (uint32_t i = 0; i < r->carried; i++) {
        ir_type type = adjoints[i]->type;
        ir_op_arg(unwind, c->fn, adjoints[i]);
        ir_region_param(unwind->regions[0], type, NULL);
        ir_op_result(unwind, c->fn, type, r->by->results[i]->name);
    }
    ir_emit_place(e, unwind);
    return unwind;
}

/* state at hand: a branch for each iteration */
static void
undo_branches(const reverse *r, const ir_emit *e, ir_value *done, ir_value **adjoints)
{
    ad_block *c = r->c;
    ir_value **state = new_values(r, r->params);
    for (uint32_t p = 0; p < r->params; p++) {
        if (!c->rest[p])
            continue;
        state[p] = ad_had(e, c->rest[p]);
        if (state[p] == c->rest[p] && state[p]->type.kind == IR_ARRAY)
            state[p] = ir_emit_copy(e, state[p]); /* iterations work in place */
    }
    block b = open_reverse_block(r, e, done);
    undo_rest(r, e, &b, 0, state, adjoints);
}

static bool
use_instead(ir_op *op, void *user)
{
    ir_value **values = user;
    for (uint32_t i = 0; i < op->nargs; i++)
        op->args[i] = op->args[i] == values[0] ? values[1] : op->args[i];
    return true;
}

/* where each recorded for itself: by the copy of the old unwind, whose iterations have later numbers */
static void
undo_recorded(const reverse *r, const ir_emit *e, ir_value *done, ir_op *undo)
{
    ir_region *body = undo->regions[0];
    ir_emit first = {r->c->fn, body, body->first, undo->loc};
    ir_value *number = ir_emit_2(&first, RG_OP_ADD, body->params[0], done), *shifted[2] = {body->params[0], number};
    ir_walk(body, use_instead, shifted);
    number->def->args[0] = body->params[0];
    undo->args[0] = ad_had(e, r->c->left->results[r->c->left->nresults - 1]);
    undo->args[1] = r->rest;
    ir_emit_place(e, undo);
}

static void
run_iterations_again(reverse *r, ir_op *undo_left)
{
    ad_block *c = r->c;
    ir_emit e = {c->fn, r->by->parent, r->by, r->by->loc};
    ir_value *size = ir_emit_int(&e, RG_I64, c->size);
    ir_value *full = ad_block_divide(&e, RG_OP_DIV, r->by->args[1], c->size);
    ir_value *done = ir_emit_2(&e, RG_OP_MUL, full, size);
    r->rest = ir_emit_2(&e, RG_OP_SUB, r->by->args[1], done);
    see_outside(r, &e);
    ir_value **adjoints = new_values(r, r->carried);
    for (uint32_t i = 0; i < r->carried; i++)
        adjoints[i] = undo_left ? undo_left->results[i] : r->by->args[2 + i];
    if (undo_left)
        undo_recorded(r, &e, done, undo_left);
    else
        undo_branches(r, &e, done, adjoints);
    undo_block(r, unwind_blocks(r, &e, full, adjoints));
}

ir_value **
ad_block_reverse(ad_block *c, size_t which)
{
    ir_op *unwind = c->unwinds.at[which];
    arena *a = c->scratch;
    reverse r = {.c = c, .by = unwind, .params = c->loop->regions[0]->nparams, .carried = unwind->nargs - 2};
    r.number = arena_new_n(a, uint32_t, c->fn->next_id + 1);
    r.starts = new_values(&r, r.params);
    r.steps = arena_new_n(a, uint64_t, r.params + 1);
    for (size_t i = 0; i < c->slice.wanted.n; i++)
        r.number[c->slice.wanted.at[i]->id] = (uint32_t)i;
    r.map = arena_new_n(a, ir_value *, 2 * ((size_t)c->fn->next_id + 1));
    r.undone = r.map + c->fn->next_id + 1;
    run_iterations_again(&r, c->undo_left.n ? c->undo_left.at[which] : NULL);
    return unwind->prev->results;
}
