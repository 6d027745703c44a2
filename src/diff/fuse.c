/* A task and the task that rewinds it become one, where nothing between the two keeps them apart.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     %s, %t = parallel records (%i) reduce (add) { A; yield %v }     before: ops that do not need
 * %s before and after, in any mixture                                %s = parallel (%i) { A; B;
 * yield %v } parallel rewinds %t (%j) { B; yield }                           after: ops that need
 * %s
 *
 * vjp sweeps and reverses a kernel's last task at once, since its adjoints are known before it
 * runs. Those of a task whose sum goes into a loss are too, behind ops that only the sum's value
 * keeps where they are. The tape is then as deep as one thread instead of as long as the task. */
#include "diff/ad.h"
#include "analysis/effects.h"
#include "opt/edit.h"

typedef struct fusion {
    ir_op *first, *second;
    ir_footprints footprints;
    const ir_effects *first_does, *second_does;
    ir_effects behind; /* of what goes behind */
    vec(ir_op *) later;  /* what goes behind, in order */
    map late;            /* values that the first task or `later` define */
} fusion;

static void
release_fusion(void *object)
{
    fusion *f = object;
    vec_free(&f->later);
    map_free(&f->late);
}

static bool
takes_nothing_late(ir_op *op, void *user)
{
    const fusion *f = user;
    for (uint32_t k = 0; k < op->nargs; k++)
        if (map_get(&f->late, map_ptr(op->args[k])))
            return false;
    return true;
}

static bool
needs_late(fusion *f, ir_op *op)
{
    bool free = takes_nothing_late(op, f);
    for (uint32_t i = 0; i < op->nregions && free; i++)
        free = ir_walk(op->regions[i], takes_nothing_late, f);
    return !free;
}

static bool
mark_late(ir_op *op, void *user)
{
    fusion *f = user;
    for (uint32_t k = 0; k < op->nresults; k++)
        map_set(&f->late, map_ptr(op->results[k]), op);
    return true;
}

/* An op between the two tasks that cannot move before the first one moves behind the second one. The fused task leaves no
 * frames on the workers' tapes. The other tasks' frames are taken last in, first out, so their order must not change: behind an
 * op with frames that moves, every later op with frames moves too. */
static void
place_between(fusion *f, ir_op *op)
{
    const ir_effects *does = ir_footprint(&f->footprints, op);
    if (!does->order && !needs_late(f, op) && !ir_effects_conflict(f->first_does, does) &&
        !ir_effects_ordered(&f->behind, does))
        return;
    vec_push(&f->later, op);
    ir_effects_join(&f->behind, does);
    mark_late(op, f);
    for (uint32_t i = 0; i < op->nregions; i++)
        ir_walk(op->regions[i], mark_late, f);
}

static bool
same_domain(const ir_op *a, const ir_op *b)
{
    uint64_t x, y;
    if (a->attr.rank != b->attr.rank)
        return false;
    for (uint32_t k = 0; k < 2 * a->attr.rank; k++)
        if (a->args[k] != b->args[k] &&
            !(ir_is_const(a->args[k], &x) && ir_is_const(b->args[k], &y) && x == y))
            return false;
    return true;
}

static bool
sums_only(const ir_op *task)
{
    for (uint32_t k = 0; k < ir_value_results(task); k++)
        if (task->reduce[k] != RG_RMW_ADD)
            return false;
    return true;
}

static bool
can_fuse(fusion *f)
{
    const ir_value *trace = f->first->results[f->first->nresults - 1];
    if (!same_domain(f->first, f->second) || !sums_only(f->first))
        return false;
    f->first_does = ir_footprint(&f->footprints, f->first);
    f->second_does = ir_footprint(&f->footprints, f->second);
    /* threads of the second run before later threads of the first one */
    if (ir_effects_conflict(f->first_does, f->second_does))
        return false;
    mark_late(f->first, f);
    map_set(&f->late, map_ptr(trace), NULL);
    for (ir_op *op = f->first->next; op != f->second; op = op->next)
        place_between(f, op);
    return !needs_late(f, f->second) && !ir_effects_conflict(&f->behind, f->second_does) &&
           !(f->behind.order && f->second_does->order);
}

/* -- the surgery --------------------------------------------------------------------------------
 */

/* A local array is what it was only until somebody takes it: a copy is kept from where it is defined. */
static void
copy_instead(edit *e, ir_op *recall)
{
    ir_value *array = recall->args[0];
    ir_op *keep = ir_op_new(e->fn, RG_OP_COPY, 1, 0, recall->loc);
    ir_op_arg(keep, e->fn, array);
    if (array->def)
        ir_insert_before(array->def->next, keep);
    else
        ir_insert_first(array->region, keep);
    recall->code = RG_OP_COPY;
    recall->args[0] = ir_op_result(keep, e->fn, array->type, array->name);
}

static bool
copy_recalled(ir_op *op, void *user)
{
    edit *e = user;
    edit_operands(e, op);
    if (op->code == RG_OP_RECALL && op->args[0]->type.kind == IR_ARRAY && edit_visible(op->args[0], op))
        copy_instead(e, op);
    return true;
}

static void
join_results(edit *e, ir_op *first, ir_op *second)
{
    uint32_t had = ir_value_results(first), more = second->nresults;
    ir_op *end = ir_terminator(first->regions[0]), *other = ir_terminator(second->regions[0]);
    uint8_t *reduce = arena_new_n(e->fn->module->arena, uint8_t, had + more + 1);
    edit_drop_result(first, had); /* the trace */
    first->records = false;
    for (uint32_t k = 0; k < had; k++)
        reduce[k] = first->reduce[k];
    for (uint32_t k = 0; k < more; k++) {
        ir_value *old = second->results[k];
        reduce[had + k] = second->reduce[k];
        ir_op_arg(first, e->fn, second->args[ir_first_init(second) + k]);
        ir_op_arg(end, e->fn, edit_now(e, other->args[k]));
        edit_replace(e, old, ir_op_result(first, e->fn, old->type, old->name));
    }
    first->reduce = reduce;
}

static void
fuse(edit *e, fusion *f)
{
    ir_op *first = f->first, *second = f->second, *behind = second->next;
    ir_region *into = first->regions[0], *from = second->regions[0];
    for (uint32_t k = 0; k < first->attr.rank; k++)
        edit_replace(e, from->params[k], into->params[k]);
    ir_op *at = edit_splice(ir_terminator(into), from, NULL);
    for (ir_op *next; at != ir_terminator(into); at = next) {
        next = at->next;
        for (uint32_t i = 0; i < at->nregions; i++)
            ir_walk(at->regions[i], copy_recalled, e);
        copy_recalled(at, e);
    }
    join_results(e, first, second);
    ir_remove(first);
    ir_insert_before(second, first);
    ir_remove(second);
    for (size_t k = 0; k < f->later.n; k++) {
        ir_remove(f->later.at[k]);
        ir_insert_before(behind, f->later.at[k]);
    }
}

/* The recording task of a rewinding one, if both stand in one region. */
static ir_op *
recorder(const ir_op *rewinding)
{
    ir_op *task = rewinding->args[2 * rewinding->attr.rank]->def;
    return task && task->code == RG_OP_PARALLEL && task->parent == rewinding->parent ? task : NULL;
}

static bool
try_fuse(edit *e, ir_op *second)
{
    fusion f = {.first = recorder(second), .second = second, .footprints = ir_footprints_in(e->scratch), .behind.at.in = e->scratch};
    mem_owner owns;
    mem_own(&owns, release_fusion, &f);
    bool good = f.first && can_fuse(&f);
    if (good)
        fuse(e, &f);
    mem_disown(&owns);
    release_fusion(&f);
    return good;
}

/* What an op takes may be a result of a task that was fused: asked of what stands now. */
static bool
bring_up_to_date(ir_op *op, void *user)
{
    edit_operands(user, op);
    return true;
}

bool
ad_fuse(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        edit e;
        edit_start(&e, fn);
        for (ir_op *op = fn->body->first, *next; op; op = next) {
            next = op->next;
            edit_operands(&e, op);
            for (uint32_t i = 0; i < op->nregions; i++)
                ir_walk(op->regions[i], bring_up_to_date, &e);
            if (op->code == RG_OP_PARALLEL && op->rewinds)
                try_fuse(&e, op);
        }
        changed |= edit_finish(&e);
    }
    return changed;
}
