/* Subscripts that prove that two accesses name different elements. SPDX-License-Identifier: Apache-2.0
 *
 * A load L of element e is followed by no write W of e: let C be the innermost region around both. In one
 * and the same iteration of the loops around C, W comes after L only if it stands after it in C; then some
 * subscript must differ by a constant. In a later iteration of a loop around C (in any other thread, if it
 * is parallel) some subscript must have moved on for good. */
#include "diff/apart.h"
#include "analysis/induction.h"

/* -- when a write can reach the element ------------------------------------------------------------------------ */
typedef struct pair {
    const ir_op *load, *write;
    uint32_t axes;
    ir_affine difference[RG_MAX_RANK]; /* subscript of the write minus subscript of the load */
    ir_affine at[RG_MAX_RANK];         /* subscript of the load */
} pair;

static bool
never_equal_in_one_iteration(const pair *p)
{
    for (uint32_t k = 0; k < p->axes; k++)
        if (p->difference[k].known && p->difference[k].n == 0 && p->difference[k].constant)
            return true;
    return false;
}

static bool
invariant_in(const ir_affine *a, const ir_op *loop, const ir_value *but)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->term[i].symbol != but && ir_region_inside(a->term[i].symbol->region, loop->regions[0]))
            return false;
    return true;
}

static int64_t
coefficient_of(const ir_affine *a, const ir_value *symbol)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->term[i].symbol == symbol)
            return a->term[i].coefficient;
    return 0;
}

/* whether axis k keeps the write of a later iteration (another thread) away from the element */
static bool
moves_on(const pair *p, uint32_t k, const ir_op *loop, const ir_value *induction)
{
    ir_value *start;
    uint64_t step;
    int64_t c = coefficient_of(&p->at[k], induction);
    if (!c || !p->at[k].known || !p->difference[k].known || p->difference[k].n ||
        !ir_is_induction(loop, induction, &start, &step) || !step ||
        !invariant_in(&p->at[k], loop, induction))
        return false;
    if (loop->code == RG_OP_PARALLEL)
        return p->difference[k].constant == 0;
    const int64_t big = INT64_C(1) << 31;
    int64_t pace = (int64_t)step, apart = p->difference[k].constant;
    if (pace > big || pace < -big || c > big || c < -big || apart > big * big / 4 || apart < -big * big / 4)
        return false; /* near where sums wrap nothing is known */
    pace *= c;
    return pace > 0 ? apart + pace > 0 : apart + pace < 0;
}

static bool
never_equal_later(const pair *p, const ir_op *loop)
{
    uint32_t kept = 0, wanted = loop->code == RG_OP_PARALLEL ? loop->attr.rank : 1;
    for (uint32_t i = 0; i < loop->regions[0]->nparams; i++)
        for (uint32_t k = 0; k < p->axes; k++)
            if (moves_on(p, k, loop, loop->regions[0]->params[i])) {
                kept++;
                break;
            }
    return kept >= wanted;
}

static bool
stands_before(const ir_op *a, const ir_op *b, const map *places)
{
    if (places)
        return (uintptr_t)map_get(places, map_ptr(a)) < (uintptr_t)map_get(places, map_ptr(b));
    for (const ir_op *op = b->prev; op; op = op->prev)
        if (op == a)
            return true;
    return false;
}

/* -- whether subscripts stay in their rows ------------------------------------------------------------------------
 * Those of declared axes do. C walks rows of an array through pointers: [0][m + j] is [1][j]. Subscripts of one axis prove
 * something only if those behind it stay inside their extents, or differ by a constant. */

/* a - b as a constant; false: not known to be one */
static bool
constant_difference(ir_affine a, ir_affine b, int64_t *difference)
{
    ir_affine d = ir_affine_minus(a, b);
    *difference = d.constant;
    return d.known && d.n == 0;
}

/* index + offset, `index` counted from a constant up (or down) to something that the extent covers */
static bool
counted_in_range(const ir_value *index, int64_t offset, ir_affine extent)
{
    const ir_op *loop = index->def ? NULL : index->region->op;
    bool parallel = loop && loop->code == RG_OP_PARALLEL;
    if (!parallel && !(loop && loop->code == RG_OP_FOR && index->index == 0))
        return false;
    const ir_value *lo = loop->args[parallel ? index->index : 0];
    const ir_value *hi = loop->args[parallel ? loop->attr.rank + index->index : 1];
    ir_affine first = ir_affine_of(lo), end = ir_affine_of(hi), none = {.known = true};
    if (!parallel && loop->attr.step < 0) { /* hi < index <= lo */
        ir_affine above = first;
        first = end;
        end = above;
        first.constant++;
        end.constant++;
    }
    int64_t from, room;
    return constant_difference(first, none, &from) && from + offset >= 0 &&
           constant_difference(extent, end, &room) && room - offset >= 0;
}

static bool
in_range(const ir_op *access, uint32_t axis)
{
    if (access->in_row)
        return true;
    const ir_value *declared = ir_declared_extent(access->args[0], axis);
    ir_affine a = ir_affine_of(access->args[1 + axis]), extent = declared ? ir_affine_of(declared) : (ir_affine){0};
    if (!a.known || a.n > 1)
        return false;
    if (a.n == 0) /* an array that is accessed has a first element */
        return a.constant == 0 ||
               (a.constant > 0 && extent.known && extent.n == 0 && a.constant < extent.constant);
    return extent.known && a.term[0].coefficient == 1 &&
           counted_in_range(a.term[0].symbol, a.constant, extent);
}

static bool
stays_in_rows(const pair *p)
{
    for (uint32_t k = 1; k < p->axes; k++) {
        if (p->difference[k].known && p->difference[k].n == 0)
            continue;
        if (!in_range(p->load, k) || !in_range(p->write, k))
            return false;
    }
    return true;
}

static pair
pair_of(const ir_op *load, const ir_op *write)
{
    /* a call may read any element of its arrays */
    pair p = {load, write, load->code == RG_OP_CALL ? 0 : load->args[0]->type.rank, {{0}}, {{0}}};
    for (uint32_t k = 0; k < p.axes; k++) {
        p.at[k] = ir_affine_of(load->args[1 + k]);
        p.difference[k] = ir_affine_minus(ir_affine_of(write->args[1 + k]), p.at[k]);
    }
    if (!stays_in_rows(&p))
        p.axes = 0; /* no subscript proves anything */
    return p;
}

/* whether a's symbols have one value wherever `region` is run through once */
static bool
stands_in(const ir_affine *a, const ir_region *region)
{
    for (unsigned i = 0; i < a->n; i++)
        if (ir_region_inside(a->term[i].symbol->region, region))
            return false;
    return true;
}

static bool
never_equal_in(const pair *p, const ir_region *region)
{
    for (uint32_t k = 0; k < p->axes; k++)
        if (p->difference[k].known && p->difference[k].n == 0 && p->difference[k].constant &&
            p->at[k].known && stands_in(&p->at[k], region))
            return true;
    return false;
}

bool
ad_always_apart(const ir_op *a, const ir_op *b, const ir_region *region)
{
    pair p = pair_of(a, b);
    return never_equal_in(&p, region);
}

bool
ad_apart_in_threads(const ir_op *a, const ir_op *b, const ir_op *task)
{
    pair p = pair_of(a, b);
    return never_equal_later(&p, task) || never_equal_in(&p, task->regions[0]);
}

bool
ad_reaches_after(const ir_op *load, const ir_op *write, const map *places)
{
    pair p = pair_of(load, write);
    if (never_equal_in(&p, load->parent->fn->body))
        return false;
    const ir_region *common = ir_common_region(load->parent, write->parent);
    const ir_op *l = ir_ancestor_in((ir_op *)load, common), *w = ir_ancestor_in((ir_op *)write, common);
    if (l != w && stands_before(l, w, places) && !never_equal_in_one_iteration(&p))
        return true;
    /* each iteration around a temp makes one of its own */
    const ir_op *made = write->args[0]->def;
    const ir_region *home = made && made->code == RG_OP_TEMP ? made->parent : NULL;
    for (const ir_region *r = common; r->op && r != home; r = r->op->parent)
        if (r->op->code != RG_OP_IF && !never_equal_later(&p, r->op))
            return true;
    return false;
}
