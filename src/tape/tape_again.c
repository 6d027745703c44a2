/* How iterations that were dropped are recorded again: a copy of what the loop's body must compute for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tape/tape_slice.h"

typedef struct copying {
    tape_slice *slice;
    bool all;       /* everything runs again, on copies of the arrays (tape_arrays.c) */
    ir_value **map; /* by id, map_n of them: what stands for a value */
    uint32_t map_n;
    ir_region *copy, *into; /* the body that is being made, the region of it where ops go */
} copying;

static void
release_copying(void *user)
{
    mem_free(((copying *)user)->map);
}

/* stands first, to be seen everywhere in the copy */
static ir_value *
copy_literal(copying *s, const ir_value *v)
{
    ir_op *copy = ir_op_clone(s->slice->t->fn, v->def, s->map, s->copy);
    ir_remove(copy);
    ir_insert_first(s->copy, copy);
    return copy->results[0];
}

/* a zero at the end of what has been made: feeds what nobody asks for */
static ir_value *
zero(copying *s, ir_type type)
{
    ir_op *end = ir_op_new(s->slice->t->fn, RG_OP_YIELD, 0, 0, s->slice->loop->loc);
    ir_append(s->into, end);
    ir_value *made = ir_zero_before(s->slice->t->fn, end, type);
    ir_remove(end);
    return made;
}

static ir_value *
operand(copying *s, ir_value *v)
{
    ir_value *mapped = v->id < s->map_n ? s->map[v->id] : NULL;
    if (mapped)
        return mapped;
    if (!tape_is_inside(s->slice, v) && tape_is_visible(s->slice, v))
        return v;
    if (!tape_is_inside(s->slice, v) && tape_is_literal(v))
        return copy_literal(s, v);
    return zero(s, v->type);
}

static void copy_region(copying *s, const ir_region *r, ir_region *into);

static void
share_frame(copying *s, const ir_op *op, const ir_op *copy)
{
    tape *t = s->slice->t;
    bool chain = tape_is_chain(t, op);
    const tape_frame *f = tape_frame_of(t, op);
    tape_frame *mine = tape_frame_of(t, copy);
    mine->chain = chain ? 1 : 2;
    mine->again = true;
    for (size_t i = 0; i < f->slots.n; i++)
        vec_push(&mine->slots, operand(s, f->slots.at[i]));
    if (!f->chunks)
        return;
    tape_chunks *c = arena_one(t->fn->module->arena, tape_chunks);
    vec_push(&t->chunks, c);
    *c = *f->chunks;
    c->state = (tape_numbers){0};
    c->env = (tape_values){0};
    c->arrays = c->shadows = (tape_values){0};
    memset(&c->shadow_ops, 0, sizeof(c->shadow_ops));
    for (size_t i = 0; i < f->chunks->shadows.n; i++)
        vec_push(&c->arrays, f->chunks->shadows.at[i]);
    for (size_t i = 0; i < f->chunks->state.n; i++)
        vec_push(&c->state, f->chunks->state.at[i]);
    for (size_t i = 0; i < f->chunks->env.n; i++)
        vec_push(&c->env, operand(s, f->chunks->env.at[i]));
    c->loop = (ir_op *)copy;
    c->again = NULL;
    c->lo = s->map[c->lo->id];
    c->last_lo = op == s->slice->loop ? copy->results[c->lo->index - 1] : s->map[c->last_lo->id];
    c->dropped = c->dropped ? s->map[c->dropped->id] : NULL;
    mine->chunks = c;
}

static void
copy_op(copying *s, const ir_op *op, ir_region *into)
{
    ir_fn *fn = s->slice->t->fn;
    ir_region *outer = s->into;
    s->into = into;
    ir_op *copy = ir_op_like(fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, fn, operand(s, op->args[i]));
    ir_append(into, copy);
    if (op->nregions || op->code == RG_OP_SNAPSHOT)
        tape_keeps_frames(s->slice->t, copy);
    for (uint32_t i = 0; i < op->nregions; i++)
        copy_region(s, op->regions[i], copy->regions[i]);
    for (uint32_t i = 0; i < op->nresults; i++)
        s->map[op->results[i]->id] = ir_op_result(copy, fn, op->results[i]->type, op->results[i]->name);
    s->into = outer;
}

static bool
is_wanted(const copying *s, const ir_op *op)
{
    return s->all ? op->code != RG_OP_ASSERT && op->code != RG_OP_PRINT : live_has_op(&s->slice->live, op);
}

static void
copy_ops(copying *s, const ir_region *r, ir_region *into)
{
    ir_for_ops(op, r)
    {
        bool exit = op->code == RG_OP_EXIT_IF && r == s->slice->loop->regions[0];
        if (!exit && (op->code == RG_OP_YIELD || is_wanted(s, op)))
            copy_op(s, op, into);
    }
}

static void
copy_region(copying *s, const ir_region *r, ir_region *into)
{
    for (uint32_t i = 0; i < r->nparams; i++)
        s->map[r->params[i]->id] = ir_region_param(into, r->params[i]->type, r->params[i]->name);
    copy_ops(s, r, into);
}

static bool
share_frames(ir_op *op, void *user)
{
    copying *s = user;
    bool records = op->code == RG_OP_FOR || op->code == RG_OP_LOOP || op->code == RG_OP_PARALLEL;
    if (records && op->records && tape_pushes(s->slice->t, op)) {
        const ir_value *trace = op->results[op->nresults - 1];
        const ir_op *copy = s->map[trace->id]->def;
        s->into = copy->regions[0];
        share_frame(s, op, copy);
    }
    return true;
}

/* the loop's own index: it counted from its own bounds, the copy counts iterations */
static void
restore_index(copying *s, ir_value *iteration)
{
    ir_value *index = s->slice->loop->regions[0]->params[0];
    rg_dtype dtype = (rg_dtype)index->type.dtype;
    ir_fn *fn = s->slice->t->fn;
    bool used = s->all || s->slice->live.values[index->id];
    ir_value *lo = used ? operand(s, s->slice->loop->args[0]) : zero(s, index->type);
    ir_op *end = ir_op_new(fn, RG_OP_YIELD, 0, 0, s->slice->loop->loc);
    ir_append(s->into, end);
    ir_op *step = tape_op(s->slice->t, RG_OP_CONST, end);
    step->attr.bits = ir_wrap(dtype, (uint64_t)s->slice->loop->attr.step);
    ir_value *by = ir_op_result(step, fn, index->type, NULL);
    if (dtype != RG_I64)
        iteration = tape_scalar(s->slice->t, RG_OP_CAST, end, dtype, iteration, NULL);
    ir_value *offset = tape_scalar(s->slice->t, RG_OP_MUL, end, dtype, iteration, by);
    s->map[index->id] = tape_scalar(s->slice->t, RG_OP_ADD, end, dtype, lo, offset);
    ir_remove(end);
}

static void
make_again(tape_slice *slice)
{
    tape *t = slice->t;
    tape_chunks *c = slice->chunks;
    const ir_op *loop = slice->loop;
    copying copying = {.slice = slice}, *s = &copying;
    mem_owner owns;
    mem_own(&owns, release_copying, s);
    ir_op *again = ir_op_new(t->fn, RG_OP_FOR, loop->nargs + 2, 1, loop->loc);
    ir_region *body = again->regions[0];
    again->attr.step = 1;
    again->records = true;
    s->map_n = t->fn->next_id;
    s->map = mem_zalloc(sizeof(*s->map) * s->map_n);
    s->copy = s->into = body;
    s->all = c->arrays.n > 0;
    if (s->all)
        tape_make_shadows(t, c, s->map);
    c->env_pop = ir_op_new(t->fn, RG_OP_TAPE_POP, 1, 0, loop->loc);
    (void)ir_op_result(c->env_pop, t->fn, ir_cursor(), NULL);
    for (size_t i = 0; i < c->env.n; i++)
        s->map[c->env.at[i]->id] =
            ir_op_result(c->env_pop, t->fn, c->env.at[i]->type, c->env.at[i]->name);
    ir_value *iteration = ir_region_param(body, ir_scalar(RG_I64), NULL);
    uint32_t first = loop->code == RG_OP_FOR;
    for (uint32_t i = first; i < loop->regions[0]->nparams; i++) {
        const ir_value *p = loop->regions[0]->params[i];
        s->map[p->id] = ir_region_param(body, p->type, p->name);
        (void)ir_op_result(again, t->fn, p->type, p->name);
    }
    if (first)
        restore_index(s, iteration);
    copy_ops(s, loop->regions[0], body);
    (void)ir_op_result(again, t->fn, ir_trace(), NULL);
    ir_walk(loop->regions[0], share_frames, s);
    s->into = body;
    share_frame(s, loop, again);
    tape_frame_of(t, again)->chunks->repeats = true;
    tape_frame_of(t, again)->chunks->parts = 1 + c->inner;
    c->again = again;
    mem_disown(&owns);
    release_copying(s);
}

/* What is needed is found for all loops before any is copied: copies of inner ones have the same states. */
static void
each_loop(tape *t, size_t n, const ir_writes *writes, bool make)
{
    for (size_t i = 0; i < n; i++) {
        tape_chunks *c = t->chunks.at[i];
        if (tape_frame_of(t, c->loop)->chunks != c)
            continue;
        tape_slice slice = {.t = t, .loop = c->loop, .unwind = c->unwind, .chunks = c, .writes = writes};
        mem_owner owns;
        mem_own(&owns, tape_slice_release, &slice);
        bool known = c->arrays.n ? tape_slice_all(&slice) : tape_slice_find(&slice);
        assert(known && "what could be had again before more was recorded still can");
        (void)known;
        if (make)
            make_again(&slice);
        mem_disown(&owns);
        tape_slice_release(&slice);
    }
}

void
tape_make_again(tape *t)
{
    const ir_writes *writes = ir_writes_find(t->fn);
    size_t n = t->chunks.n; /* copies of inner loops' join them */
    each_loop(t, n, writes, false);
    each_loop(t, n, writes, true);
}
