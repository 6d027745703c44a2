/* Loops whose last, partial iteration is undone by more than the results that they are left with.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   %x, %t = loop records {... %s = for records {...}  exit_if %c ...}
 *   %p = ... unwind (recall %s) ...                  what the last iteration needs, before
 *   unwind %t, %n (%a = %p) {...}                    the full ones are undone
 *
 * Where threads leave at different iterations there is no last iteration of the group: each thread's own has to be
 * undone while the unwind stands at it. So the loop records every iteration of the group in full, the ops that need
 * the last one move into the unwind, for the threads of which this iteration is the last one, and these join the
 * unwind's carried values with what comes out:
 *
 *   unwind %t, %frames (%a = 0) {
 *     %p' = if any(%iteration == %n) {...}           in those lanes; %a' = select(these, %p', %a)
 *     ...                                            in lanes where %iteration < %n
 */
#include "analysis/effects.h"
#include "analysis/uses.h"
#include "lanes/lanes.h"

static ir_op *
unwind_behind(const ir_op *op, const ir_op *maker)
{
    for (ir_op *o = op->next; o; o = o->next)
        if (o->code == RG_OP_UNWIND && ir_trace_maker(o->args[0]) == maker)
            return o;
    return NULL;
}

/* the unwind of `maker` that stands behind an op around the recall; that op moves into it */
static bool
move_into_unwind(lanes *l, const ir_op *recall, ir_op *maker)
{
    for (const ir_op *op = recall; op; op = op->parent->op) {
        ir_op *unwind = unwind_behind(op, maker);
        if (unwind) {
            map_set(&l->moved, map_ptr(op), unwind);
            ir_loop_divergence_of(&l->divergence, maker)->partial = ir_loop_divergence_of(&l->divergence, unwind)->partial = true;
            return true;
        }
        if (!op->parent->op || op->parent->op->code == RG_OP_PARALLEL)
            break;
    }
    return false;
}

static bool
look_at_recall(ir_op *op, void *user)
{
    lanes *l = user;
    if (op->code != RG_OP_RECALL)
        return true;
    ir_steps steps = {.in = l->scratch};
    ir_recall_steps(op, &steps);
    for (size_t i = 0; i < steps.n; i++) {
        ir_op *around = steps.at[i].op;
        bool loops = ir_is_loop(around);
        if (!loops || steps.at[i].unwound_by || !ir_loop_divergence_of(&l->divergence, around)->varies)
            continue;
        if (around->code == RG_OP_FOR || !move_into_unwind(l, op, around))
            l->refused = "the reverse needs what threads recorded in their last iterations, which differ";
    }
    return true;
}

typedef struct search {
    lanes *l;
    const ir_op *unwind;
    bool found;
} search;

static bool
uses_moved(ir_op *op, void *user)
{
    search *s = user;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const ir_op *def = op->args[i]->def;
        s->found |= def && map_get(&s->l->moved, map_ptr(def)) == s->unwind;
    }
    return !s->found;
}

static bool
moves_with(lanes *l, ir_op *op, const ir_op *unwind)
{
    search s = {l, unwind, false};
    uses_moved(op, &s);
    for (uint32_t i = 0; i < op->nregions && !s.found; i++)
        ir_walk(op->regions[i], uses_moved, &s);
    return s.found;
}

/* ops of an unwind's region between those that move into it and itself: what uses them moves too, and the rest must
 * not mind */
static void
close_moved(lanes *l, ir_op *unwind)
{
    ir_footprints footprints = ir_footprints_in(l->scratch);
    ir_effects moved = {.at.in = l->scratch};
    bool any = false, meet = false;
    for (ir_op *op = unwind->parent->first; op != unwind; op = op->next) {
        bool moves = map_get(&l->moved, map_ptr(op)) == unwind;
        if (any && !moves && moves_with(l, op, unwind)) {
            map_set(&l->moved, map_ptr(op), unwind);
            moves = true;
        }
        any |= moves;
        if (!any)
            continue;
        const ir_effects *does = ir_footprint(&footprints, op);
        meet |= does->order || (!moves && ir_effects_conflict(&moved, does));
        if (moves)
            ir_effects_join(&moved, does);
        for (uint32_t i = 0; moves && i < op->nresults; i++)
            meet |= op->results[i]->type.kind != IR_SCALAR;
    }
    if (meet)
        l->refused = "what a last iteration undoes must keep its place before other effects";
}

static bool
close_unwind(ir_op *op, void *user)
{
    lanes *l = user;
    if (op->code == RG_OP_UNWIND && ir_loop_divergence_of(&l->divergence, op)->partial)
        close_moved(l, op);
    return true;
}

void
lanes_find_partial(lanes *l, const ir_region *r)
{
    ir_walk((ir_region *)r, look_at_recall, l);
    ir_walk((ir_region *)r, close_unwind, l);
}

/* -- making it ------------------------------------------------------------------------------------- */

bool
lanes_is_moved(const lanes *l, const ir_op *op, const ir_op *unwind)
{
    const ir_op *into = map_get(&l->moved, map_ptr(op));
    return unwind ? into == unwind : into != NULL;
}

/* whether others than moved ops and the unwind's own start use v */
static bool
is_used_behind(const lanes *l, const ir_value *v, const ir_op *unwind)
{
    uint32_t moved = 0;
    for (uint32_t i = 0; i < unwind->nargs; i++)
        moved += unwind->args[i] == v;
    for (const ir_op *op = unwind->parent->first; op != unwind; op = op->next)
        if (lanes_is_moved(l, op, unwind))
            moved += ir_uses_by(op, v);
    return l->uses[v->id] > moved;
}

uint32_t
lanes_moved_results(lanes *l, const ir_op *unwind, ir_value **out)
{
    uint32_t n = 0;
    for (ir_op *op = unwind->parent->first; op != unwind; op = op->next)
        for (uint32_t i = 0; lanes_is_moved(l, op, unwind) && i < op->nresults; i++)
            if (is_used_behind(l, op->results[i], unwind)) {
                if (out)
                    out[n] = op->results[i];
                n++;
            }
    return n;
}

void
lanes_make_moved(lanes *l, const ir_op *unwind)
{
    for (ir_op *op = unwind->parent->first; op != unwind; op = op->next)
        if (lanes_is_moved(l, op, unwind))
            lanes_make(l, op);
}
