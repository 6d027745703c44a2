/* What varies in a parallel loop, bounded by what is known when it starts. SPDX-License-Identifier: Apache-2.0 */
#include "diff/bounds.h"

enum { STEPS_MAX = 24, CLAIMS_MAX = 1000, CONDITIONS_MAX = 24, CHOICES_MAX = 3 /* of a larger number each */ };

bool
ad_bounds_fail(ad_bounds *s, const char *why)
{
    if (!s->why)
        s->why = why;
    return false;
}

/* -- conditions ------------------------------------------------------------------------------------ */

static bool is_known_bound(ad_bounds *s, const poly *p, unsigned depth);

/* f, the larger of two numbers, is not below either of them (the smaller one: not above) */
static bool
holds_with_choice(ad_bounds *s, const poly *p, poly_factor f, unsigned depth)
{
    const ir_op *op = f.axis ? NULL : f.value->def;
    poly coefficient, rest;
    if (!op || (op->code != RG_OP_MAX && op->code != RG_OP_MIN) || !poly_split(p, &f, &coefficient, &rest) ||
        poly_sign(&coefficient) != (op->code == RG_OP_MAX ? 1 : -1))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        size_t claims = s->in.claims.n;
        poly bound = poly_of(&s->in, op->args[i]);
        bool plain = s->in.claims.n == claims;
        s->in.claims.n = claims;
        bound = poly_mul(&coefficient, &bound);
        bound = poly_add(&rest, &bound, 1);
        if (plain && is_known_bound(s, &bound, depth))
            return true;
    }
    return false;
}

static bool
is_known_bound(ad_bounds *s, const poly *p, unsigned depth)
{
    bool holds = poly_sign(p) > 0;
    for (uint32_t i = 0; i < p->n && p->known && depth && !holds; i++)
        for (uint32_t k = 0; k < p->term[i].n && !holds; k++)
            holds = holds_with_choice(s, p, p->term[i].factor[k], depth - 1);
    return holds;
}

/* p >= 0: known, or noted as a condition */
static bool
require_bound(ad_bounds *s, const poly *p)
{
    if (is_known_bound(s, p, CHOICES_MAX))
        return true;
    if (poly_sign(p) < 0 || !p->known || !s->asks)
        return false;
    for (size_t i = 0; i < s->conditions.n; i++)
        if (poly_equal(&s->conditions.at[i], p))
            return true;
    if (s->conditions.n == CONDITIONS_MAX)
        return false;
    vec_push(&s->conditions, *p);
    return true;
}

/* a - b - c >= 0 */
bool
ad_bounds_require_apart(ad_bounds *s, const poly *a, const poly *b, int64_t c)
{
    poly d = poly_add(a, b, -1), constant = poly_const(c);
    d = poly_add(&d, &constant, -1);
    return require_bound(s, &d);
}

/* -- bounds over what varies in the task ------------------------------------------------------------ */
static bool
varies(const ad_bounds *s, const poly_factor *f)
{
    return !f->axis && ir_region_inside(f->value->region, s->task->regions[0]);
}

static unsigned
depth_of(const ir_region *r)
{
    unsigned depth = 0;
    for (; r->op; r = r->op->parent)
        depth++;
    return depth;
}

/* the factor that is made innermost: its bounds may name those further out */
const poly_factor *
ad_bounds_varying(const ad_bounds *s, const poly *p)
{
    const poly_factor *found = NULL;
    unsigned deepest = 0;
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->term[i].n; k++) {
            const poly_factor *f = &p->term[i].factor[k];
            if (varies(s, f) && depth_of(f->value->region) > deepest) {
                deepest = depth_of(f->value->region);
                found = f;
            }
        }
    return found;
}

/* that numbers from lower to upper are of the type; of 64 bits a launch's test holds 50 */
static bool
fit(ad_bounds *s, const poly *lower, const poly *upper, rg_dtype d)
{
    unsigned bits = ir_bits(d);
    bool is_signed = ir_is_signed(d), is_long = bits == 64;
    range far = {-((wide)1 << 62), (wide)1 << 62};
    if (is_long && is_signed && lower->known && upper->known && range_within(poly_range(lower), far) &&
        range_within(poly_range(upper), far))
        return true;
    int64_t end = (int64_t)1 << (is_long ? 50 : bits - is_signed);
    poly min = poly_const(is_signed ? -end : 0), max = poly_const(end - 1);
    return ad_bounds_require_apart(s, lower, &min, 0) && ad_bounds_require_apart(s, &max, upper, 0);
}

/* that the values which the polynomials were made of did not wrap */
bool
ad_bounds_check(ad_bounds *s)
{
    bool ok = true;
    s->checking = true;
    for (unsigned step = 0; ok && s->in.claims.n; step++) {
        poly_claim c = vec_pop(&s->in.claims);
        poly lower, upper;
        ok = step < CLAIMS_MAX && ad_bounds_of(s, c.p, false, &lower) && ad_bounds_of(s, c.p, true, &upper) &&
             fit(s, &lower, &upper, c.dtype);
    }
    s->checking = false;
    return ok || ad_bounds_fail(s, "a subscript may wrap");
}

static bool
bounded_poly(ad_bounds *s, const ir_value *v, int64_t offset, poly *out)
{
    poly constant = poly_const(offset), p;
    p = poly_of_subscript(&s->in, v);
    *out = poly_add(&p, &constant, 1);
    /* whoever is at claims goes on with these */
    return out->known && (s->checking || ad_bounds_check(s));
}

/* `while (k + offset < end)` in the loop, offset >= 0, before what is being looked at */
static bool
tested_end(ad_bounds *s, const ir_op *loop, const ir_value *param, const ir_value **end,
           int64_t *offset)
{
    const ir_op *stop = ir_ancestor_in((ir_op *)s->at, loop->regions[0]);
    for (const ir_op *op = loop->regions[0]->first; op && op != stop; op = op->next) {
        if (op->code != RG_OP_EXIT_IF)
            continue;
        const ir_op *test = op->args[0]->def;
        bool negated = test && test->code == RG_OP_NOT;
        if (negated)
            test = test->args[0]->def;
        if (!test || test->code != (negated ? RG_OP_LT : RG_OP_GE))
            continue;
        unsigned bits;
        poly counter = poly_of_factor(poly_factor_of(param));
        poly tested = poly_modulo(&s->in, test->args[0], &bits), rest = poly_add(&tested, &counter, -1);
        *end = test->args[1];
        if (poly_is_const(&rest, offset) && bits >= ir_bits((rg_dtype)param->type.dtype) &&
            test->args[0]->type.dtype == param->type.dtype)
            return true;
    }
    return false;
}

/* A counter of a loop with such a test, counting by ones, passes no value that wraps when the first,
 * plus the offset, does not. */
static bool
limit_counter(ad_bounds *s, const ir_op *loop, const ir_value *v, bool upper, poly *out)
{
    ir_value *start;
    const ir_value *end;
    uint64_t step;
    int64_t offset;
    if (!loop || loop->code != RG_OP_LOOP || !ir_is_induction(loop, v, &start, &step) || step != 1 ||
        !tested_end(s, loop, v, &end, &offset) || offset < 0 || offset > INT32_MAX)
        return false;
    poly constant = poly_const(offset);
    poly_claim c = {poly_of(&s->in, start), (rg_dtype)v->type.dtype};
    c.p = poly_add(&c.p, &constant, 1);
    vec_push(&s->in.claims, c);
    return bounded_poly(s, upper ? end : start, upper ? -1 - offset : 0, out);
}

/* the least or greatest value of something that varies, over what is further out */
bool
ad_bounds_limit(ad_bounds *s, const poly_factor *f, bool upper, poly *out)
{
    const ir_value *v = f->value, *from, *to;
    int64_t step;
    if (ir_is_counted(v, &from, &to, &step)) { /* down: to < index <= from */
        bool last = upper == (step > 0);
        return bounded_poly(s, last ? to : from, !last ? 0 : step > 0 ? -1 : 1, out);
    }
    if (!v->def && limit_counter(s, v->region->op, v, upper, out))
        return true;
    range r = poly_factor_range(f);
    if (!v->def || !range_within(r, (range){-(1 << 30), 1 << 30}))
        return ad_bounds_fail(s, "a subscript is not affine in the loops' indices");
    *out = poly_const((int64_t)(upper ? r.max : r.min));
    return true;
}

bool
ad_bounds_of(ad_bounds *s, poly p, bool upper, poly *out)
{
    const poly_factor *found;
    for (unsigned step = 0; p.known && (found = ad_bounds_varying(s, &p)); step++) {
        poly_factor f = *found;
        poly coefficient, rest, end;
        if (step == STEPS_MAX || !poly_split(&p, &f, &coefficient, &rest))
            return ad_bounds_fail(s, "a subscript is not affine in the loops' indices");
        int sign = poly_sign(&coefficient);
        if (!sign && (ad_bounds_varying(s, &coefficient) || !require_bound(s, &coefficient)))
            return ad_bounds_fail(s, "a subscript is not affine in the loops' indices");
        if (!ad_bounds_limit(s, &f, upper == (sign >= 0), &end))
            return false;
        end = poly_mul(&coefficient, &end);
        p = poly_add(&rest, &end, 1);
    }
    *out = p;
    return p.known;
}
