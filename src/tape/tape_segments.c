/* Loops that are reversed in segments: which, and from what state. SPDX-License-Identifier: Apache-2.0
 *
 * While a loop runs, its frames lie on the tape. When they take more than their part of the budget, they
 * are dropped, and the carried state at that point is kept instead: only the last segment of iterations is
 * on the tape when the loop ends. The unwind takes that one back, then returns to the state before it,
 * records the iterations from there up to where it stands again, and so on (tape_drive.c).
 *
 * A loop can do so if whatever its frames hold can be computed again from what it carries, from values
 * around it and from memory that stands still (tape_slice.c); or, at kernel level, from copies of the
 * arrays that do not stand still (tape_arrays.c). */
#include "tape/tape_slice.h"

/* Frames of fewer bytes than this in all are never dropped. */
enum { SMALL_TAPE = 1 << 15 };

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
state_bytes(const tape_slice *s, bool *arrays)
{
    const ir_region *body = s->loop->regions[0];
    uint32_t bytes = 0, first = s->loop->code == RG_OP_FOR;
    *arrays = false;
    for (size_t i = 0; i < s->segments->state.n; i++) {
        ir_type type = body->params[first + s->segments->state.at[i]]->type;
        bytes += ir_slot_bytes(type);
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
is_dropping_worth_it(tape_slice *s)
{
    bool arrays;
    uint32_t state = state_bytes(s, &arrays);
    uint32_t frame = tape_frame_bytes(s->t, tape_frame_of(s->t, s->loop), false);
    s->segments->eager = arrays;
    return !arrays || is_outermost(s->loop) || state <= 4 * frame + 64;
}

/* whether op, or a task in it, leaves frames */
static bool
leaves_frames(tape *t, const ir_op *op)
{
    if (op->code == RG_OP_SNAPSHOT || (op->records && tape_pushes(t, op)))
        return true;
    for (uint32_t i = 0; i < op->nregions; i++)
        ir_for_ops(inner, op->regions[i]) if (leaves_frames(t, inner)) return true;
    return false;
}

static bool
can_drop_frames(tape_slice *s)
{
    tape *t = s->t;
    tape_segments *c = s->segments;
    if (tape_pushes(t, s->loop) && !has_tasks(s->loop->regions[0]) && tape_slice_find(s) && is_dropping_worth_it(s))
        return true;
    vec_clear(&c->env);
    if (!is_outermost(s->loop) || !tape_can_copy_arrays(c, s->writes) || !tape_slice_all(s))
        return false;
    c->eager = c->inner = true;
    c->parts++;
    return true;
}

void
tape_segments_clear(tape_segments *c, arena *scratch)
{
    c->state = (tape_numbers){.in = scratch};
    c->env = c->arrays = c->copies = (tape_values){.in = scratch};
    c->copy_ops.at = NULL;
    c->copy_ops.n = c->copy_ops.cap = 0;
    c->copy_ops.in = scratch;
}

static void
consider(tape *t, ir_op *unwind, const ir_writes *writes)
{
    ir_op *loop = tape_maker(t, unwind);
    if (unwind->code != RG_OP_UNWIND || !leaves_frames(t, loop) || !is_only_unwind(t, unwind, loop) ||
        (!t->drop && is_small(t, loop)))
        return;
    tape_segments *segments = arena_one(t->scratch, tape_segments);
    vec_push(&t->segments, segments);
    tape_segments_clear(segments, t->scratch);
    segments->loop = loop;
    segments->unwind = unwind;
    segments->inner = has_large(t, loop->regions[0]);
    segments->parts = 1 + loops_behind(t, loop) + segments->inner;
    tape_slice s = {.t = t, .loop = loop, .unwind = unwind, .segments = segments, .writes = writes};
    if (can_drop_frames(&s))
        tape_frame_of(t, loop)->segments = segments;
}

/* The loop carries the number of the first iteration that is on the tape; the unwind asks whether
 * frames were dropped before it. */
static ir_op *
carry_lo(tape *t, tape_segments *c)
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
tape_find_segments(tape *t)
{
    const ir_writes *writes = ir_writes_find(t->fn);
    for (size_t i = 0; i < t->unwinds.n; i++)
        consider(t, t->unwinds.at[i], writes);
    map_free(&t->moving); /* a loop that drops frames has a cursor, also if only its tasks record */
    for (size_t i = 0; i < t->segments.n; i++) {
        tape_segments *c = t->segments.at[i];
        ir_op *recall = tape_frame_of(t, c->loop)->segments == c ? carry_lo(t, c) : NULL;
        if (recall)
            vec_push(&t->recalls, recall);
    }
}
