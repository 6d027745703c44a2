/* Time loops at kernel level that work in place. SPDX-License-Identifier: Apache-2.0
 *
 * Such a loop cannot be repeated from what it carries: it has overwritten what it read. The arrays that it
 * writes, and those that it reads and the kernel overwrites later, are then parts of its state, kept on the
 * kernel's tape. What records again works on copies of
 * them, never in the user's arrays. Frames that its tasks left with the workers are dropped with
 * the kernel's own. */
#include "tape/tape.h"

typedef struct look {
    tape_segments *c;
    const ir_writes *writes;
    bool task; /* inside a parallel loop */
    bool possible;
} look;

static bool
is_listed_value(const tape_values *values, const ir_value *v)
{
    for (size_t i = 0; i < values->n; i++)
        if (values->at[i] == v)
            return true;
    return false;
}

static void
add_array_root(ir_value *root, void *user)
{
    look *l = user;
    bool known = !root->def || root->def->code == RG_OP_TEMP;
    l->possible &= known && !ir_region_inside(root->region, l->c->loop->regions[0]);
    if (l->possible && !is_listed_value(&l->c->arrays, root))
        vec_push(&l->c->arrays, root);
}

/* An integer that threads capture depends on their order, and could differ the second time. */
static bool
can_repeat(const look *l, const ir_op *op)
{
    switch (op->code) {
    case RG_OP_TEMP:
    case RG_OP_CALL:
    case RG_OP_UNWIND:
    case RG_OP_RECALL:
    case RG_OP_RESTORE:
        return false;
    case RG_OP_PARALLEL:
        return !op->rewinds;
    case RG_OP_STORE:
        return op->plane == RG_PRIMAL;
    case RG_OP_RMW:
        return op->plane == RG_PRIMAL && !(l->task && op->nresults);
    default:
        return true;
    }
}

/* Whether the op writes an array, or reads what will not be there any more: only primals are kept. */
static bool
needs_array(look *l, const ir_op *op)
{
    if (ir_is_own(op))
        return false; /* what runs again fills it again */
    if (ir_access_does(op) & IR_CHANGES)
        return true;
    bool reads = op->code == RG_OP_LOAD || op->code == RG_OP_SNAPSHOT;
    if (!reads || ir_stands_still(l->writes, op))
        return false;
    l->possible &= op->plane == RG_PRIMAL;
    return true;
}

static void
look_at_region(look *l, const ir_region *r)
{
    ir_for_ops(op, r)
    {
        l->possible &= can_repeat(l, op);
        if (needs_array(l, op))
            ir_buffer_roots(op->args[0], add_array_root, l);
        bool task = l->task;
        l->task |= op->code == RG_OP_PARALLEL;
        for (uint32_t i = 0; i < op->nregions; i++)
            look_at_region(l, op->regions[i]);
        l->task = task;
    }
}

static void
meets_array(ir_value *root, void *user)
{
    look *l = user;
    l->possible &= !is_listed_value(&l->c->arrays, root);
}

/* Arrays chosen outside of the loop are not the copies; other values from outside must be visible. */
static bool
look_outwards(ir_op *op, void *user)
{
    look *l = user;
    for (uint32_t i = 0; i < op->nargs && l->possible; i++) {
        ir_value *v = op->args[i];
        if (ir_region_inside(v->region, l->c->loop->regions[0]))
            continue;
        bool table = v->def && v->def->code == RG_OP_TABLE;
        l->possible &= ir_region_inside(l->c->unwind->parent, v->region) && (v->type.kind != IR_ARRAY || table);
        if (v->type.kind == IR_BUFFER && v->def && v->def->code != RG_OP_TEMP)
            ir_buffer_roots(v, meets_array, l);
    }
    return l->possible;
}

bool
tape_can_copy_arrays(tape_segments *c, const ir_writes *writes)
{
    look l = {.c = c, .writes = writes, .possible = ir_region_inside(c->unwind->parent, c->loop->parent)};
    for (const ir_op *op = c->loop; op; op = op->parent->op)
        l.possible &= op->code != RG_OP_PARALLEL;
    vec_clear(&c->arrays);
    if (l.possible)
        look_at_region(&l, c->loop->regions[0]);
    if (l.possible)
        ir_walk(c->loop->regions[0], look_outwards, &l);
    return l.possible && c->arrays.n;
}

void
tape_copy_arrays(tape *t, tape_segments *c, ir_value **map)
{
    for (size_t i = 0; i < c->arrays.n; i++) {
        ir_value *array = c->arrays.at[i];
        ir_op *temp = ir_op_new(t->fn, RG_OP_TEMP, array->type.rank, 0, c->loop->loc);
        for (uint32_t k = 0; k < array->type.rank; k++) {
            ir_op *extent = ir_op_new(t->fn, RG_OP_EXTENT, 1, 0, c->loop->loc);
            ir_op_arg(extent, t->fn, array);
            extent->attr.bits = k;
            ir_op_arg(temp, t->fn, ir_op_result(extent, t->fn, ir_scalar(RG_I64), NULL));
            vec_push(&c->copy_ops, extent);
        }
        vec_push(&c->copy_ops, temp);
        map[array->id] = ir_op_result(temp, t->fn, array->type, array->name);
        vec_push(&c->copies, map[array->id]);
    }
}
