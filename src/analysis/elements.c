/* Which elements of arrays two accesses of one thread name. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/elements.h"

#include "analysis/integers.h"

static uint32_t
rank_of(const ir_op *access)
{
    return access->args[0]->type.kind == IR_BUFFER ? access->args[0]->type.rank : 0;
}

static bool
same_value(const ir_value *a, const ir_value *b)
{
    uint64_t x, y;
    return a == b || (ir_is_const(a, &x) && ir_is_const(b, &y) && x == y && ir_type_eq(a->type, b->type));
}

bool
elements_same(const ir_op *a, const ir_op *b)
{
    if (a->plane != b->plane || a->direction != b->direction || a->beside != b->beside || a->args[0] != b->args[0] ||
        a->masked != b->masked || a->successive != b->successive)
        return false;
    for (uint32_t k = 1; k <= rank_of(a); k++)
        if (!same_value(a->args[k], b->args[k]))
            return false;
    return !a->masked || same_value(a->args[a->nargs - 1], b->args[b->nargs - 1]);
}

/* Whether one thread's subscripts differ, whatever wraps. */
static bool
differ(const ir_value *a, const ir_value *b)
{
    integers in = integers_begin();
    bool differ = poly_differ(&in, a, b);
    integers_end(&in);
    return differ;
}

/* whether subscripts that differ in axis k are different elements: [0][m] may be [1][0] where none stays in its row */
static bool
only_axis_tells(const ir_op *a, const ir_op *b, uint32_t k)
{
    for (uint32_t i = 1; i <= rank_of(a); i++)
        if (i != k && !(a->in_row && b->in_row) && !same_value(a->args[i], b->args[i]))
            return false;
    return true;
}

bool
elements_may_meet(const ir_op *a, const ir_op *b)
{
    if (a->plane != b->plane || !ir_may_be_same(a->args[0], b->args[0]))
        return false;
    if (a->beside == b->beside && a->direction != b->direction)
        return false;
    if (a->args[0] != b->args[0])
        return true;
    uint32_t rank = rank_of(a);
    for (uint32_t k = 1; k <= rank; k++)
        if ((k < rank || a->successive == b->successive) && differ(a->args[k], b->args[k]) && only_axis_tells(a, b, k))
            return false;
    return true;
}

typedef struct reach_query {
    const ir_op *access;
    bool conflict;
} reach_query;

static void
look_at_reached(ir_value *buffer, unsigned plane, unsigned does, void *user)
{
    reach_query *q = user;
    if (plane == q->access->plane && ir_may_be_same(buffer, q->access->args[0]))
        q->conflict |= (ir_access_does(q->access) | does) & IR_CHANGES;
}

/* whether op conflicts with an access of the same thread */
static bool
keeps_apart(const ir_op *op, const ir_op *access)
{
    reach_query q = {access, false};
    if (ir_is_access(op))
        q.conflict = ir_access_conflict(op, access) && elements_may_meet(op, access);
    else
        ir_each_reached(op, look_at_reached, &q);
    for (uint32_t i = 0; i < op->nregions && !q.conflict; i++)
        ir_for_ops(inner, op->regions[i])
            q.conflict |= keeps_apart(inner, access);
    return q.conflict;
}

bool
elements_pass(ir_footprints *f, const ir_op *access, const ir_op *op)
{
    const ir_effects *does = ir_footprint(f, op);
    return !does->guards && (!ir_effects_conflict(does, ir_footprint(f, access)) || !keeps_apart(op, access));
}
