/* Which threads of a parallel loop can meet in an array. SPDX-License-Identifier: Apache-2.0
 *
 * Two threads of a task differ in some parallel index. They name different elements if they differ in
 * some subscript and all subscripts but the first stay inside their extents. Those of declared axes do (in_row);
 * through pointers C walks rows of arrays, [0][m + j] is [1][j].
 *
 * A subscript is a polynomial
 *
 *     c_1 p_1 + ... + c_r p_r + rest          p: parallel indices; the same c in every access
 *
 * and gives away its indices as the digits of a number do: if each |c| is greater than what the terms
 * with smaller ones and the rests of any two accesses can make up. Indices that another subscript has
 * given away are known, and do not count. What is not decided by looking (x[i * d + k]: is k < d, does
 * i * d wrap?) becomes a condition over values known when the task is launched. */
#include "diff/exclusive.h"
#include "analysis/access.h"
#include "analysis/effects.h"
#include "analysis/exchanged.h"

enum { ACCESSES_MAX = 512, PAIRED_MAX = 64 /* of which each is compared with one */, BOUNDS_MAX = 10 };

/* what the rests of accesses lie between: those that differ by constants are one */
typedef struct rests {
    uint32_t n;
    struct {
        poly lower, upper;
    } at[BOUNDS_MAX];
} rests;

/* the subscript of all accesses, as digits */
typedef struct digits {
    poly c[RG_MAX_RANK];    /* by parallel index */
    poly most[RG_MAX_RANK]; /* last value of the index less its first */
    poly reach;             /* of all digits together: how far apart two threads' subscripts can be */
    rests rests;
} digits;

typedef struct search {
    const ad_activity *activity;
    ad_bounds b;
    ir_value *buffer;
    vec(const ir_op *) accesses;
    size_t most;                      /* so many of them are looked at */
    vec(const ir_value *) roots;      /* of buffer */
    bool shares_root, promised; /* ...; what is found rests on subscripts of declared axes */
    digits *digits;                   /* of the axis that is being looked at */
    bool known[RG_MAX_RANK];          /* by parallel index: some subscript gives it away */
} search;

/* -- the accesses ---------------------------------------------------------------------------------- */
static void
collect_root(ir_value *root, void *user)
{
    search *s = user;
    vec_push(&s->roots, root);
}

static void
note_shared_root(ir_value *root, void *user)
{
    search *s = user;
    for (size_t i = 0; i < s->roots.n; i++)
        s->shares_root |= s->roots.at[i] == root;
}

/* the same element at the same time tells nothing new */
static bool
is_known_access(const search *s, const ir_op *op)
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
collect_accesses(ir_op *op, void *user)
{
    search *s = user;
    bool is_access = ir_is_access(op);
    for (uint32_t i = 0; op->code == RG_OP_CALL && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            ad_bounds_fail(&s->b, "a function gets it");
    if (!is_access || op->args[0]->type.kind != IR_BUFFER ||
        (op->code == RG_OP_LOAD && s->activity && !ad_is_active(s->activity, op->results[0])) || ir_are_exchanged(op->args[0], s->buffer))
        return true;
    s->shares_root = false;
    ir_buffer_roots(op->args[0], note_shared_root, s);
    if (s->shares_root && !is_known_access(s, op))
        vec_push(&s->accesses, op);
    return s->accesses.n <= s->most;
}

/* -- what the rests of accesses lie between ------------------------------------------------------------- */
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
    if (!ad_bounds_of(&s->b, *p, false, &lower) || !ad_bounds_of(&s->b, *p, true, &upper))
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
        return ad_bounds_fail(&s->b, "too many accesses");
    r->at[r->n].lower = lower;
    r->at[r->n++].upper = upper;
    return true;
}

/* -- one subscript ------------------------------------------------------------------------------------- */
static poly
subscript(search *s, const ir_op *access, uint32_t axis)
{
    s->b.at = access;
    return poly_of_subscript(&s->b.in, access->args[1 + axis]);
}

/* p without the terms of parallel indices, whose coefficients are the first access's (or become so) */
static bool
take_indices(search *s, poly *p, digits *d, bool first)
{
    for (uint32_t k = 0; k < s->b.task->attr.rank; k++) {
        poly_factor f = poly_factor_of(s->b.task->regions[0]->params[k]);
        poly c, rest;
        if (!poly_split(p, &f, &c, &rest) || ad_bounds_varying(&s->b, &c))
            return ad_bounds_fail(&s->b, "a subscript is not affine in the loops' indices");
        if (first)
            d->c[k] = c;
        else if (!poly_equal(&c, &d->c[k]))
            return ad_bounds_fail(&s->b, "its subscripts depend on the loop's indices in different ways");
        *p = rest;
    }
    return true;
}

static bool
read_digits(search *s, uint32_t axis, digits *d)
{
    for (size_t i = 0; i < s->accesses.n; i++) {
        poly p = subscript(s, s->accesses.at[i], axis);
        if (!ad_bounds_check(&s->b) || !take_indices(s, &p, d, i == 0) ||
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
    bool asked = s->b.asks, ok = true;
    s->b.asks = asked && !(poly_is_const(c, &number) && number == 1);
    for (uint32_t i = 0; i < d->rests.n && ok; i++)
        for (uint32_t k = 0; k < d->rests.n && ok; k++) {
            const poly *upper = &d->rests.at[i].upper, *lower = &d->rests.at[k].lower;
            if (i != k && (is_far_above(&d->rests.at[i].lower, &d->rests.at[k].upper, d) ||
                           is_far_above(&d->rests.at[k].lower, &d->rests.at[i].upper, d)))
                continue;
            poly span = poly_add(upper, lower, -1);
            span = poly_add(&span, lower_digits, 1);
            ok = ad_bounds_require_apart(&s->b, c, &span, 1);
        }
    s->b.asks = asked;
    return ok || ad_bounds_fail(&s->b, "threads' elements overlap");
}

static bool
extent_of_index(search *s, uint32_t k, poly *most)
{
    poly lo, last;
    poly_factor f = poly_factor_of(s->b.task->regions[0]->params[k]);
    if (!ad_bounds_limit(&s->b, &f, false, &lo) || !ad_bounds_limit(&s->b, &f, true, &last))
        return false;
    *most = poly_add(&last, &lo, -1);
    return true;
}

/* Gives away all indices in this subscript that are not yet known; false: nothing new. */
static bool
look_at_axis(search *s, uint32_t axis)
{
    digits *d = s->digits;
    uint32_t order[RG_MAX_RANK], n = 0;
    memset(d, 0, sizeof *d);
    if (!read_digits(s, axis, d))
        return false;
    for (uint32_t k = 0; k < s->b.task->attr.rank; k++) {
        if (s->known[k] || !d->c[k].n)
            continue;
        uint32_t at = n++;
        for (; at && is_higher(&d->c[k], &d->c[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    d->reach = poly_const(0);
    bool alone = n == 1 && d->rests.n == 1; /* how far the index goes does not matter */
    for (uint32_t i = 0; i < n && !alone; i++) {
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
        if (alone)
            break;
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
    for (uint32_t k = 0; k < s->b.task->attr.rank; k++)
        if (!s->known[k])
            return false;
    return true;
}

/* First by what is certain, then by what the launch can test. */
static bool
find_indices(search *s)
{
    for (int asks = 0; asks <= 1; asks++)
        for (bool more = true; more && !all_known(s);) {
            more = false;
            for (uint32_t axis = 0; axis < s->buffer->type.rank && !all_known(s); axis++) {
                size_t conditions = s->b.conditions.n;
                s->b.asks = asks;
                s->b.why = NULL;
                bool found = look_at_axis(s, axis);
                more |= found;
                if (!found)
                    s->b.conditions.n = conditions;
                s->b.in.claims.n = 0;
            }
        }
    return all_known(s) || ad_bounds_fail(&s->b, "no subscript tells all threads apart");
}

/* -- rows ---------------------------------------------------------------------------------------------- */

/* A subscript that is the same number in all accesses moves no element to another's place. */
static bool
is_fixed_axis(search *s, uint32_t axis)
{
    poly first = {0};
    for (size_t i = 0; i < s->accesses.n; i++) {
        poly p = subscript(s, s->accesses.at[i], axis);
        if (i == 0)
            first = p;
        if (!p.known || ad_bounds_varying(&s->b, &p) || !poly_equal(&p, &first))
            return false;
    }
    return true;
}

/* Subscripts of declared axes stay in their rows; others must be seen to. */
static bool
stays_in_row(search *s, uint32_t axis)
{
    bool fixed = is_fixed_axis(s, axis) && ad_bounds_check(&s->b);
    s->b.in.claims.n = 0;
    s->b.why = NULL;
    for (size_t i = 0; i < s->accesses.n && !fixed; i++) {
        const ir_op *access = s->accesses.at[i];
        if (access->in_row) {
            s->promised = true;
            continue;
        }
        poly p = subscript(s, access, axis), lower, upper, zero = poly_const(0);
        poly extent = poly_of_extent(&s->b.in, access->args[0], axis);
        if (!ad_bounds_check(&s->b) || !ad_bounds_of(&s->b, p, false, &lower) || !ad_bounds_of(&s->b, p, true, &upper) ||
            !ad_bounds_require_apart(&s->b, &lower, &zero, 0) || !ad_bounds_require_apart(&s->b, &extent, &upper, 1))
            return ad_bounds_fail(&s->b, "a subscript may leave its row");
    }
    return true;
}

/* -- all of it ------------------------------------------------------------------------------------------- */
static void
decide_exclusive(search *s)
{
    if (ir_is_single(s->b.task)) /* one thread meets nobody */
        return;
    ir_walk(s->b.task->regions[0], collect_accesses, s);
    if (s->b.why)
        return;
    if (!s->buffer->type.rank)
        ad_bounds_fail(&s->b, "all threads add to it");
    else if (s->accesses.n > ACCESSES_MAX)
        ad_bounds_fail(&s->b, "too many accesses");
    else if (find_indices(s)) {
        s->b.asks = true;
        for (uint32_t axis = 1; axis < s->buffer->type.rank && stays_in_row(s, axis); axis++)
            continue;
    }
}

ad_exclusive
ad_exclusive_find(const ad_activity *a, const ir_op *task, ir_value *buffer, arena *in)
{
    search s = {.activity = a, .b = {.task = task, .in = integers_begin()}, .buffer = buffer, .most = ACCESSES_MAX};
    s.digits = arena_one(s.b.in.in, digits);
    s.accesses.in = s.roots.in = s.b.conditions.in = in;
    ir_buffer_roots(buffer, collect_root, &s);
    decide_exclusive(&s);
    integers_end(&s.b.in);
    return (ad_exclusive){.task = task, .buffer = buffer, .why = s.b.why, .promised = s.promised,
                          .n = s.b.why ? 0 : (uint32_t)s.b.conditions.n, .condition = s.b.conditions.at};
}

bool
ad_is_own_element(const ad_activity *a, const ir_op *task, const ir_op *access)
{
    search s = {.activity = a, .b = {.task = task, .in = integers_begin()}, .buffer = access->args[0], .most = PAIRED_MAX};
    s.accesses.in = s.roots.in = s.b.conditions.in = s.b.in.in;
    ir_buffer_roots(s.buffer, collect_root, &s);
    ir_walk(task->regions[0], collect_accesses, &s);
    bool own = !s.b.why && s.accesses.n <= s.most && s.buffer->type.rank;
    for (size_t i = 0; own && i < s.accesses.n; i++)
        own = !access_meets_other_thread(access, s.accesses.at[i], task);
    integers_end(&s.b.in);
    return own;
}
