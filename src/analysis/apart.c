/* Whether subscripts differ, as the bounds of loops tell. SPDX-License-Identifier: Apache-2.0
 *
 *   for %k = 0 to %n step 32 {
 *     for %p = %k to min(%k + 32, %n) { .. load %a[%i, %p] .. }
 *     for %j = %k to min(%k + 32, %n) { .. store %a[%i, %j] .. }
 *
 * No store of a later iteration reaches what the load has read: of the difference %j' - %p, where ' marks the later iteration, counted
 * values are replaced by their bounds, those of the innermost loops first, until a constant is left:
 *
 *   %j' - %p >= %k' - %p >= %k' - (%k + 31) >= %k + 32 - (%k + 31) = 1 */
#include "analysis/apart.h"

#include "analysis/integers.h"
#include "ir/edges.h"

enum { MOST_STEPS = 64 /* of one proof */, LATER = 1 << 30 /* in the axis of a factor: the value of the later iteration */ };
#define FAR ((wide)1 << 48) /* no interval that reaches further proves anything */

/* a carried value that is taken not to be below (above) what it began with */
typedef struct assumption {
    const ir_value *carried;
    bool lower;
} assumption;

typedef struct proof {
    integers in;
    const ir_op *a, *b; /* the accesses: the loops around them run */
    assumption assumed; /* in this iteration */
    const ir_op *later; /* the loop that b has gone on in; NULL: none */
    int64_t pace;       /* by so much its index is larger then, or more (less, if negative); 0: nothing is known */
    uint32_t steps;
} proof;

static bool is_above_zero(proof *q, const poly *e);

/* -- values of one iteration and of a later one ------------------------------------------------------------------------ */
static poly_factor
factor_before(poly_factor f)
{
    f.axis &= ~(uint32_t)LATER;
    return f;
}

/* the value's polynomial, if nothing has to hold that intervals do not show */
static poly
poly_at(proof *q, const ir_value *v, bool later)
{
    size_t from = q->in.claims.n;
    poly p = poly_of_subscript(&q->in, v);
    for (size_t i = from; i < q->in.claims.n; i++) {
        const poly_claim *c = &q->in.claims.at[i];
        p.known &= c->p.known && range_within(poly_range(&c->p), range_of_type(c->dtype));
    }
    for (uint32_t i = 0; later && q->later && i < p.n; i++)
        for (uint32_t k = 0; k < p.term[i].n; k++)
            if (ir_region_inside(p.term[i].factor[k].value->region, q->later->regions[0]))
                p.term[i].factor[k].axis |= LATER;
    return p;
}

/* -- bounds of one value ---------------------------------------------------------------------------------------------- */

/* an expression with a factor that is to be replaced by something not larger in the expression */
typedef struct place {
    poly coefficient, rest;
    bool lower; /* a lower bound of the factor is wanted, else an upper one */
} place;

static bool
positive_with(proof *q, const place *at, const poly *bound)
{
    poly scaled = poly_mul(&at->coefficient, bound), e = poly_add(&scaled, &at->rest, 1);
    return is_above_zero(q, &e);
}

static bool
positive_with_value(proof *q, const place *at, const ir_value *v, int64_t more, bool later)
{
    poly p = poly_at(q, v, later), c = poly_const(more), bound = poly_add(&p, &c, 1);
    return positive_with(q, at, &bound);
}

/* the index of the loop between the two iterations, by its value in the other one */
static bool
positive_by_pace(proof *q, const place *at, poly_factor f)
{
    bool later = f.axis & LATER;
    if (!q->later || !q->pace || f.value != q->later->regions[0]->params[0] ||
        at->lower != ((q->pace > 0) == later))
        return false;
    poly_factor other = f;
    other.axis ^= LATER;
    poly p = poly_of_factor(other), c = poly_const(later ? q->pace : -q->pace), bound = poly_add(&p, &c, 1);
    return positive_with(q, at, &bound);
}

static bool
positive_by_count(proof *q, const place *at, poly_factor f)
{
    const ir_value *from, *to;
    int64_t step;
    if (!ir_is_counted(f.value, &from, &to, &step))
        return false;
    bool first = at->lower == (step > 0);
    return positive_with_value(q, at, first ? from : to, first ? 0 : step > 0 ? -1 : 1, f.axis & LATER);
}

/* x where x < y (or x <= y), else y; the other way round: *least is false */
static bool
is_least_or_most(const ir_op *select, bool *least)
{
    const ir_op *c = select->args[0]->def;
    bool less = c && (c->code == RG_OP_LT || c->code == RG_OP_LE), more = c && (c->code == RG_OP_GT || c->code == RG_OP_GE);
    if (!less && !more)
        return false;
    bool same = ir_same_number(c->args[0], select->args[1]) && ir_same_number(c->args[1], select->args[2]);
    bool turned = ir_same_number(c->args[0], select->args[2]) && ir_same_number(c->args[1], select->args[1]);
    *least = same == less;
    return same != turned;
}

/* one of two values; of the smaller (larger) of two, each is a bound on one side */
static bool
positive_by_choice(proof *q, const place *at, poly_factor f)
{
    const ir_op *op = f.value->def;
    bool later = f.axis & LATER, least, any = false;
    const ir_value *x, *y;
    if (op->code == RG_OP_MIN || op->code == RG_OP_MAX) {
        x = op->args[0], y = op->args[1];
        any = (op->code == RG_OP_MIN) != at->lower;
    } else if (op->code == RG_OP_SELECT) {
        x = op->args[1], y = op->args[2];
        any = is_least_or_most(op, &least) && least != at->lower;
    } else {
        return false;
    }
    bool first = positive_with_value(q, at, x, 0, later);
    return first == any ? any : positive_with_value(q, at, y, 0, later);
}

/* whether the carried value's next one is not below (above) the first, if this one is not */
static bool
stays_beyond_first(proof *q, const ir_value *carried, const ir_value *first, const ir_value *next, bool lower)
{
    proof outer = *q;
    q->later = NULL;
    q->assumed = (assumption){carried, lower};
    poly x = poly_at(q, next, false), y = poly_at(q, first, false), one = poly_const(1);
    poly difference = lower ? poly_add(&x, &y, -1) : poly_add(&y, &x, -1);
    difference = poly_add(&difference, &one, 1);
    bool stays = is_above_zero(q, &difference);
    q->later = outer.later;
    q->assumed = outer.assumed;
    return stays;
}

/* A carried value is never below (above) its first one, if it does not get there from one that is not. */
static bool
positive_by_first(proof *q, const place *at, poly_factor f)
{
    bool later = f.axis & LATER;
    ir_source s = {0};
    if (!ir_next_source(f.value, &s))
        return false;
    const ir_value *first = s.value;
    bool assumed = f.value == q->assumed.carried;
    bool beyond = assumed ? at->lower == q->assumed.lower
                          : ir_next_source(f.value, &s) && stays_beyond_first(q, f.value, first, s.value, at->lower);
    return beyond && positive_with_value(q, at, first, 0, later);
}

/* what an if or a loop gives: each of the values that it may be */
static bool
positive_by_source(proof *q, const place *at, poly_factor f)
{
    bool later = f.axis & LATER, any = false;
    for (ir_source s = {0}; ir_next_source(f.value, &s); any = true)
        if (!positive_with_value(q, at, s.value, 0, later))
            return false;
    return any;
}

static bool
positive_by_range(proof *q, const place *at, poly_factor f)
{
    poly_factor plain = factor_before(f);
    range r = poly_factor_range(&plain);
    wide bound = at->lower ? r.min : r.max;
    if (bound < -FAR || bound > FAR)
        return false;
    poly c = poly_const((int64_t)bound);
    return positive_with(q, at, &c);
}

/* A loop around an access runs: its bounds are at least one apart, and what one of them is made of is bounded by the rest. (That holds for
 * the iterations of the accesses, not for those that an assumption is about.) */
static bool
positive_by_run(proof *q, const place *at, poly_factor f, const ir_op *access, bool later)
{
    for (const ir_region *r = access->parent; r->op && !q->assumed.carried; r = r->op->parent) {
        const ir_value *from, *to;
        int64_t step, c;
        poly coefficient, rest, self = poly_of_factor(f), one = poly_const(1);
        if (!r->nparams || !ir_is_counted(r->params[0], &from, &to, &step))
            continue;
        poly low = poly_at(q, step > 0 ? from : to, later), high = poly_at(q, step > 0 ? to : from, later), room = poly_add(&high, &low, -1);
        room = poly_add(&room, &one, -1);
        if (!room.known || !poly_split(&room, &f, &coefficient, &rest) || !poly_is_const(&coefficient, &c) || c != (at->lower ? 1 : -1))
            continue;
        poly bound = poly_add(&self, &room, -c); /* room >= 0 */
        if (positive_with(q, at, &bound))
            return true;
    }
    return false;
}

/* -- proofs ------------------------------------------------------------------------------------------------------------ */
static uint32_t
nesting_of(const ir_region *r)
{
    uint32_t depth = 0;
    for (; r; r = r->op ? r->op->parent : NULL)
        depth++;
    return depth;
}

/* the factor of the innermost region; of one region, the one that was computed last */
static const poly_factor *
innermost_factor(const poly *e)
{
    const poly_factor *found = NULL;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t k = 0; k < e->term[i].n; k++) {
            const poly_factor *f = &e->term[i].factor[k];
            uint32_t depth = 2 * nesting_of(f->value->region) + (f->value->def != NULL);
            if (!found || depth > deepest || (depth == deepest && f->value->id > found->value->id))
                found = f, deepest = depth;
        }
    return found;
}

static wide
least_of(const poly *e)
{
    poly plain = *e;
    for (uint32_t i = 0; i < plain.n; i++)
        for (uint32_t k = 0; k < plain.term[i].n; k++)
            plain.term[i].factor[k] = factor_before(plain.term[i].factor[k]);
    return poly_range(&plain).min;
}

static bool
positive_by_bound(proof *q, const place *at, poly_factor f)
{
    bool plain = !factor_before(f).axis, found = false;
    if (plain && f.value->def)
        found = f.value->def->nregions ? positive_by_source(q, at, f) : positive_by_choice(q, at, f);
    else if (plain)
        found = positive_by_pace(q, at, f) || positive_by_count(q, at, f) || positive_by_first(q, at, f);
    return found || positive_by_range(q, at, f) || positive_by_run(q, at, f, q->a, false) || positive_by_run(q, at, f, q->b, true);
}

static bool
is_not_negative(proof *q, const poly *e)
{
    poly one = poly_const(1), more = poly_add(e, &one, 1);
    return is_above_zero(q, &more);
}

/* whether e is more than 0, whatever the values are that it is made of */
static bool
is_above_zero(proof *q, const poly *e)
{
    int64_t c;
    if (!e->known || ++q->steps > MOST_STEPS)
        return false;
    if (poly_is_const(e, &c))
        return c > 0;
    if (least_of(e) > 0)
        return true;
    place at;
    const poly_factor f = *innermost_factor(e);
    if (!poly_split(e, &f, &at.coefficient, &at.rest))
        return false;
    poly zero = poly_const(0), negated = poly_add(&zero, &at.coefficient, -1);
    at.lower = is_not_negative(q, &at.coefficient);
    return (at.lower || is_not_negative(q, &negated)) && positive_by_bound(q, &at, f);
}

static bool
differ_by_sign(proof *q, uint32_t k)
{
    poly x = poly_at(q, q->a->args[k], false), y = poly_at(q, q->b->args[k], true);
    for (int64_t sign = -1; sign <= 1; sign += 2) {
        poly zero = poly_const(0), d = poly_add(&zero, &y, sign);
        d = poly_add(&d, &x, -sign);
        q->steps = 0;
        if (is_above_zero(q, &d))
            return true;
    }
    return false;
}

bool
apart_always(const ir_op *a, const ir_op *b, uint32_t k, apart_when when, const ir_op *loop)
{
    proof q = {.in = integers_begin(), .a = a, .b = b, .later = when == APART_LATER ? loop : NULL};
    bool parallel = q.later && loop->code == RG_OP_PARALLEL && loop->attr.rank == 1;
    if (q.later && loop->code == RG_OP_FOR)
        q.pace = loop->attr.step;
    bool differ;
    if (parallel) { /* threads before and behind */
        q.pace = 1;
        differ = differ_by_sign(&q, k);
        q.pace = -1;
        differ = differ && differ_by_sign(&q, k);
    } else {
        differ = differ_by_sign(&q, k);
    }
    integers_end(&q.in);
    return differ;
}
