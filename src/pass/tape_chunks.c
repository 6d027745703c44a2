/* Loops that are reversed in chunks: which, from what state, and how an iteration is recorded again.
 * SPDX-License-Identifier: Apache-2.0
 *
 * While a loop runs, its frames lie on the tape. When they take more than their part of the budget, they
 * are dropped, and the carried state at that point is kept instead: only the last chunk of iterations is
 * on the tape when the loop ends. The unwind takes that one back, then returns to the state before it,
 * records the iterations from there up to where it stands again, and so on (lower_tape.c).
 *
 * A loop can do so if whatever its frames hold can be computed again from what it carries, from values
 * around it and from memory that stands still. The code that does it is a slice of the loop's body:
 * what frames and carried values need, without exits and effects. */
#include "ir/writes.h"
#include "pass/live.h"
#include "pass/tape.h"

/* Frames of fewer bytes than this in all are never dropped. */
enum { SMALL_TAPE = 1 << 15 };

typedef struct slice {
    tape *t;
    ir_op *loop;
    const ir_op *unwind;
    live live;
    tape_chunks *chunks;
    const ir_writes *writes;
    bool all;    /* everything runs again, on copies of the arrays (tape_arrays.c) */
    map in_env;  /* values that are in chunks->env */
    ir_value **map; /* while cloning: by id */
    uint32_t map_n;
    ir_region *copy, *into; /* the body that is being made, the region of it where ops go */
} slice;

static void
release_slice(void *user)
{
    slice *s = user;
    live_release(&s->live);
    map_free(&s->in_env);
    mem_free(s->map);
}

/* -- what must be computed again -------------------------------------------------------------------------- */
static bool
root_slots(ir_op *op, void *user)
{
    slice *s = user;
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
find_live(slice *s)
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

static bool
is_inside(const slice *s, const ir_value *v)
{
    return ir_region_inside(v->region, s->loop->regions[0]);
}

/* whether the unwind can still use v: a local array may have been consumed by then */
static bool
is_visible(const slice *s, const ir_value *v)
{
    return v->type.kind != IR_ARRAY && ir_region_inside(s->unwind->parent, v->region);
}

static bool
is_literal(const ir_value *v)
{
    return v->def && (v->def->code == RG_OP_CONST || v->def->code == RG_OP_TABLE);
}

static bool
can_be_kept(ir_type type)
{
    return type.kind == IR_SCALAR || type.kind == IR_ARRAY;
}

static bool
need_outer(slice *s, ir_value *v)
{
    if (is_inside(s, v) || is_visible(s, v) || is_literal(v) || map_get(&s->in_env, map_ptr(v)))
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
runs_again(const slice *s, const ir_op *op)
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
uses_operand(const slice *s, const ir_op *op, uint32_t i)
{
    return s->live.values[op->args[i]->id];
}

static bool
look_at_op(ir_op *op, void *user)
{
    slice *s = user;
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

/* Fills in state and env; false if something cannot be had again. */
static bool
find_needs(slice *s)
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

/* -- which loops ---------------------------------------------------------------------------------------------- */
/* With arrays, the state is all that the loop carries. */
static bool
find_whole_state(slice *s)
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

static bool
has_tasks(const ir_region *r)
{
    ir_for_ops(op, r)
    {
        if (op->code == RG_OP_PARALLEL || op->code == RG_OP_UNWIND)
            return true;
        for (uint32_t i = 0; i < op->nregions; i++)
            if (has_tasks(op->regions[i]))
                return true;
    }
    return false;
}

/* whether op, or one around it, can take only a few bytes, whatever happens (what tasks in it take is not
 * known) */
static bool
is_small(tape *t, const ir_op *op)
{
    if (has_tasks(op->regions[0]))
        return false;
    for (; op && op->code != RG_OP_PARALLEL; op = op->parent->op)
        if (tape_most_bytes(t, op) < SMALL_TAPE)
            return true;
    return false;
}

static bool
is_large(tape *t, const ir_op *op)
{
    return tape_moves(t, op) && tape_most_bytes(t, op) >= SMALL_TAPE;
}

/* large loops behind `op`, in its region and around it: they share what is left of the budget */
static uint32_t
loops_behind(tape *t, const ir_op *op)
{
    uint32_t n = 0;
    for (; op && op->code != RG_OP_PARALLEL; op = op->parent->op)
        for (const ir_op *next = op->next; next; next = next->next)
            n += is_large(t, next);
    return n;
}

static bool
has_large(tape *t, const ir_region *r)
{
    ir_for_ops(op, r) if (is_large(t, op)) return true;
    return false;
}

/* whether no loop is around op in its thread or kernel */
static bool
is_outermost(const ir_op *op)
{
    for (op = op->parent->op; op && op->code == RG_OP_IF; op = op->parent->op) {
    }
    return !op || op->code == RG_OP_PARALLEL;
}

static uint32_t
state_bytes(const slice *s, bool *arrays)
{
    const ir_region *body = s->loop->regions[0];
    uint32_t bytes = 0, first = s->loop->code == RG_OP_FOR;
    *arrays = false;
    for (size_t i = 0; i < s->chunks->state.n; i++) {
        ir_type type = body->params[first + s->chunks->state.at[i]]->type;
        bytes += tape_slot_bytes(type);
        *arrays |= type.kind == IR_ARRAY;
    }
    return bytes;
}

static bool
is_only_unwind(tape *t, const ir_op *unwind, const ir_op *maker)
{
    for (size_t i = 0; i < t->unwinds.n; i++)
        if (t->unwinds.at[i] != unwind && tape_maker(t, t->unwinds.at[i]) == maker)
            return false;
    return true;
}

/* A local array is gone when the loop has begun, so the first state of such a loop is kept before: not
 * worth it for short loops inside others with large arrays. */
static bool
is_worth_it(slice *s)
{
    bool arrays;
    uint32_t state = state_bytes(s, &arrays);
    uint32_t frame = tape_frame_bytes(tape_frame_of(s->t, s->loop));
    s->chunks->eager = arrays;
    return !arrays || is_outermost(s->loop) || state <= 4 * frame + 64;
}

/* whether op, or a task in it, leaves frames */
static bool
leaves_frames(tape *t, const ir_op *op)
{
    if (op->records && tape_pushes(t, op))
        return true;
    for (uint32_t i = 0; i < op->nregions; i++)
        ir_for_ops(inner, op->regions[i]) if (leaves_frames(t, inner)) return true;
    return false;
}

static bool
can_drop_frames(slice *s)
{
    tape *t = s->t;
    tape_chunks *c = s->chunks;
    if (tape_pushes(t, s->loop) && !has_tasks(s->loop->regions[0]) && find_needs(s) && is_worth_it(s))
        return true;
    vec_clear(&c->env);
    if (!is_outermost(s->loop) || !tape_can_shadow(t, c) || !find_whole_state(s))
        return false;
    c->eager = c->inner = true;
    c->parts++;
    return true;
}

static void
consider(tape *t, ir_op *unwind, const ir_writes *writes)
{
    ir_op *loop = tape_maker(t, unwind);
    if (unwind->code != RG_OP_UNWIND || !leaves_frames(t, loop) || !is_only_unwind(t, unwind, loop) ||
        (!t->fn->module->drop && is_small(t, loop)))
        return;
    tape_chunks *chunks = arena_one(t->fn->module->arena, tape_chunks);
    vec_push(&t->chunks, chunks);
    chunks->loop = loop;
    chunks->unwind = unwind;
    chunks->inner = has_large(t, loop->regions[0]);
    chunks->parts = 1 + loops_behind(t, loop) + chunks->inner;
    slice s = {.t = t, .loop = loop, .unwind = unwind, .chunks = chunks, .writes = writes};
    mem_owner owns;
    mem_own(&owns, release_slice, &s);
    if (can_drop_frames(&s))
        tape_frame_of(t, loop)->chunks = chunks;
    mem_disown(&owns);
    release_slice(&s);
}

/* The loop carries the number of the first iteration that is on the tape; the unwind asks whether
 * frames were dropped before it. */
static ir_op *
carry_lo(tape *t, tape_chunks *c)
{
    ir_fn *fn = t->fn;
    ir_op *loop = c->loop;
    ir_op_arg(loop, fn, ir_zero_before(fn, loop, ir_scalar(RG_I64)));
    c->lo = ir_region_param(loop->regions[0], ir_scalar(RG_I64), NULL);
    ir_op_arg(ir_terminator(loop->regions[0]), fn, c->lo);
    ir_for_ops(exit, loop->regions[0]) if (exit->code == RG_OP_EXIT_IF) ir_op_arg(exit, fn, c->lo);
    c->last_lo = ir_op_result_before_trace(fn, loop, ir_scalar(RG_I64), NULL);
    if (c->eager)
        return NULL; /* there always is a state */
    ir_op *next = loop->next;
    ir_value *zero = tape_int(t, next, RG_I64, 0);
    c->dropped = tape_scalar(t, RG_OP_NE, next, RG_BOOL, c->last_lo, zero);
    c->seen = c->dropped;
    if (ir_region_inside(c->unwind->parent, c->dropped->region))
        return NULL;
    ir_op *recall = tape_op(t, RG_OP_RECALL, c->unwind);
    ir_op_arg(recall, fn, c->dropped);
    c->seen = ir_op_result(recall, fn, ir_scalar(RG_BOOL), NULL);
    return recall;
}

void
tape_find_chunks(tape *t)
{
    const ir_writes *writes = ir_writes_find(t->fn);
    for (size_t i = 0; i < t->unwinds.n; i++)
        consider(t, t->unwinds.at[i], writes);
    map_free(&t->moving); /* a loop that drops frames has a cursor, also if only its tasks record */
    for (size_t i = 0; i < t->chunks.n; i++) {
        tape_chunks *c = t->chunks.at[i];
        ir_op *recall = tape_frame_of(t, c->loop)->chunks == c ? carry_lo(t, c) : NULL;
        if (recall)
            vec_push(&t->recalls, recall);
    }
}

/* -- recording again --------------------------------------------------------------------------------------------- */
/* stands first, to be seen everywhere in the copy */
static ir_value *
copy_literal(slice *s, const ir_value *v)
{
    ir_op *copy = ir_op_clone(s->t->fn, v->def, s->map, s->copy);
    ir_remove(copy);
    ir_insert_first(s->copy, copy);
    return copy->results[0];
}

static ir_value *
operand(slice *s, ir_value *v)
{
    ir_value *mapped = v->id < s->map_n ? s->map[v->id] : NULL;
    if (mapped)
        return mapped;
    if (!is_inside(s, v) && is_visible(s, v))
        return v;
    if (!is_inside(s, v) && is_literal(v))
        return copy_literal(s, v);
    ir_op *end = ir_op_new(s->t->fn, RG_OP_YIELD, 0, 0, s->loop->loc); /* feeds what nobody asks for */
    ir_append(s->into, end);
    ir_value *zero = ir_zero_before(s->t->fn, end, v->type);
    ir_remove(end);
    return zero;
}

static void copy_region(slice *s, const ir_region *r, ir_region *into);

static void
share_frame(slice *s, const ir_op *op, const ir_op *copy)
{
    tape *t = s->t;
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
    c->last_lo = op == s->loop ? copy->results[c->lo->index - 1] : s->map[c->last_lo->id];
    c->dropped = c->dropped ? s->map[c->dropped->id] : NULL;
    mine->chunks = c;
}

static void
copy_op(slice *s, const ir_op *op, ir_region *into)
{
    ir_fn *fn = s->t->fn;
    ir_region *outer = s->into;
    s->into = into;
    ir_op *copy = ir_op_like(fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, fn, operand(s, op->args[i]));
    ir_append(into, copy);
    if (op->nregions)
        tape_keeps_frames(s->t, copy);
    for (uint32_t i = 0; i < op->nregions; i++)
        copy_region(s, op->regions[i], copy->regions[i]);
    for (uint32_t i = 0; i < op->nresults; i++)
        s->map[op->results[i]->id] = ir_op_result(copy, fn, op->results[i]->type, op->results[i]->name);
    s->into = outer;
}

static bool
is_wanted(const slice *s, const ir_op *op)
{
    return s->all ? op->code != RG_OP_ASSERT && op->code != RG_OP_PRINT : live_has_op(&s->live, op);
}

static void
copy_ops(slice *s, const ir_region *r, ir_region *into)
{
    ir_for_ops(op, r)
    {
        bool exit = op->code == RG_OP_EXIT_IF && r == s->loop->regions[0];
        if (!exit && (op->code == RG_OP_YIELD || is_wanted(s, op)))
            copy_op(s, op, into);
    }
}

static void
copy_region(slice *s, const ir_region *r, ir_region *into)
{
    for (uint32_t i = 0; i < r->nparams; i++)
        s->map[r->params[i]->id] = ir_region_param(into, r->params[i]->type, r->params[i]->name);
    copy_ops(s, r, into);
}

static bool
share_frames(ir_op *op, void *user)
{
    slice *s = user;
    bool records = op->code == RG_OP_FOR || op->code == RG_OP_LOOP || op->code == RG_OP_PARALLEL;
    if (records && op->records && tape_pushes(s->t, op)) {
        const ir_value *trace = op->results[op->nresults - 1];
        const ir_op *copy = s->map[trace->id]->def;
        s->into = copy->regions[0];
        share_frame(s, op, copy);
    }
    return true;
}

/* the loop's own index: it counted from its own bounds, the copy counts iterations */
static void
restore_index(slice *s, ir_value *iteration)
{
    ir_value *index = s->loop->regions[0]->params[0];
    rg_dtype dtype = (rg_dtype)index->type.dtype;
    ir_fn *fn = s->t->fn;
    ir_op *end = ir_op_new(fn, RG_OP_YIELD, 0, 0, s->loop->loc);
    ir_append(s->into, end);
    ir_value *lo = s->all || s->live.values[index->id] ? operand(s, s->loop->args[0])
                                             : ir_zero_before(fn, end, index->type);
    ir_remove(end);
    ir_append(s->into, end);
    ir_op *step = tape_op(s->t, RG_OP_CONST, end);
    step->attr.bits = ir_wrap(dtype, (uint64_t)s->loop->attr.step);
    ir_value *by = ir_op_result(step, fn, index->type, NULL);
    if (dtype != RG_I64)
        iteration = tape_scalar(s->t, RG_OP_CAST, end, dtype, iteration, NULL);
    ir_value *offset = tape_scalar(s->t, RG_OP_MUL, end, dtype, iteration, by);
    s->map[index->id] = tape_scalar(s->t, RG_OP_ADD, end, dtype, lo, offset);
    ir_remove(end);
}

static void
make_again(slice *s)
{
    tape *t = s->t;
    tape_chunks *c = s->chunks;
    const ir_op *loop = s->loop;
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
}

/* What is needed is found for all loops before any is copied: copies of inner ones have the same states. */
static void
each_loop(tape *t, size_t n, const ir_writes *writes, bool make)
{
    for (size_t i = 0; i < n; i++) {
        tape_chunks *c = t->chunks.at[i];
        if (tape_frame_of(t, c->loop)->chunks != c)
            continue;
        slice s = {.t = t, .loop = c->loop, .unwind = c->unwind, .chunks = c, .writes = writes};
        mem_owner owns;
        mem_own(&owns, release_slice, &s);
        bool known = c->arrays.n ? find_whole_state(&s) : find_needs(&s);
        assert(known && "what could be had again before more was recorded still can");
        (void)known;
        if (make)
            make_again(&s);
        mem_disown(&owns);
        release_slice(&s);
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
