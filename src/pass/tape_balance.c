/* Which cursors a reverse sweep must be told. SPDX-License-Identifier: Apache-2.0
 *
 * The reverse of an iteration pops what the iteration pushed, in the opposite order, and so comes by the
 * cursor of each inner loop by itself:
 *
 *   forward:  loop { A: loop {..}   if %c { B: loop {..} }   push }
 *   reverse:  unwind { pop   if (recall %c) { unwind B }   unwind A }
 *
 * That is *balanced*. It is not when an inner loop has nothing to reverse (on some path), or when the
 * partial last iteration is reversed too. Then each inner unwind starts at a cursor that the forward
 * sweep kept in the enclosing frame (or that can be seen), and the iteration's own start is kept as
 * well. Eight bytes each; nothing where the sweeps are mirror images. */
#include "pass/tape.h"

/* -- which ops move the cursor ------------------------------------------------------------------ */
static bool
region_moves(tape *t, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        if (tape_moves(t, op))
            return true;
    return false;
}

bool
tape_pushes(tape *t, const ir_op *maker)
{
    frame *f = tape_frame(t, maker);
    if (!f->pushes)
        f->pushes = f->slots.n > 0 || region_moves(t, maker->regions[0]);
    return f->pushes;
}

/* Loops that do not record use the tape from iteration to iteration anew, unless their partial last
 * iteration is reversed; threads have their workers' tapes. */
static bool
find_moves(tape *t, const ir_op *op)
{
    switch (op->code) {
    case RG_OP_UNWIND:
        return tape_pushes(t, ir_trace_maker(op->args[0]));
    case RG_OP_FOR:
    case RG_OP_LOOP:
        return (op->records || map_get(&t->kept, map_ptr(op))) && tape_pushes(t, op);
    case RG_OP_IF:
        return region_moves(t, op->regions[0]) || region_moves(t, op->regions[1]);
    default:
        return false;
    }
}

bool
tape_moves(tape *t, const ir_op *op)
{
    if (!op->nregions)
        return false;
    uintptr_t known = (uintptr_t)map_get(&t->moving, map_ptr(op));
    if (!known) {
        known = find_moves(t, op) ? 1 : 2;
        map_set(&t->moving, map_ptr(op), (void *)known);
    }
    return known == 1;
}

bool
tape_needed(tape *t, const ir_region *r)
{
    ir_for_ops(op, r)
    {
        if (tape_moves(t, op))
            return true;
        for (uint32_t i = 0; op->code != RG_OP_PARALLEL && i < op->nregions; i++)
            if (tape_needed(t, op->regions[i]))
                return true;
    }
    return false;
}

static bool
find_kept(ir_op *op, void *user)
{
    tape *t = user;
    if (op->code != RG_OP_UNWIND)
        return true;
    const ir_op *maker = ir_trace_maker(op->args[0]);
    for (const ir_region *r = maker->parent; r->op && !ir_region_inside(op->parent, r);
         r = r->op->parent)
        if (r->op->code == RG_OP_LOOP)
            map_set(&t->kept, map_ptr(r->op), r->op);
    return true;
}

void
tape_find_kept(tape *t)
{
    ir_walk(t->fn->body, find_kept, t);
}

/* -- mirror images ------------------------------------------------------------------------------ */
static const ir_op *
moving_before(tape *t, const ir_op *op)
{
    while (op && !tape_moves(t, op))
        op = op->prev;
    return op;
}

static const ir_op *
moving_after(tape *t, const ir_op *op)
{
    while (op && !tape_moves(t, op))
        op = op->next;
    return op;
}

static bool
same_condition(const tape *t, const ir_value *forward, const ir_value *reverse)
{
    while (forward != reverse && reverse->def && reverse->def->code == RG_OP_RECALL) {
        const ir_value *asked = map_get(&t->asked, map_ptr(reverse->def));
        reverse = asked ? asked : reverse->def->args[0];
    }
    return forward == reverse;
}

static bool
mirrors(tape *t, const ir_region *forward, const ir_region *reverse)
{
    const ir_op *f = moving_before(t, forward->last), *r = moving_after(t, reverse->first);
    for (; f && r; f = moving_before(t, f->prev), r = moving_after(t, r->next)) {
        if (f->code == RG_OP_IF) {
            if (r->code != RG_OP_IF || !same_condition(t, f->args[0], r->args[0]) ||
                !mirrors(t, f->regions[0], r->regions[0]) ||
                !mirrors(t, f->regions[1], r->regions[1]))
                return false;
        } else if (r->code != RG_OP_UNWIND || ir_trace_maker(r->args[0]) != f) {
            return false;
        }
    }
    return !f && !r;
}

bool
tape_is_balanced(tape *t, const ir_op *reverse)
{
    uintptr_t known = (uintptr_t)map_get(&t->balance, map_ptr(reverse));
    if (!known) {
        uint32_t trace = reverse->code == RG_OP_UNWIND ? 0 : 2 * reverse->attr.rank;
        const ir_op *maker = ir_trace_maker(reverse->args[trace]);
        known = mirrors(t, maker->regions[0], reverse->regions[0]) ? 1 : 2;
        map_set(&t->balance, map_ptr(reverse), (void *)known);
    }
    return known == 1;
}

/* -- what is wanted ----------------------------------------------------------------------------- */
wanted *
tape_wanted(tape *t, const ir_op *unwind, const ir_op *maker)
{
    for (size_t i = 0; i < t->wanted.n; i++)
        if (t->wanted.at[i]->unwind == unwind && (unwind || t->wanted.at[i]->maker == maker))
            return t->wanted.at[i];
    return NULL;
}

static wanted *
want(tape *t, ir_op *unwind, ir_op *maker)
{
    wanted *w = mem_zalloc(sizeof(*w));
    w->unwind = unwind;
    w->maker = maker;
    vec_push(&t->wanted, w);
    return w;
}

/* how the cursor behind `maker` comes to the unwind: as a recall of its trace would */
static void
find_way(tape *t, ir_op *unwind, ir_op *maker, ir_steps *steps)
{
    ir_op *recall = ir_op_new(t->fn, RG_OP_RECALL, 1, 0, unwind->loc);
    ir_op_arg(recall, t->fn, maker->results[maker->nresults - 1]);
    ir_insert_before(unwind, recall);
    ir_recall_steps(recall, steps);
    ir_remove(recall);
}

static void
want_end(tape *t, ir_op *unwind)
{
    ir_op *maker = ir_trace_maker(unwind->args[0]);
    ir_steps steps = {0};
    size_t n = 0;
    find_way(t, unwind, maker, &steps);
    while (n < steps.n && !steps.at[n].unwound_by)
        n++;
    if (n == steps.n || !tape_is_balanced(t, steps.at[n].unwound_by)) {
        wanted *w = want(t, unwind, maker);
        w->owner = n < steps.n ? steps.at[n].op : NULL;
        for (size_t i = 0; i < n; i++) {
            vec_push(&w->lifts, steps.at[i].op);
            if (steps.at[i].op->code == RG_OP_LOOP)
                tape_frame(t, steps.at[i].op)->partial = true;
        }
    }
    vec_free(&steps);
}

static void
want_start(tape *t, const ir_op *reverse, ir_op *maker)
{
    if (!tape_is_balanced(t, reverse) && !tape_wanted(t, NULL, maker))
        want(t, NULL, maker)->owner = maker;
}

static bool
find_wanted(ir_op *op, void *user)
{
    tape *t = user;
    uint32_t trace = op->code == RG_OP_UNWIND ? 0 : 2 * op->attr.rank;
    if (op->code != RG_OP_UNWIND && !(op->code == RG_OP_PARALLEL && op->rewinds))
        return true;
    ir_op *maker = ir_trace_maker(op->args[trace]);
    if (!tape_pushes(t, maker))
        return true;
    if (op->code == RG_OP_UNWIND)
        want_end(t, op);
    want_start(t, op, maker);
    return true;
}

void
tape_find_wanted(tape *t)
{
    ir_walk(t->fn->body, find_wanted, t);
}
