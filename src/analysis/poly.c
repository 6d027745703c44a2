/* Polynomials over integer values. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/poly.h"

#include "analysis/induction.h"

#include <math.h>

enum { DEPTH = 24 };

/* -- algebra --------------------------------------------------------------------------------------- */
static int
compare_factors(const poly_factor *a, const poly_factor *b)
{
    if (a->value->id != b->value->id)
        return a->value->id < b->value->id ? -1 : 1;
    return a->axis < b->axis ? -1 : a->axis > b->axis;
}

static bool
same_factors(const poly_term *a, const poly_term *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (compare_factors(&a->factor[i], &b->factor[i]))
            return false;
    return true;
}

static void
add_term(poly *p, const poly_term *t)
{
    if (!p->known || !t->c)
        return;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!same_factors(&p->term[i], t))
            continue;
        if (__builtin_add_overflow(p->term[i].c, t->c, &p->term[i].c))
            p->known = false;
        else if (!p->term[i].c)
            p->term[i] = p->term[--p->n];
        return;
    }
    if (p->n == POLY_TERMS)
        p->known = false;
    else
        p->term[p->n++] = *t;
}

poly
poly_const(int64_t c)
{
    poly p = {.known = true};
    add_term(&p, &(poly_term){.c = c});
    return p;
}

static poly
of_factor(poly_factor f)
{
    poly p = {.known = true, .n = 1};
    p.term[0] = (poly_term){.c = 1, .n = 1, .factor = {f}};
    return p;
}

poly
poly_add(const poly *a, const poly *b, int64_t scale)
{
    poly p = *a;
    p.known = a->known && b->known;
    for (uint32_t i = 0; i < b->n; i++) {
        poly_term t = b->term[i];
        if (__builtin_mul_overflow(t.c, scale, &t.c))
            p.known = false;
        add_term(&p, &t);
    }
    return p;
}

static bool
multiply_terms(const poly_term *a, const poly_term *b, poly_term *out)
{
    *out = *a;
    if (a->n + b->n > POLY_FACTORS || __builtin_mul_overflow(a->c, b->c, &out->c))
        return false;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t at = out->n++;
        for (; at && compare_factors(&b->factor[i], &out->factor[at - 1]) < 0; at--)
            out->factor[at] = out->factor[at - 1];
        out->factor[at] = b->factor[i];
    }
    return true;
}

poly
poly_mul(const poly *a, const poly *b)
{
    poly p = {.known = a->known && b->known};
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < b->n; k++) {
            poly_term t;
            if (multiply_terms(&a->term[i], &b->term[k], &t))
                add_term(&p, &t);
            else
                p.known = false;
        }
    return p;
}

bool
poly_is_const(const poly *p, int64_t *c)
{
    if (!p->known || p->n > 1 || (p->n == 1 && p->term[0].n))
        return false;
    *c = p->n ? p->term[0].c : 0;
    return true;
}

bool
poly_equal(const poly *a, const poly *b)
{
    poly d = poly_add(a, b, -1);
    return d.known && d.n == 0;
}

bool
poly_split(const poly *p, const poly_factor *f, poly *coefficient, poly *rest)
{
    *coefficient = *rest = (poly){.known = p->known};
    for (uint32_t i = 0; i < p->n; i++) {
        poly_term t = {.c = p->term[i].c};
        uint32_t found = 0;
        for (uint32_t k = 0; k < p->term[i].n; k++)
            if (compare_factors(&p->term[i].factor[k], f) == 0)
                found++;
            else
                t.factor[t.n++] = p->term[i].factor[k];
        if (found > 1)
            return false;
        add_term(found ? coefficient : rest, found ? &t : &p->term[i]);
    }
    return p->known;
}

/* -- bounds ------------------------------------------------------------------------------------------ */

/* A scalar parameter that is the extent of an array is no negative number. */
static bool
is_extent(const ir_value *v)
{
    const ir_fn *fn = v->region->fn;
    const ir_op *shape = fn->shape && v->region == fn->body ? ir_terminator(fn->shape) : NULL;
    for (uint32_t i = 0; shape && i < shape->nargs; i++) {
        const ir_value *e = shape->args[i];
        while (e->def && e->def->code == RG_OP_CAST && ir_is_int((rg_dtype)e->def->args[0]->type.dtype) &&
               ir_bits((rg_dtype)e->type.dtype) == 64 && ir_is_signed((rg_dtype)e->type.dtype))
            e = e->def->args[0];
        if (e == v)
            return true;
    }
    return false;
}

static void
bounds_of_type(rg_dtype d, double *lo, double *hi)
{
    bool is_signed = ir_is_signed(d);
    *lo = is_signed ? -ldexp(1, (int)ir_bits(d) - 1) : 0;
    *hi = ldexp(1, (int)ir_bits(d) - is_signed) - (ir_bits(d) < 64);
}

void
poly_factor_bounds(const poly_factor *f, double *lo, double *hi)
{
    if (f->axis) { /* no array has more elements than an address space of 48 bits has bytes */
        *lo = 0;
        *hi = 0x1p48;
        return;
    }
    const ir_op *op = f->value->def;
    uint64_t bits;
    rg_dtype d = (rg_dtype)f->value->type.dtype;
    bounds_of_type(d, lo, hi);
    if (!op && is_extent(f->value))
        *lo = fmax(*lo, 0);
    bool modest = op && op->nargs == 2 && ir_is_const(op->args[1], &bits) && bits < (uint64_t)1 << 48;
    if (modest && op->code == RG_OP_AND) {
        *lo = 0;
        *hi = (double)bits;
    } else if (modest && op->code == RG_OP_REM && bits) {
        *lo = ir_is_signed(d) ? -((double)bits - 1) : 0;
        *hi = (double)bits - 1;
    }
}

/* what a term lies between; false: numbers that f64 may not hold */
static bool
bounds_of_term(const poly_term *t, double *lo, double *hi)
{
    *lo = *hi = (double)t->c;
    for (uint32_t i = 0; i < t->n; i++) {
        double l, h;
        poly_factor_bounds(&t->factor[i], &l, &h);
        double a = *lo * l, b = *lo * h, c = *hi * l, d = *hi * h;
        *lo = fmin(fmin(a, b), fmin(c, d));
        *hi = fmax(fmax(a, b), fmax(c, d));
    }
    return fabs(*lo) <= 0x1p50 && fabs(*hi) <= 0x1p50;
}

double
poly_magnitude(const poly *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        double l, h;
        bounds_of_term(&p->term[i], &l, &h);
        sum += fmax(fabs(l), fabs(h));
    }
    return p->known ? sum : INFINITY;
}

int
poly_sign(const poly *p)
{
    double lo = 0, hi = 0;
    bool exact = p->known, below = p->known, above = p->known;
    for (uint32_t i = 0; i < p->n; i++) {
        double l, h;
        exact &= bounds_of_term(&p->term[i], &l, &h);
        above &= l >= 0; /* sums of such need no exact bounds */
        below &= h < 0;
        lo += l;
        hi += h;
    }
    if (above || (exact && lo >= 0))
        return 1;
    return (below && p->n) || (exact && hi < 0) ? -1 : 0;
}

/* -- of values ----------------------------------------------------------------------------------------- */
enum { FEW = 64 };

typedef struct seen {
    uint64_t key;
    poly p;
} seen;

/* One question. Values that many others are made of are taken apart once, for each depth: in `k = k + k` n times over
 * there are 2^n ways to the first. Most questions are small and remember nothing. */
typedef struct question {
    poly_claims *claims;
    uint32_t visits;
    map number; /* (value, depth) -> index in seen + 1 */
    vec(seen) seen;
} question;

static void
release_question(void *user)
{
    question *q = user;
    map_free(&q->number);
    vec_free(&q->seen);
}

static poly
remember(question *q, uint64_t key, const poly *p)
{
    if (q->visits > FEW) {
        seen s = {key, *p};
        vec_push(&q->seen, s);
        map_set(&q->number, key, (void *)q->seen.n);
    }
    return *p;
}

/* claims go, and with them what was seen when they were made */
static void
go_back(question *q, size_t claims, size_t count)
{
    q->claims->n = claims;
    while (q->seen.n > count)
        map_set(&q->number, vec_pop(&q->seen).key, NULL);
}

static poly at_depth(const ir_value *v, question *q, unsigned depth);

static void
claim(poly_claims *claims, const poly *p, rg_dtype d)
{
    poly_claim c = {*p, d};
    vec_push(claims, c);
}

static bool
holds_all_of(rg_dtype to, rg_dtype from)
{
    if (ir_is_signed(from) && !ir_is_signed(to))
        return false;
    return ir_bits(to) > ir_bits(from) ||
           (ir_bits(to) == ir_bits(from) && ir_is_signed(to) == ir_is_signed(from));
}

/* A carried value that keeps step with the loop's counter (a pointer that moves on, most often):
 * start + pace * (counter - first). */
typedef struct follower {
    const ir_value *start, *counter, *first;
    int64_t pace;
} follower;

static const ir_value *
counter_of(const ir_op *loop)
{
    ir_value *start;
    uint64_t step;
    for (uint32_t i = 0; i < loop->regions[0]->nparams; i++)
        if (ir_is_induction(loop, loop->regions[0]->params[i], &start, &step) &&
            (step == 1 || loop->code == RG_OP_FOR))
            return loop->regions[0]->params[i];
    return NULL;
}

static bool
follows(const ir_value *v, follower *out)
{
    const ir_op *loop = v->def ? NULL : v->region->op;
    ir_value *start, *first;
    uint64_t step, pace;
    if (!loop || (loop->code != RG_OP_FOR && loop->code != RG_OP_LOOP))
        return false;
    const ir_value *counter = counter_of(loop);
    if (!counter || counter == v || !ir_is_induction(loop, v, &start, &step) ||
        !ir_is_induction(loop, counter, &first, &pace) || !pace || (int64_t)step % (int64_t)pace)
        return false;
    *out = (follower){start, counter, first, (int64_t)step / (int64_t)pace};
    return true;
}

/* sums and products are right modulo 2^bits, whatever wraps inside of them */
static bool
is_taken_apart(const ir_value *v)
{
    follower f;
    if (!v->def)
        return follows(v, &f);
    return v->def->code == RG_OP_ADD || v->def->code == RG_OP_SUB || v->def->code == RG_OP_MUL ||
           v->def->code == RG_OP_NEG;
}

static poly
of_follower(const follower *f, question *q, unsigned depth)
{
    poly start = at_depth(f->start, q, depth - 1), first = at_depth(f->first, q, depth - 1);
    poly counter = of_factor(poly_factor_of(f->counter)), passed = poly_add(&counter, &first, -1);
    if (is_taken_apart(f->first))
        claim(q->claims, &first, (rg_dtype)f->first->type.dtype);
    return poly_add(&start, &passed, f->pace);
}

static poly
of_cast(const ir_value *v, question *q, unsigned depth)
{
    const ir_value *from = v->def->args[0];
    rg_dtype to = (rg_dtype)v->type.dtype, d = (rg_dtype)from->type.dtype;
    poly p = at_depth(from, q, depth - 1);
    if (is_taken_apart(from))
        claim(q->claims, &p, d);
    if (!holds_all_of(to, d))
        claim(q->claims, &p, to);
    return p;
}

static poly
of_arithmetic(const ir_op *op, question *q, unsigned depth)
{
    poly a = at_depth(op->args[0], q, depth - 1);
    if (op->code == RG_OP_NEG) {
        poly zero = poly_const(0);
        return poly_add(&zero, &a, -1);
    }
    poly b = at_depth(op->args[1], q, depth - 1);
    return op->code == RG_OP_MUL ? poly_mul(&a, &b)
                                 : poly_add(&a, &b, op->code == RG_OP_ADD ? 1 : -1);
}

static poly
at_depth(const ir_value *v, question *q, unsigned depth)
{
    uint64_t bits;
    const ir_op *op = v->def;
    size_t claims = q->claims->n, count = q->seen.n;
    poly p = {.known = false};
    if (v->type.kind != IR_SCALAR || !ir_is_int((rg_dtype)v->type.dtype))
        return p;
    if (ir_is_const(v, &bits))
        return poly_const((int64_t)bits);
    uint64_t key = hash_u64(map_ptr(v), depth);
    size_t number = q->visits++ > FEW ? (size_t)map_get(&q->number, key) : 0;
    if (number)
        return q->seen.at[number - 1].p;
    follower f;
    if (depth && !op && follows(v, &f))
        p = of_follower(&f, q, depth);
    else if (depth && op && is_taken_apart(v))
        p = of_arithmetic(op, q, depth);
    else if (depth && op && op->code == RG_OP_CAST && op->args[0]->type.kind == IR_SCALAR &&
             ir_is_int((rg_dtype)op->args[0]->type.dtype))
        p = of_cast(v, q, depth);
    else if (op && op->code == RG_OP_EXTENT)
        p = poly_of_extent(op->args[0], (uint32_t)op->attr.bits, q->claims);
    if (!p.known) { /* not taken apart: it is what it is */
        go_back(q, claims, count);
        p = of_factor(poly_factor_of(v));
    }
    return remember(q, key, &p);
}

poly
poly_of(const ir_value *v, poly_claims *claims)
{
    question q = {.claims = claims};
    mem_owner owns;
    mem_own(&owns, release_question, &q);
    poly p = at_depth(v, &q, DEPTH);
    mem_disown(&owns);
    release_question(&q);
    if (is_taken_apart(v))
        claim(claims, &p, (rg_dtype)v->type.dtype);
    if (!holds_all_of(RG_I64, (rg_dtype)v->type.dtype))
        claim(claims, &p, RG_I64);
    return p;
}

/* A picked buffer has the extents of all that it may be, where they are the same. */
static poly
of_picked_extent(const ir_op *pick, uint32_t axis, poly_claims *claims)
{
    poly first = poly_of_extent(pick->args[1], axis, claims);
    for (uint32_t i = 2; i < pick->nargs; i++) {
        poly next = poly_of_extent(pick->args[i], axis, claims);
        if (!poly_equal(&first, &next))
            return (poly){.known = false};
    }
    return first;
}

poly
poly_of_extent(const ir_value *buffer, uint32_t axis, poly_claims *claims)
{
    uint64_t bits;
    size_t before = claims->n;
    const ir_value *declared = ir_declared_extent(buffer, axis);
    poly p = {.known = false};
    if (declared && !(ir_is_const(declared, &bits) && (int64_t)bits < 0))
        p = poly_of(declared, claims);
    else if (buffer->def && buffer->def->code == RG_OP_PICK)
        p = of_picked_extent(buffer->def, axis, claims);
    if (p.known)
        return p;
    claims->n = before;
    return of_factor((poly_factor){buffer, axis + 1});
}
