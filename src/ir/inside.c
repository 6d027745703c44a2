/* Which region lies inside which. SPDX-License-Identifier: Apache-2.0
 *
 * Else-ifs and switches nest as deep as they are long, and passes ask for each value whether it can be seen. So a region that
 * is asked about keeps its depth and one region far out: skipping to these, from any depth one is at another in a
 * logarithmic number of steps (E. W. Myers, "An applicative random-access stack", 1983). What is kept is found when asked
 * for, and is right until an op that holds such a region is put elsewhere (fn->moves). */
#include "ir/ir.h"

static ir_region *
around(const ir_region *r)
{
    return r->op ? r->op->parent : NULL;
}

static bool
is_place_known(const ir_region *r)
{
    return r->moves == r->fn->moves + 1;
}

static void
note_place(ir_region *r, ir_region *parent)
{
    bool arm = parent && r->op->code == RG_OP_IF;
    r->depth = parent ? parent->depth + 1 : 0;
    r->branch = arm ? parent->branch : r;
    r->far = r;
    if (parent)
        r->far = parent->depth - parent->far->depth == parent->far->depth - parent->far->far->depth ? parent->far->far : parent;
    r->moves = r->fn->moves + 1;
}

/* from outside in; `far` leads back on the way */
static const ir_region *
placed(const ir_region *region)
{
    ir_region *r = (ir_region *)region, *inner = NULL;
    if (is_place_known(r))
        return region;
    for (ir_region *next; r && !is_place_known(r); r = next) {
        next = around(r);
        r->far = inner;
        inner = r;
    }
    for (ir_region *parent = r; inner; parent = r) {
        r = inner;
        inner = r->far;
        note_place(r, parent);
    }
    return region;
}

/* the region around r (or r) at this depth, which is not below r's */
static const ir_region *
at_depth(const ir_region *r, uint32_t depth)
{
    while (r->depth > depth)
        r = r->far->depth >= depth ? r->far : around(r);
    return r;
}

void
ir_forget_places(ir_op *op)
{
    for (uint32_t i = 0; i < op->nregions; i++)
        if (is_place_known(op->regions[i])) {
            op->regions[i]->fn->moves++;
            return;
        }
}

bool
ir_region_inside(const ir_region *inner, const ir_region *outer)
{
    if (!inner || !outer || inner->fn != outer->fn)
        return false;
    if (inner == outer || around(inner) == outer)
        return true;
    placed(inner);
    placed(outer);
    return inner->depth > outer->depth && at_depth(inner, outer->depth) == outer;
}

const ir_region *
ir_common_region(const ir_region *a, const ir_region *b)
{
    if (a == b)
        return a;
    if (a->fn != b->fn)
        return NULL;
    placed(a);
    placed(b);
    a = at_depth(a, b->depth);
    b = at_depth(b, a->depth);
    while (a != b && a->depth) {
        bool near = a->far == b->far;
        a = near ? around(a) : a->far;
        b = near ? around(b) : b->far;
    }
    return a == b ? a : NULL;
}

ir_op *
ir_ancestor_in(ir_op *op, const ir_region *r)
{
    if (op->parent == r || !op->parent)
        return op->parent ? op : NULL;
    if (!ir_region_inside(op->parent, r))
        return NULL;
    return at_depth(placed(op->parent), placed(r)->depth + 1)->op;
}

const ir_region *
ir_around_branches(const ir_region *r)
{
    return placed(r)->branch;
}

bool
ir_only_branches_between(const ir_region *inner, const ir_region *outer)
{
    const ir_region *out = placed(placed(inner)->branch);
    return outer ? out->depth <= placed(outer)->depth : !out->op;
}
