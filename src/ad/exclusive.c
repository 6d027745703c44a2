/* Which threads of a parallel loop can meet in an array. SPDX-License-Identifier: Apache-2.0
 *
 * Two threads of a task differ in some parallel index. They name different elements if they differ in
 * some subscript and all subscripts but the first stay inside their extents: C walks rows of arrays
 * through pointers, [0][m + j] is [1][j].
 *
 * A subscript is a polynomial
 *
 *     c_1 p_1 + ... + c_r p_r + rest          p: parallel indices; the same c in every access
 *
 * and gives away its indices as the digits of a number do: if each |c| is greater than what the terms
 * with smaller ones and the rests of any two accesses can make up. Indices that another subscript has
 * given away are known, and do not count. What is not decided by looking (x[i * d + k]: is k < d, does
 * i * d wrap?) becomes a condition over values known when the task is launched. */
#include "ad/exclusive.h"

#include "ir/induction.h"

enum { ACCESSES_MAX = 512, BOUNDS_MAX = 10, STEPS_MAX = 24, CLAIMS_MAX = 1000 };

typedef struct search {
    const ad_activity *activity;
    const ir_op *task;
    ir_value *buffer;
    const ir_op *at;                  /* the access being looked at */
    vec(const ir_op *) accesses;
    vec(const ir_value *) roots;      /* of buffer */
    bool shares_root;
    poly_claims claims;
    vec(poly) conditions;
    bool known[RG_MAX_RANK];          /* by parallel index: some subscript gives it away */
    bool asks;                        /* conditions may be left to the launch */
    bool checking;                    /* claims are being looked at */
    const char *why;
} search;

static bool
fail(search *s, const char *why)
{
    if (!s->why)
        s->why = why;
    return false;
}

/* -- the accesses ---------------------------------------------------------------------------------- */
static void
add_root(ir_value *root, void *user)
{
    search *s = user;
    vec_push(&s->roots, root);
}

static void
compare_root(ir_value *root, void *user)
{
    search *s = user;
    for (size_t i = 0; i < s->roots.n; i++)
        s->shares_root |= s->roots.at[i] == root;
}

/* the same element at the same time tells nothing new */
static bool
is_known(const search *s, const ir_op *op)
{
    uint32_t axes = op->args[0]->type.rank;
    for (size_t i = 0; i < s->accesses.n; i++) {
        const ir_op *other = s->accesses.at[i];
        if (other->args[0] == op->args[0] && other->parent == op->parent &&
            memcmp(other->args, op->args, (1 + axes) * sizeof(*op->args)) == 0)
            return true;
    }
    return false;
}

static bool
collect(ir_op *op, void *user)
{
    search *s = user;
    bool is_access = op->code == RG_OP_LOAD || op->code == RG_OP_STORE || op->code == RG_OP_RMW;
    for (uint32_t i = 0; op->code == RG_OP_CALL && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            fail(s, "a function gets it");
    if (!is_access || op->args[0]->type.kind != IR_BUFFER ||
        (op->code == RG_OP_LOAD && !ad_is_active(s->activity, op->results[0])))
        return true;
    s->shares_root = false;
    ir_buffer_roots(op->args[0], compare_root, s);
    if (s->shares_root && !is_known(s, op))
        vec_push(&s->accesses, op);
    return s->accesses.n <= ACCESSES_MAX;
}

/* -- conditions ------------------------------------------------------------------------------------ */
static bool
require(search *s, const poly *p)
{
    int sign = poly_sign(p);
    if (sign > 0)
        return true;
    if (sign < 0 || !p->known || !s->asks)
        return false;
    for (size_t i = 0; i < s->conditions.n; i++)
        if (poly_equal(&s->conditions.at[i], p))
            return true;
    if (s->conditions.n == AD_CONDITIONS)
        return false;
    vec_push(&s->conditions, *p);
    return true;
}

/* a - b - c >= 0 */
static bool
require_apart(search *s, const poly *a, const poly *b, int64_t c)
{
    poly d = poly_add(a, b, -1), constant = poly_const(c);
    d = poly_add(&d, &constant, -1);
    return require(s, &d);
}

/* -- bounds over what varies in the task ------------------------------------------------------------ */
static bool bound(search *s, poly p, bool upper, poly *out);

static bool
varies(const search *s, const poly_factor *f)
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
static const poly_factor *
innermost(const search *s, const poly *p)
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
fit(search *s, const poly *lower, const poly *upper, rg_dtype d)
{
    unsigned bits = ir_bits(d);
    bool is_signed = ir_is_signed(d), is_long = bits == 64;
    if (is_long && is_signed && poly_magnitude(lower) <= 0x1p62 && poly_magnitude(upper) <= 0x1p62)
        return true;
    int64_t end = (int64_t)1 << (is_long ? 50 : bits - is_signed);
    poly min = poly_const(is_signed ? -end : 0), max = poly_const(end - 1);
    return require_apart(s, lower, &min, 0) && require_apart(s, &max, upper, 0);
}

/* that the values which the polynomials were made of did not wrap */
static bool
check_claims(search *s)
{
    bool ok = true;
    s->checking = true;
    for (unsigned step = 0; ok && s->claims.n; step++) {
        poly_claim c = vec_pop(&s->claims);
        poly lower, upper;
        ok = step < CLAIMS_MAX && bound(s, c.p, false, &lower) && bound(s, c.p, true, &upper) &&
             fit(s, &lower, &upper, c.dtype);
    }
    s->checking = false;
    return ok || fail(s, "a subscript may wrap");
}

static bool
take(search *s, const ir_value *v, int64_t offset, poly *out)
{
    poly constant = poly_const(offset), p;
    p = poly_of(v, &s->claims);
    *out = poly_add(&p, &constant, 1);
    /* whoever is at claims goes on with these */
    return out->known && (s->checking || check_claims(s));
}

/* `while (k + offset < end)` in the loop, offset >= 0, before what is being looked at */
static bool
tested_end(const search *s, const ir_op *loop, const ir_value *param, const ir_value **end,
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
        ir_affine a = ir_affine_of(test->args[0]);
        *end = test->args[1];
        *offset = a.constant;
        if (a.known && a.n == 1 && a.term[0].symbol == param && a.term[0].coefficient == 1 &&
            test->args[0]->type.dtype == param->type.dtype)
            return true;
    }
    return false;
}

/* A counter of a loop with such a test, counting by ones, passes no value that wraps when the first,
 * plus the offset, does not. */
static bool
limit_counter(search *s, const ir_op *loop, const ir_value *v, bool upper, poly *out)
{
    ir_value *start;
    const ir_value *end;
    uint64_t step;
    int64_t offset;
    if (!loop || loop->code != RG_OP_LOOP || !ir_is_induction(loop, v, &start, &step) || step != 1 ||
        !tested_end(s, loop, v, &end, &offset) || offset < 0 || offset > INT32_MAX)
        return false;
    poly constant = poly_const(offset);
    poly_claim c = {poly_of(start, &s->claims), (rg_dtype)v->type.dtype};
    c.p = poly_add(&c.p, &constant, 1);
    vec_push(&s->claims, c);
    return take(s, upper ? end : start, upper ? -1 - offset : 0, out);
}

/* the least or greatest value of something that varies, over what is further out */
static bool
limit(search *s, const poly_factor *f, bool upper, poly *out)
{
    const ir_value *v = f->value;
    const ir_op *loop = v->def ? NULL : v->region->op;
    if (loop && loop->code == RG_OP_PARALLEL && v->index < loop->attr.rank)
        return take(s, loop->args[v->index + (upper ? loop->attr.rank : 0)], upper ? -1 : 0, out);
    if (loop && loop->code == RG_OP_FOR && v->index == 0) {
        bool up = loop->attr.step > 0; /* down: hi < index <= lo */
        return take(s, loop->args[upper == up], upper == up ? (up ? -1 : 1) : 0, out);
    }
    if (limit_counter(s, loop, v, upper, out))
        return true;
    double lo, hi;
    poly_factor_bounds(f, &lo, &hi);
    if (!v->def || hi > 0x1p30 || lo < -0x1p30)
        return fail(s, "a subscript is not affine in the loops' indices");
    *out = poly_const((int64_t)(upper ? hi : lo));
    return true;
}

static bool
bound(search *s, poly p, bool upper, poly *out)
{
    const poly_factor *found;
    for (unsigned step = 0; p.known && (found = innermost(s, &p)); step++) {
        poly_factor f = *found;
        poly coefficient, rest, end;
        if (step == STEPS_MAX || !poly_split(&p, &f, &coefficient, &rest))
            return fail(s, "a subscript is not affine in the loops' indices");
        int sign = poly_sign(&coefficient);
        if (!sign && (innermost(s, &coefficient) || !require(s, &coefficient)))
            return fail(s, "a subscript is not affine in the loops' indices");
        if (!limit(s, &f, upper == (sign >= 0), &end))
            return false;
        end = poly_mul(&coefficient, &end);
        p = poly_add(&rest, &end, 1);
    }
    *out = p;
    return p.known;
}

/* -- what the rests of accesses lie between: those that differ by constants are one ------------------ */
typedef struct rests {
    uint32_t n;
    struct {
        poly lower, upper;
    } at[BOUNDS_MAX];
} rests;

static bool
differ_by_constant(const poly *a, const poly *b, int64_t *apart)
{
    poly d = poly_add(a, b, -1);
    return poly_is_const(&d, apart);
}

static bool
add_rest(search *s, const poly *p, rests *r)
{
    poly lower, upper;
    int64_t below, above;
    if (!bound(s, *p, false, &lower) || !bound(s, *p, true, &upper))
        return false;
    for (uint32_t i = 0; i < r->n; i++) {
        if (!differ_by_constant(&lower, &r->at[i].lower, &below) ||
            !differ_by_constant(&upper, &r->at[i].upper, &above))
            continue;
        if (below < 0)
            r->at[i].lower = lower;
        if (above > 0)
            r->at[i].upper = upper;
        return true;
    }
    if (r->n == BOUNDS_MAX)
        return fail(s, "too many accesses");
    r->at[r->n].lower = lower;
    r->at[r->n++].upper = upper;
    return true;
}

/* -- one subscript ------------------------------------------------------------------------------------- */
static poly
subscript(search *s, const ir_op *access, uint32_t axis)
{
    s->at = access;
    return poly_of(access->args[1 + axis], &s->claims);
}

/* the subscript of all accesses, as digits */
typedef struct digits {
    poly c[RG_MAX_RANK];    /* by parallel index */
    poly most[RG_MAX_RANK]; /* last value of the index less its first */
    poly reach;             /* of all digits together: how far apart two threads' subscripts can be */
    rests rests;
} digits;

/* p without the terms of parallel indices, whose coefficients are the first access's (or become so) */
static bool
take_indices(search *s, poly *p, digits *d, bool first)
{
    for (uint32_t k = 0; k < s->task->attr.rank; k++) {
        poly_factor f = poly_factor_of(s->task->regions[0]->params[k]);
        poly c, rest;
        if (!poly_split(p, &f, &c, &rest) || innermost(s, &c))
            return fail(s, "a subscript is not affine in the loops' indices");
        if (first)
            d->c[k] = c;
        else if (!poly_equal(&c, &d->c[k]))
            return fail(s, "its subscripts depend on the loop's indices in different ways");
        *p = rest;
    }
    return true;
}

static bool
read_digits(search *s, uint32_t axis, digits *d)
{
    for (size_t i = 0; i < s->accesses.n; i++) {
        poly p = subscript(s, s->accesses.at[i], axis);
        if (!check_claims(s) || !take_indices(s, &p, d, i == 0) ||
            !add_rest(s, &p, &d->rests))
            return false;
    }
    return true;
}

/* more factors, or a greater constant: the higher digit, if any is */
static bool
is_higher(const poly *a, const poly *b)
{
    const poly_term *x = &a->term[0], *y = &b->term[0];
    uint64_t cx = x->c < 0 ? 0 - (uint64_t)x->c : (uint64_t)x->c;
    uint64_t cy = y->c < 0 ? 0 - (uint64_t)y->c : (uint64_t)y->c;
    return x->n != y->n ? x->n > y->n : cx > cy;
}

static poly
magnitude(const poly *c)
{
    poly zero = poly_const(0);
    for (uint32_t i = 0; i < c->n; i++)
        if (c->term[i].c > 0)
            return *c;
    return poly_add(&zero, c, -1);
}

/* a lies above b, by more than threads can make up for */
static bool
is_far_above(const poly *a, const poly *b, const digits *d)
{
    poly gap = poly_add(a, b, -1), one = poly_const(1);
    gap = poly_add(&gap, &d->reach, -1);
    gap = poly_add(&gap, &one, -1);
    return gap.known && poly_sign(&gap) > 0;
}

/* c >= 1 + what the lower digits make up + the distance of any two rests that are not far apart (steps
 * of time in one array). With c = 1 only loops that hardly run would pass a test. */
static bool
stands_out(search *s, const poly *c, const poly *lower_digits, const digits *d)
{
    int64_t number;
    bool asked = s->asks, ok = true;
    s->asks = asked && !(poly_is_const(c, &number) && number == 1);
    for (uint32_t i = 0; i < d->rests.n && ok; i++)
        for (uint32_t k = 0; k < d->rests.n && ok; k++) {
            const poly *upper = &d->rests.at[i].upper, *lower = &d->rests.at[k].lower;
            if (i != k && (is_far_above(&d->rests.at[i].lower, &d->rests.at[k].upper, d) ||
                           is_far_above(&d->rests.at[k].lower, &d->rests.at[i].upper, d)))
                continue;
            poly span = poly_add(upper, lower, -1);
            span = poly_add(&span, lower_digits, 1);
            ok = require_apart(s, c, &span, 1);
        }
    s->asks = asked;
    return ok || fail(s, "threads' elements overlap");
}

static bool
extent_of_index(search *s, uint32_t k, poly *most)
{
    poly lo, last;
    poly_factor f = poly_factor_of(s->task->regions[0]->params[k]);
    if (!limit(s, &f, false, &lo) || !limit(s, &f, true, &last))
        return false;
    *most = poly_add(&last, &lo, -1);
    return true;
}

/* Gives away all indices in this subscript that are not yet known; false: nothing new. */
static bool
look_at_axis(search *s, uint32_t axis)
{
    digits *d = arena_one(s->task->parent->fn->module->arena, digits);
    uint32_t order[RG_MAX_RANK], n = 0;
    if (!read_digits(s, axis, d))
        return false;
    for (uint32_t k = 0; k < s->task->attr.rank; k++) {
        if (s->known[k] || !d->c[k].n)
            continue;
        uint32_t at = n++;
        for (; at && is_higher(&d->c[k], &d->c[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    d->reach = poly_const(0);
    for (uint32_t i = 0; i < n; i++) {
        poly c = magnitude(&d->c[order[i]]), *most = &d->most[order[i]];
        if (!extent_of_index(s, order[i], most))
            return false;
        c = poly_mul(&c, most);
        d->reach = poly_add(&d->reach, &c, 1);
    }
    poly below = poly_const(0);
    for (uint32_t i = n; i-- > 0;) {
        poly c = magnitude(&d->c[order[i]]);
        if (!stands_out(s, &c, &below, d))
            return false;
        c = poly_mul(&c, &d->most[order[i]]);
        below = poly_add(&below, &c, 1);
    }
    for (uint32_t i = 0; i < n; i++)
        s->known[order[i]] = true;
    return n > 0;
}

static bool
all_known(const search *s)
{
    for (uint32_t k = 0; k < s->task->attr.rank; k++)
        if (!s->known[k])
            return false;
    return true;
}

/* First by what is certain, then by what the launch can test. */
static bool
find_indices(search *s)
{
    arena *arena = s->task->parent->fn->module->arena;
    for (int asks = 0; asks <= 1; asks++)
        for (bool more = true; more && !all_known(s);) {
            more = false;
            for (uint32_t axis = 0; axis < s->buffer->type.rank && !all_known(s); axis++) {
                arena_mark mark = arena_here(arena);
                size_t conditions = s->conditions.n;
                s->asks = asks;
                s->why = NULL;
                bool found = look_at_axis(s, axis);
                more |= found;
                if (!found)
                    s->conditions.n = conditions;
                s->claims.n = 0;
                arena_release(arena, mark);
            }
        }
    return all_known(s) || fail(s, "no subscript tells all threads apart");
}

/* -- rows ---------------------------------------------------------------------------------------------- */

/* A subscript that is the same number in all accesses moves no element to another's place. */
static bool
is_fixed(search *s, uint32_t axis)
{
    poly first = {0};
    for (size_t i = 0; i < s->accesses.n; i++) {
        poly p = subscript(s, s->accesses.at[i], axis);
        if (i == 0)
            first = p;
        if (!p.known || innermost(s, &p) || !poly_equal(&p, &first))
            return false;
    }
    return true;
}

static bool
stays_in_row(search *s, uint32_t axis)
{
    bool fixed = is_fixed(s, axis) && check_claims(s);
    s->claims.n = 0;
    s->why = NULL;
    for (size_t i = 0; i < s->accesses.n && !fixed; i++) {
        const ir_op *access = s->accesses.at[i];
        poly p = subscript(s, access, axis), lower, upper, zero = poly_const(0);
        poly extent = poly_of_extent(access->args[0], axis, &s->claims);
        if (!check_claims(s) || !bound(s, p, false, &lower) || !bound(s, p, true, &upper) ||
            !require_apart(s, &lower, &zero, 0) || !require_apart(s, &extent, &upper, 1))
            return fail(s, "a subscript may leave its row");
    }
    return true;
}

/* -- all of it ------------------------------------------------------------------------------------------- */
static void
decide(search *s)
{
    ir_walk(s->task->regions[0], collect, s);
    if (s->why)
        return;
    if (s->why)
        return;
    if (!s->buffer->type.rank)
        fail(s, "all threads add to it");
    else if (s->accesses.n > ACCESSES_MAX)
        fail(s, "too many accesses");
    else if (find_indices(s)) {
        s->asks = true;
        for (uint32_t axis = 1; axis < s->buffer->type.rank && stays_in_row(s, axis); axis++)
            continue;
    }
}

static void
release(void *object)
{
    search *s = object;
    vec_free(&s->accesses);
    vec_free(&s->roots);
    vec_free(&s->claims);
    vec_free(&s->conditions);
}

ad_exclusive
ad_exclusive_find(const ad_activity *a, const ir_op *task, ir_value *buffer)
{
    arena *arena = task->parent->fn->module->arena;
    search s = {.activity = a, .task = task, .buffer = buffer};
    ad_exclusive e = {.task = task, .buffer = buffer};
    mem_owner owns;
    mem_own(&owns, release, &s);
    ir_buffer_roots(buffer, add_root, &s);
    decide(&s);
    e.why = s.why;
    e.n = e.why ? 0 : (uint32_t)s.conditions.n;
    e.condition = arena_new_n(arena, const poly *, e.n + 1);
    for (uint32_t i = 0; i < e.n; i++) {
        poly *kept = arena_one(arena, poly);
        *kept = s.conditions.at[i];
        e.condition[i] = kept;
    }
    mem_disown(&owns);
    release(&s);
    return e;
}
