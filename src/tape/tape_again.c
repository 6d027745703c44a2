/* How iterations that were dropped are recorded again: a copy of what the loop's body must compute for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tape/tape_slice.h"

typedef struct copying {
    tape_slice *slice;
    slice_copies copies;
} copying;

static void
share_frame(copying *s, const ir_op *op, const ir_op *copy)
{
    tape *t = s->slice->t;
    ir_value **map = s->copies.map;
    bool chain = tape_is_chain(t, op);
    const tape_frame *f = tape_frame_of(t, op);
    tape_frame *mine = tape_frame_of(t, copy);
    mine->chain = chain ? 1 : 2;
    mine->again = true;
    for (size_t i = 0; i < f->slots.n; i++)
        vec_push(&mine->slots, slice_copy_of(&s->copies, f->slots.at[i]));
    if (!f->segments)
        return;
    tape_segments *c = arena_one(t->scratch, tape_segments);
    vec_push(&t->segments, c);
    *c = *f->segments;
    tape_segments_clear(c, t->scratch);
    for (size_t i = 0; i < f->segments->copies.n; i++)
        vec_push(&c->arrays, f->segments->copies.at[i]);
    for (size_t i = 0; i < f->segments->state.n; i++)
        vec_push(&c->state, f->segments->state.at[i]);
    for (size_t i = 0; i < f->segments->env.n; i++)
        vec_push(&c->env, slice_copy_of(&s->copies, f->segments->env.at[i]));
    c->loop = (ir_op *)copy;
    c->again = NULL;
    c->lo = map[c->lo->id];
    c->last_lo = copy->results[op == s->slice->loop ? c->lo->index - 1 : c->last_lo->index];
    c->dropped = c->dropped ? map[c->dropped->id] : NULL;
    mine->segments = c;
}

/* what undoes the frames of ops in a copy stands elsewhere */
static bool
keep_frames(ir_op *op, void *user)
{
    if (op->nregions || op->code == RG_OP_SNAPSHOT)
        tape_keeps_frames(user, op);
    return true;
}

static bool
share_frames(ir_op *op, void *user)
{
    copying *s = user;
    bool records = ir_is_loop(op) || op->code == RG_OP_PARALLEL;
    if (records && op->records && tape_pushes(s->slice->t, op)) {
        const ir_value *trace = op->results[op->nresults - 1];
        const ir_op *copy = s->copies.map[trace->id]->def;
        s->copies.into = copy->regions[0];
        share_frame(s, op, copy);
    }
    return true;
}

/* the loop's own index: it counted from its own bounds, the copy counts iterations */
static void
restore_index(copying *s, ir_value *iteration)
{
    tape *t = s->slice->t;
    const ir_op *loop = s->slice->loop;
    ir_value *index = loop->regions[0]->params[0];
    rg_dtype dtype = (rg_dtype)index->type.dtype;
    if (!s->copies.all && !s->slice->of.live.values[index->id])
        return;
    ir_value *lo = slice_copy_of(&s->copies, loop->args[0]);
    ir_op *end = ir_op_new(t->fn, RG_OP_YIELD, 0, 0, loop->loc);
    ir_append(s->copies.into, end);
    ir_value *by = tape_int(t, end, dtype, loop->attr.step);
    if (dtype != RG_I64)
        iteration = tape_scalar(t, RG_OP_CAST, end, dtype, iteration, NULL);
    ir_value *offset = tape_scalar(t, RG_OP_MUL, end, dtype, iteration, by);
    s->copies.map[index->id] = tape_scalar(t, RG_OP_ADD, end, dtype, lo, offset);
    ir_remove(end);
}

static void
make_again(tape_slice *slice)
{
    tape *t = slice->t;
    tape_segments *c = slice->segments;
    const ir_op *loop = slice->loop;
    copying copying = {.slice = slice}, *s = &copying;
    ir_op *again = ir_op_new(t->fn, RG_OP_FOR, loop->nargs + 2, 1, loop->loc);
    ir_region *body = again->regions[0];
    again->attr.step = 1;
    again->records = true;
    slice_copies *copies = &s->copies;
    *copies = (slice_copies){.slice = &slice->of, .seen = slice->unwind->parent, .body = body, .into = body};
    copies->map_n = t->fn->next_id;
    copies->map = arena_new_n(t->scratch, ir_value *, copies->map_n);
    copies->all = c->arrays.n > 0;
    if (copies->all)
        tape_copy_arrays(t, c, copies->map);
    c->env_pop = ir_op_new(t->fn, RG_OP_TAPE_POP, 1, 0, loop->loc);
    (void)ir_op_result(c->env_pop, t->fn, ir_cursor(), NULL);
    for (size_t i = 0; i < c->env.n; i++)
        copies->map[c->env.at[i]->id] =
            ir_op_result(c->env_pop, t->fn, c->env.at[i]->type, c->env.at[i]->name);
    ir_value *iteration = ir_region_param(body, ir_scalar(RG_I64), NULL);
    uint32_t first = loop->code == RG_OP_FOR;
    for (uint32_t i = first; i < loop->regions[0]->nparams; i++) {
        const ir_value *p = loop->regions[0]->params[i];
        copies->map[p->id] = ir_region_param(body, p->type, p->name);
        (void)ir_op_result(again, t->fn, p->type, p->name);
    }
    if (first)
        restore_index(s, iteration);
    slice_copy_ops(copies, loop->regions[0], body);
    ir_walk(body, keep_frames, t);
    (void)ir_op_result(again, t->fn, ir_trace(), NULL);
    ir_walk(loop->regions[0], share_frames, s);
    copies->into = body;
    share_frame(s, loop, again);
    tape_frame_of(t, again)->segments->repeats = true;
    tape_frame_of(t, again)->segments->parts = 1 + c->inner;
    c->again = again;
}

/* What is needed is found for all loops before any is copied: copies of inner ones have the same states. */
static void
each_loop(tape *t, size_t n, const ir_writes *writes, bool make)
{
    for (size_t i = 0; i < n; i++) {
        tape_segments *c = t->segments.at[i];
        if (tape_frame_of(t, c->loop)->segments != c)
            continue;
        tape_slice slice = {.t = t, .loop = c->loop, .unwind = c->unwind, .segments = c, .writes = writes};
        bool known = c->arrays.n ? tape_slice_all(&slice) : tape_slice_find(&slice);
        assert(known && "what could be had again before more was recorded still can");
        (void)known;
        if (make)
            make_again(&slice);
    }
}

void
tape_make_again(tape *t)
{
    const ir_writes *writes = ir_writes_find(t->fn);
    size_t n = t->segments.n; /* copies of inner loops' join them */
    each_loop(t, n, writes, false);
    each_loop(t, n, writes, true);
}
