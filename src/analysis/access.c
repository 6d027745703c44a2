/* Whether two accesses of memory meet in an element. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/access.h"

#include "analysis/apart.h"
#include "analysis/integers.h"

/* -- in one thread ------------------------------------------------------------------------------------------------ */

static uint32_t
buffer_rank_of(const ir_op *access)
{
    return access->args[0]->type.kind == IR_BUFFER ? access->args[0]->type.rank : 0;
}

/* whether they are of one array, and of one direction of one plane of it */
static bool
of_one_plane(const ir_op *a, const ir_op *b)
{
    return a->args[0] == b->args[0] && a->plane == b->plane && a->direction == b->direction && a->beside == b->beside &&
           a->successive == b->successive;
}

bool
access_same(const ir_op *a, const ir_op *b)
{
    if (!of_one_plane(a, b) || a->masked != b->masked)
        return false;
    for (uint32_t k = 1; k <= buffer_rank_of(a); k++)
        if (!ir_same_value(a->args[k], b->args[k]))
            return false;
    return !a->masked || ir_same_value(a->args[a->nargs - 1], b->args[b->nargs - 1]);
}

/* the difference of the subscripts' polynomials, where nothing has to hold for them that intervals do not show */
static bool
distance_along_row(const ir_value *from, const ir_value *to, int64_t *distance)
{
    integers in = integers_begin();
    poly x = poly_of_subscript(&in, from), y = poly_of_subscript(&in, to), d = poly_add(&y, &x, -1);
    bool known = poly_is_const(&d, distance);
    for (size_t i = 0; i < in.claims.n && known; i++) {
        const poly_claim *c = &in.claims.at[i];
        known = c->p.known && range_within(poly_range(&c->p), range_of_type(c->dtype));
    }
    integers_end(&in);
    return known;
}

bool
access_in_one_row(const ir_op *a, const ir_op *b, int64_t *distance)
{
    uint32_t rank = buffer_rank_of(a);
    if (!rank || !of_one_plane(a, b))
        return false;
    for (uint32_t k = 1; k < rank; k++)
        if (!ir_same_value(a->args[k], b->args[k]))
            return false;
    return distance_along_row(a->args[rank], b->args[rank], distance);
}

/* Whether one thread's subscripts k differ. */
static bool
differ(const ir_op *a, const ir_op *b, uint32_t k)
{
    integers in = integers_begin();
    bool differ = poly_differ(&in, a->args[k], b->args[k]);
    integers_end(&in);
    return differ || apart_always(a, b, k, APART_TOGETHER, NULL);
}

/* whether subscripts that differ in axis k are different elements: [0][m] may be [1][0] where none stays in its row */
static bool
only_axis_tells(const ir_op *a, const ir_op *b, uint32_t k)
{
    for (uint32_t i = 1; i <= buffer_rank_of(a); i++)
        if (i != k && !(a->in_row && b->in_row) && !ir_same_value(a->args[i], b->args[i]))
            return false;
    return true;
}

/* Whether a thread may touch one element with both. Other threads need no look: a task in which two of them meet has a race. */
static bool
access_may_meet(const ir_op *a, const ir_op *b)
{
    if (a->plane != b->plane || !ir_may_be_same(a->args[0], b->args[0]))
        return false;
    if (a->beside == b->beside && a->direction != b->direction)
        return false;
    if (a->args[0] != b->args[0])
        return true;
    uint32_t rank = buffer_rank_of(a);
    for (uint32_t k = 1; k <= rank; k++)
        if ((k < rank || a->successive == b->successive) && differ(a, b, k) && only_axis_tells(a, b, k))
            return false;
    return true;
}

typedef struct reach_query {
    const ir_op *access;
    unsigned does; /* to its element */
    bool conflict;
} reach_query;

static void
note_conflict(ir_value *buffer, unsigned plane, unsigned does, void *user)
{
    reach_query *q = user;
    if (plane == q->access->plane && ir_may_be_same(buffer, q->access->args[0]))
        q->conflict |= !ir_commute(q->does, does);
}

/* whether op does not commute with what is done, by the same thread, to the element that an access names */
static bool
conflicts(const ir_op *op, const ir_op *access, unsigned does)
{
    reach_query q = {access, does, false};
    if (ir_is_access(op))
        q.conflict = !ir_commute(ir_access_does(op), does) && access_may_meet(op, access);
    else
        ir_each_reached(op, note_conflict, &q);
    for (uint32_t i = 0; i < op->nregions && !q.conflict; i++)
        ir_for_ops(inner, op->regions[i])
            q.conflict |= conflicts(inner, access, does);
    return q.conflict;
}

bool
access_passes(ir_footprints *f, const ir_op *access, const ir_op *op)
{
    const ir_effects *does = ir_footprint(f, op);
    return !does->guards && (!ir_effects_conflict(does, ir_footprint(f, access)) || !conflicts(op, access, ir_access_does(access)));
}

static bool
is_changed_by(ir_footprints *f, const ir_op *op, const ir_op *access)
{
    return ir_effects_on(ir_footprint(f, op), access->args[0], access->plane) & IR_CHANGES;
}

/* whether behind op, which is inside of a task, there may be what the task's other threads have written to the array */
static bool
may_hear(ir_footprints *f, const ir_op *op, const ir_op *access)
{
    const ir_op *task = ir_footprint(f, op)->hears ? op->parent->op : NULL;
    while (task && task->code != RG_OP_PARALLEL)
        task = task->parent->op;
    return task && is_changed_by(f, task, access);
}

bool
access_stands(ir_footprints *f, const ir_op *access, const ir_op *op)
{
    return !may_hear(f, op, access) && !(is_changed_by(f, op, access) && conflicts(op, access, IR_READS));
}

/* -- when a write can reach the element ------------------------------------------------------------------------
 * A load L of element e is followed by no write W of e: let C be the innermost region around both. In one and the same
 * iteration of the loops around C, W comes after L only if it stands after it in C; then some subscript must differ by a
 * constant, or by what the bounds of loops tell. In a later iteration of a loop around C (in any other thread, if it is parallel) some
 * subscript must have moved on for good. */
typedef struct pair {
    const ir_op *load, *write;
    uint32_t axes;
    poly at[RG_MAX_RANK];        /* subscript of the load */
    bool constant[RG_MAX_RANK];  /* the write's subscript is so much more: */
    int64_t more[RG_MAX_RANK];
    bool differ[RG_MAX_RANK];    /* and is another one, whatever wraps */
    bool in_row[RG_MAX_RANK];    /* both stay inside the axis's extent */
} pair;

static bool
apart_by_bounds(const pair *p, apart_when when, const ir_op *loop)
{
    for (uint32_t k = 0; k < p->axes; k++)
        if (apart_always(p->load, p->write, 1 + k, when, loop))
            return true;
    return false;
}

static bool
never_equal_in_one_iteration(const pair *p)
{
    for (uint32_t k = 0; k < p->axes; k++)
        if (p->differ[k])
            return true;
    return apart_by_bounds(p, APART_TOGETHER, NULL);
}

/* whether p's factors have one value in all iterations of the loop with this region; in all of the kernel, if it is that */
static bool
stands_in(const poly *p, const ir_region *region)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->term[i].n; k++) {
            const ir_region *r = p->term[i].factor[k].value->region;
            if (region->op ? ir_region_inside(r, region) : !ir_only_branches_between(r, NULL))
                return false;
        }
    return true;
}

/* Whether no two iterations' subscripts are one element by leaving a row: but for the first, they stay in theirs or do not move. */
static bool
stays_in_rows(const pair *p, const ir_region *region)
{
    for (uint32_t k = 1; k < p->axes; k++)
        if (!p->in_row[k] && !(p->constant[k] && stands_in(&p->at[k], region)))
            return false;
    return true;
}

/* whether axis k keeps the write of a later iteration (another thread) away from the element */
static bool
moves_on(const pair *p, uint32_t k, const ir_op *loop, const ir_value *induction)
{
    ir_value *start;
    uint64_t step;
    int64_t c;
    poly coefficient, rest;
    poly_factor f = poly_factor_of(induction);
    if (!p->constant[k] || !ir_is_induction(loop, induction, &start, &step) || !step ||
        !poly_split(&p->at[k], &f, &coefficient, &rest) || !poly_is_const(&coefficient, &c) || !c ||
        !stands_in(&rest, loop->regions[0]))
        return false;
    if (loop->code == RG_OP_PARALLEL) /* threads are at least c apart */
        return p->more[k] == 0 || (c != INT64_MIN && p->more[k] < llabs(c) && p->more[k] > -llabs(c));
    const int64_t big = INT64_C(1) << 31;
    int64_t pace = (int64_t)step, apart = p->more[k];
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
    return stays_in_rows(p, loop->regions[0]) && (kept >= wanted || apart_by_bounds(p, APART_LATER, loop));
}

static bool
is_earlier(const ir_op *a, const ir_op *b, const map *places)
{
    if (places)
        return (uintptr_t)map_get(places, map_ptr(a)) < (uintptr_t)map_get(places, map_ptr(b));
    return ir_stands_before(a, b);
}

/* -- whether subscripts stay in their rows ------------------------------------------------------------------------
 * Those of declared axes do. C walks rows of an array through pointers: [0][m + j] is [1][j]. Subscripts of one axis prove
 * something only if those behind it stay inside their extents, or differ by a constant. */

/* a - b as a constant; false: not known to be one */
static bool
constant_difference(const poly *a, const poly *b, int64_t *difference)
{
    poly d = poly_add(a, b, -1);
    return poly_is_const(&d, difference);
}

/* index + offset, `index` counted from a constant up (or down) to something that the extent covers */
static bool
counted_in_range(integers *in, const ir_value *index, int64_t offset, const poly *extent)
{
    unsigned bits;
    int64_t step, first, room;
    const ir_value *from, *to;
    if (!ir_is_counted(index, &from, &to, &step))
        return false;
    poly start = poly_modulo(in, from, &bits), end = poly_modulo(in, to, &bits), one = poly_const(1);
    if (step < 0) { /* to < index <= from */
        poly above = poly_add(&start, &one, 1);
        start = poly_add(&end, &one, 1);
        end = above;
    }
    return poly_is_const(&start, &first) && first + offset >= 0 && constant_difference(extent, &end, &room) &&
           room - offset >= 0;
}

static bool
in_range(integers *in, const ir_op *access, uint32_t axis)
{
    if (access->in_row)
        return true;
    unsigned bits;
    int64_t offset, room;
    const ir_value *declared = ir_declared_extent(access->args[0], axis);
    poly p = poly_modulo(in, access->args[1 + axis], &bits);
    poly extent = declared ? poly_modulo(in, declared, &bits) : (poly){0};
    if (poly_is_const(&p, &offset)) /* an array that is accessed has a first element */
        return offset == 0 || (offset > 0 && poly_is_const(&extent, &room) && offset < room);
    for (uint32_t i = 0; p.known && extent.known && i < p.n; i++) {
        const poly_factor *f = &p.term[i].factor[0];
        poly counter = poly_of_factor(*f);
        if (p.term[i].n == 1 && !f->axis && constant_difference(&p, &counter, &offset))
            return counted_in_range(in, f->value, offset, &extent);
    }
    return false;
}

static pair
pair_of(const ir_op *load, const ir_op *write)
{
    integers in = integers_begin();
    /* a call may read any element of its arrays */
    pair p = {.load = load, .write = write, .axes = load->code == RG_OP_CALL ? 0 : load->args[0]->type.rank};
    for (uint32_t k = 0; k < p.axes; k++) {
        unsigned bits;
        poly to = poly_modulo(&in, write->args[1 + k], &bits);
        p.at[k] = poly_modulo(&in, load->args[1 + k], &bits);
        p.constant[k] = constant_difference(&to, &p.at[k], &p.more[k]);
        p.differ[k] = p.constant[k] && poly_differ(&in, write->args[1 + k], load->args[1 + k]);
        p.in_row[k] = in_range(&in, load, k) && in_range(&in, write, k);
    }
    for (uint32_t k = 1; k < p.axes; k++)
        if (!p.constant[k] && !p.in_row[k])
            p.axes = 0; /* no subscript proves anything */
    integers_end(&in);
    return p;
}

static bool
never_equal_in(const pair *p, const ir_region *region)
{
    for (uint32_t k = 0; k < p->axes; k++)
        if (p->differ[k] && stands_in(&p->at[k], region))
            return stays_in_rows(p, region);
    return false;
}

bool
access_always_apart(const ir_op *a, const ir_op *b, const ir_region *region)
{
    pair p = pair_of(a, b);
    return never_equal_in(&p, region);
}

bool
access_meets_other_thread(const ir_op *a, const ir_op *b, const ir_op *task)
{
    pair p = pair_of(a, b);
    return !never_equal_later(&p, task);
}

bool
access_reaches_after(const ir_op *load, const ir_op *write, const map *places)
{
    pair p = pair_of(load, write);
    if (never_equal_in(&p, load->parent->fn->body))
        return false;
    const ir_region *common = ir_common_region(load->parent, write->parent);
    const ir_op *l = ir_ancestor_in((ir_op *)load, common), *w = ir_ancestor_in((ir_op *)write, common);
    if (l != w && is_earlier(l, w, places) && !never_equal_in_one_iteration(&p))
        return true;
    /* each iteration around a temp makes one of its own */
    const ir_op *made = write->args[0]->def;
    const ir_region *home = made && made->code == RG_OP_TEMP ? made->parent : NULL;
    for (const ir_region *r = common; r->op && r != home; r = r->op->parent)
        if (r->op->code != RG_OP_IF && !never_equal_later(&p, r->op))
            return true;
    return false;
}
