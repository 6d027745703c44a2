/* What is known of integers. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/integers.h"

enum { APART_DEPTH = 32, RANGE_DEPTH = 12, OF_TWO = 2 /* what an op with two operands takes of it */, SAME_DEPTH = 8 };

/* -- counting ---------------------------------------------------------------------------------------- */
/* next = param + constant */
static bool
steps_by_constant(const ir_op *loop, const ir_value *param, const ir_value *next, uint64_t *step)
{
    uint64_t bits;
    const ir_op *op = next->def;
    if (next == param)
        return *step = 0, true;
    if (!op || (op->code != RG_OP_ADD && op->code != RG_OP_SUB) || op->parent != loop->regions[0])
        return false;
    if (op->args[0] == param && ir_is_const(op->args[1], &bits))
        return *step = op->code == RG_OP_ADD ? bits : 0 - bits, true;
    if (op->code == RG_OP_ADD && op->args[1] == param && ir_is_const(op->args[0], &bits))
        return *step = bits, true;
    return false;
}

bool
ir_is_induction(const ir_op *loop, const ir_value *param, ir_value **start, uint64_t *step)
{
    if (param->def || param->region != loop->regions[0] || !ir_is_int((rg_dtype)param->type.dtype) ||
        param->type.kind != IR_SCALAR || param->type.lanes)
        return false;
    if (loop->code == RG_OP_PARALLEL)
        return *start = loop->args[param->index], *step = 1, true;
    if (!ir_is_loop(loop))
        return false;
    if (loop->code == RG_OP_FOR && param->index == 0)
        return *start = loop->args[0], *step = (uint64_t)loop->attr.step, true;
    uint32_t carried = param->index - (loop->code == RG_OP_FOR ? 1 : 0);
    *start = loop->args[ir_first_init(loop) + carried];
    return steps_by_constant(loop, param, ir_terminator(loop->regions[0])->args[carried], step);
}

bool
ir_is_counted(const ir_value *v, const ir_value **from, const ir_value **to, int64_t *step)
{
    const ir_op *op = v->def ? NULL : v->region->op;
    bool parallel = op && op->code == RG_OP_PARALLEL && v->index < op->attr.rank;
    if (!parallel && !(op && op->code == RG_OP_FOR && v->index == 0))
        return false;
    *from = op->args[v->index];
    *to = op->args[parallel ? op->attr.rank + v->index : 1];
    *step = parallel ? 1 : op->attr.step;
    return true;
}

uint64_t
ir_iterations(const ir_op *loop, uint64_t lo, uint64_t hi)
{
    rg_dtype d = (rg_dtype)loop->regions[0]->params[0]->type.dtype;
    int64_t step = loop->attr.step;
    uint64_t low = step > 0 ? lo : hi, high = step > 0 ? hi : lo;
    if (ir_is_signed(d) ? (int64_t)low >= (int64_t)high : low >= high)
        return 0;
    return (high - low - 1) / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1;
}

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
add_poly_term(poly *p, const poly_term *t)
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
    add_poly_term(&p, &(poly_term){.c = c});
    return p;
}

poly
poly_of_factor(poly_factor f)
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
        add_poly_term(&p, &t);
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
                add_poly_term(&p, &t);
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
        add_poly_term(found ? coefficient : rest, found ? &t : &p->term[i]);
    }
    return p->known;
}

/* -- intervals ------------------------------------------------------------------------------------------ */
#define ENDLESS ((wide)1 << 120) /* what is further off is as if it were here: such bounds hold, too */

static wide
limited(wide v)
{
    return v > ENDLESS ? ENDLESS : v < -ENDLESS ? -ENDLESS : v;
}

static wide
multiply_limits(wide a, wide b)
{
    wide v;
    return __builtin_mul_overflow(a, b, &v) ? ((a < 0) == (b < 0) ? ENDLESS : -ENDLESS) : limited(v);
}

static range
add_ranges(range x, range y)
{
    bool below = x.min == -ENDLESS || y.min == -ENDLESS, above = x.max == ENDLESS || y.max == ENDLESS;
    return (range){below ? -ENDLESS : limited(x.min + y.min), above ? ENDLESS : limited(x.max + y.max)};
}

static range
minus(range x)
{
    return (range){-x.max, -x.min};
}

static range
multiply_ranges(range x, range y)
{
    wide corner[4] = {multiply_limits(x.min, y.min), multiply_limits(x.min, y.max), multiply_limits(x.max, y.min),
                      multiply_limits(x.max, y.max)};
    range r = {corner[0], corner[0]};
    for (int i = 1; i < 4; i++) {
        r.min = corner[i] < r.min ? corner[i] : r.min;
        r.max = corner[i] > r.max ? corner[i] : r.max;
    }
    return r;
}

range
range_of_type(rg_dtype d)
{
    unsigned bits = ir_bits(d);
    if (ir_is_signed(d))
        return (range){-((wide)1 << (bits - 1)), ((wide)1 << (bits - 1)) - 1};
    return (range){0, ((wide)1 << bits) - 1};
}

bool
range_within(range r, range in)
{
    return r.min <= r.max && r.min >= in.min && r.max <= in.max;
}

static range range_at(const ir_value *v, unsigned depth);

/* what v was before casts: the first number whose values from 0 on all the types behind it have */
static const ir_value *
before_casts(const ir_value *v)
{
    const ir_value *first = v;
    wide most = range_of_type((rg_dtype)v->type.dtype).max;
    while (v->def && v->def->code == RG_OP_CAST && ir_is_int((rg_dtype)v->def->args[0]->type.dtype)) {
        v = v->def->args[0];
        wide max = range_of_type((rg_dtype)v->type.dtype).max;
        if (max <= most)
            first = v, most = max;
    }
    return first;
}

/* of one that is selected where it is more than 0, or not less */
static range
range_if(const ir_value *v, const ir_op *condition, unsigned depth)
{
    const ir_value *x = before_casts(v);
    uint64_t bits;
    bool less = condition && (condition->code == RG_OP_LT || condition->code == RG_OP_LE);
    bool more = condition && (condition->code == RG_OP_GT || condition->code == RG_OP_GE);
    if ((less && condition->args[1] == x && ir_is_const(condition->args[0], &bits) && bits == 0) ||
        (more && condition->args[0] == x && ir_is_const(condition->args[1], &bits) && bits == 0))
        return (range){0, range_of_type((rg_dtype)x->type.dtype).max};
    return range_at(v, depth);
}

static range
range_of_two(const ir_op *op, range all, unsigned depth)
{
    uint32_t first = op->code == RG_OP_SELECT;
    range x = first ? range_if(op->args[1], op->args[0]->def, depth) : range_at(op->args[0], depth);
    range y = range_at(op->args[first + 1], depth);
    switch (op->code) {
    case RG_OP_ADD:
        return add_ranges(x, y);
    case RG_OP_SUB:
        return add_ranges(x, minus(y));
    case RG_OP_MUL:
        return multiply_ranges(x, y);
    case RG_OP_DIV: /* by a constant */
        return x.min >= 0 && y.min == y.max && y.min > 0 ? (range){x.min / y.min, x.max / y.min} : all;
    case RG_OP_REM:
        if (y.min <= 0)
            return all;
        return (range){x.min >= 0 ? 0 : x.min < 1 - y.max ? 1 - y.max : x.min, x.max < y.max - 1 ? x.max : y.max - 1};
    case RG_OP_SELECT:
        return (range){x.min < y.min ? x.min : y.min, x.max > y.max ? x.max : y.max};
    default: /* AND */
        if (x.min < 0 && y.min < 0)
            return all;
        return (range){0, x.min < 0 || (y.min >= 0 && y.max < x.max) ? y.max : x.max};
    }
}

static range
range_of_op(const ir_op *op, rg_dtype d, unsigned depth)
{
    range all = range_of_type(d);
    switch (op->code) {
    case RG_OP_EXTENT: /* no array has more elements than an address space of 48 bits has bytes */
        return (range){0, (wide)1 << 48};
    case RG_OP_CAST:
        return ir_is_float((rg_dtype)op->args[0]->type.dtype) ? all : range_at(op->args[0], depth - 1);
    case RG_OP_SPLAT:
        return range_at(op->args[0], depth - 1);
    case RG_OP_NEG:
        return ir_is_float(d) ? all : minus(range_at(op->args[0], depth - 1));
    case RG_OP_ADD:
    case RG_OP_SUB:
    case RG_OP_MUL:
    case RG_OP_DIV:
    case RG_OP_REM:
    case RG_OP_SELECT:
        return depth > OF_TWO && !ir_is_float(d) ? range_of_two(op, all, depth - OF_TWO) : all;
    case RG_OP_AND:
        return depth > OF_TWO && d != RG_BOOL ? range_of_two(op, all, depth - OF_TWO) : all;
    default:
        return all;
    }
}

static range
range_of_index(const ir_value *v, unsigned depth)
{
    const ir_value *from, *to;
    int64_t step;
    if (depth <= OF_TWO || !ir_is_counted(v, &from, &to, &step))
        return range_of_type((rg_dtype)v->type.dtype);
    range first = range_at(from, depth - OF_TWO), end = range_at(to, depth - OF_TWO);
    return step > 0 ? (range){first.min, end.max - 1} : (range){end.min + 1, first.max};
}

static range
range_at(const ir_value *v, unsigned depth)
{
    rg_dtype d = (rg_dtype)v->type.dtype;
    uint64_t bits;
    if (ir_is_const(v, &bits)) {
        wide value = ir_is_signed(d) ? (wide)(int64_t)bits : (wide)bits;
        return (range){value, value};
    }
    range all = range_of_type(d), r = !depth ? all : v->def ? range_of_op(v->def, d, depth) : range_of_index(v, depth);
    return range_within(r, all) ? r : all;
}

range
range_of(const ir_value *v)
{
    return range_at(v, RANGE_DEPTH);
}

bool
range_fits(const ir_value *v, unsigned bits)
{
    range r = range_of(v);
    return r.min >= 0 && r.max < (wide)1 << bits;
}

/* steps from `from` up to `to`, rounded up */
static uint64_t
steps_between(wide from, wide to, wide step)
{
    return from < to ? (uint64_t)((to - from - 1) / step + 1) : 0;
}

/* of a loop that goes on only while this does not hold */
static uint64_t
most_before(const ir_op *loop, const ir_op *leaves)
{
    ir_value *start;
    uint64_t step;
    bool counts = leaves && (leaves->code == RG_OP_GE || leaves->code == RG_OP_GT);
    if (!counts || !ir_is_induction(loop, leaves->args[0], &start, &step) || step == 0 || step > INT32_MAX)
        return UINT64_MAX;
    wide most = range_of(leaves->args[1]).max;
    if (most + (wide)step > range_of_type((rg_dtype)start->type.dtype).max) /* it may wrap */
        return UINT64_MAX;
    return steps_between(range_of(start).min, most + (leaves->code == RG_OP_GT), (wide)step);
}

uint64_t
ir_most_iterations(const ir_op *loop)
{
    uint64_t most = UINT64_MAX;
    if (loop->code == RG_OP_FOR) {
        range lo = range_of(loop->args[0]), hi = range_of(loop->args[1]);
        int64_t step = loop->attr.step;
        if (loop->few)
            return IR_FEW;
        return step > 0 ? steps_between(lo.min, hi.max, step) : steps_between(hi.min, lo.max, -(wide)step);
    }
    ir_for_ops (op, loop->regions[0]) {
        uint64_t before = op->code == RG_OP_EXIT_IF ? most_before(loop, op->args[0]->def) : most;
        most = before < most ? before : most;
    }
    return most;
}

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

range
poly_factor_range(const poly_factor *f)
{
    if (f->axis)
        return (range){0, (wide)1 << 48};
    range r = range_of(f->value);
    if (r.min < 0 && !f->value->def && is_extent(f->value))
        r.min = 0;
    return r;
}

range
poly_range(const poly *p)
{
    range sum = {0, 0};
    for (uint32_t i = 0; i < p->n; i++) {
        range term = {p->term[i].c, p->term[i].c};
        for (uint32_t k = 0; k < p->term[i].n; k++)
            term = multiply_ranges(term, poly_factor_range(&p->term[i].factor[k]));
        sum = add_ranges(sum, term);
    }
    return sum;
}

int
poly_sign(const poly *p)
{
    range r = poly_range(p);
    return !p->known ? 0 : r.min >= 0 ? 1 : r.max < 0 ? -1 : 0;
}

/* -- polynomials of values ------------------------------------------------------------------------------- */

/* What a value is modulo 2^bits. `wraps`: a sum or product, exact if it is a number of its type. */
typedef struct integer {
    const ir_value *value;
    poly p;
    unsigned bits;
    bool whole, wraps; /* not taken apart */
    uint32_t asked;    /* the last question whose claims it has made */
    bool subscript;    /* ... of a subscript */
} integer;

integers
integers_begin(void)
{
    arena *a = mem_scratch();
    return (integers){.in = a, .mark = arena_here(a), .claims = {.in = a}, .more = {.in = a}};
}

void
integers_end(integers *in)
{
    arena_release(in->in, in->mark);
}

static integer *
known_integer(const integers *in, const ir_value *v)
{
    for (uint32_t i = 0; i < in->n && i < INTEGERS_FEW; i++)
        if (in->few[i]->value == v)
            return in->few[i];
    return in->n > INTEGERS_FEW ? map_get(&in->more, map_ptr(v)) : NULL;
}

static integer *
keep_integer(integers *in, const integer *k)
{
    integer *kept = arena_one(in->in, integer);
    *kept = *k;
    if (in->n < INTEGERS_FEW)
        in->few[in->n] = kept;
    else
        map_set(&in->more, map_ptr(k->value), kept);
    in->n++;
    return kept;
}

static bool
holds_all_of(rg_dtype to, rg_dtype from)
{
    return range_within(range_of_type(from), range_of_type(to));
}

/* A carried value that keeps step with the loop's counter (a pointer that moves on, most often):
 * start + pace * (counter - first). */
typedef struct follower {
    const ir_value *start, *counter, *first;
    int64_t pace;
} follower;

static const ir_value *
counting_param(const ir_op *loop)
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
follows_counter(const ir_value *v, follower *out)
{
    const ir_op *loop = v->def ? NULL : v->region->op;
    ir_value *start, *first;
    uint64_t step, pace;
    if (!loop || !ir_is_loop(loop))
        return false;
    const ir_value *counter = counting_param(loop);
    if (!counter || counter == v || !ir_is_induction(loop, v, &start, &step) ||
        !ir_is_induction(loop, counter, &first, &pace) || !pace || (int64_t)step % (int64_t)pace)
        return false;
    *out = (follower){start, counter, first, (int64_t)step / (int64_t)pace};
    return true;
}

/* The value whose extent the buffer is declared with; that of all that a picked one may be, where they agree. */
static const ir_value *
extent_value(const ir_value *buffer, uint32_t axis)
{
    uint64_t bits;
    const ir_op *pick = buffer->def && buffer->def->code == RG_OP_PICK ? buffer->def : NULL;
    for (uint32_t i = 2; pick && i < pick->nargs; i++)
        if (!ir_same_extent(pick->args[1], pick->args[i], axis))
            return NULL;
    const ir_value *v = pick ? extent_value(pick->args[1], axis) : ir_declared_extent(buffer, axis);
    return v && !(ir_is_const(v, &bits) && (int64_t)bits < 0) ? v : NULL;
}

static const integer *find_integer(integers *in, const ir_value *v, unsigned depth);

static void
fewer_bits(integer *k, const integer *of)
{
    k->bits = of->bits < k->bits ? of->bits : k->bits;
}

static void
take_apart(integers *in, integer *k, unsigned depth)
{
    const ir_op *op = k->value->def;
    follower f;
    const integer *a, *b;
    unsigned width = ir_bits((rg_dtype)k->value->type.dtype);
    if (!op && follows_counter(k->value, &f)) {
        a = find_integer(in, f.start, depth), b = find_integer(in, f.first, depth);
        poly counter = poly_of_factor(poly_factor_of(f.counter));
        counter = poly_add(&counter, &b->p, -1);
        k->p = poly_add(&a->p, &counter, f.pace);
        k->wraps = true;
        unsigned counted = ir_bits((rg_dtype)f.counter->type.dtype);
        k->bits = counted < width ? counted : width;
    } else if (op && op->code == RG_OP_NEG) {
        poly zero = poly_const(0);
        a = b = find_integer(in, op->args[0], depth);
        k->p = poly_add(&zero, &a->p, -1);
        k->wraps = true;
        k->bits = width;
    } else if (op && (op->code == RG_OP_ADD || op->code == RG_OP_SUB || op->code == RG_OP_MUL)) {
        a = find_integer(in, op->args[0], depth), b = find_integer(in, op->args[1], depth);
        k->p = op->code == RG_OP_MUL ? poly_mul(&a->p, &b->p) : poly_add(&a->p, &b->p, op->code == RG_OP_ADD ? 1 : -1);
        k->wraps = true;
        k->bits = width;
    } else if (op && op->code == RG_OP_CAST && ir_is_integer(op->args[0]->type)) {
        a = b = find_integer(in, op->args[0], depth);
        k->p = a->p;
        k->bits = holds_all_of((rg_dtype)k->value->type.dtype, (rg_dtype)op->args[0]->type.dtype) ? 64 : width;
    } else if (op && op->code == RG_OP_EXTENT) {
        const ir_value *declared = extent_value(op->args[0], (uint32_t)op->attr.bits);
        if (!declared)
            return;
        a = b = find_integer(in, declared, depth);
        k->p = a->p;
    } else {
        return;
    }
    fewer_bits(k, a);
    fewer_bits(k, b);
}

static const integer *
find_integer(integers *in, const ir_value *v, unsigned depth)
{
    uint64_t bits;
    integer k = {.value = v, .bits = 64}, *found = known_integer(in, v);
    if (found)
        return found;
    if (ir_is_integer(v->type) && ir_is_const(v, &bits) && ((int64_t)bits >= 0 || ir_is_signed((rg_dtype)v->type.dtype))) {
        k.p = poly_const((int64_t)bits);
    } else if (ir_is_integer(v->type)) {
        if (depth)
            take_apart(in, &k, depth - 1);
        if (!k.p.known) { /* it is what it is */
            bool extent = v->def && v->def->code == RG_OP_EXTENT;
            k = (integer){.value = v, .bits = 64, .whole = true};
            k.p = poly_of_factor(extent ? (poly_factor){v->def->args[0], (uint32_t)v->def->attr.bits + 1} : poly_factor_of(v));
        }
    }
    return keep_integer(in, &k);
}

static void
claim(integers *in, const poly *p, rg_dtype d)
{
    poly_claim c = {*p, d};
    vec_push(&in->claims, c);
}

bool
ir_is_exact_in_subscript(const ir_op *op)
{
    bool arithmetic = op->code == RG_OP_ADD || op->code == RG_OP_SUB || op->code == RG_OP_MUL || op->code == RG_OP_NEG;
    rg_dtype d = (rg_dtype)op->results[0]->type.dtype;
    return arithmetic && (d == RG_I32 || d == RG_I64);
}

static bool
is_given(const ir_value *v, bool subscript)
{
    return subscript && v->def && ir_is_exact_in_subscript(v->def);
}

/* What must hold for the polynomial of v to be right modulo 2^64: all but that v itself did not wrap. */
static void
claim_inside(integers *in, const ir_value *v, bool subscript)
{
    follower f;
    const ir_op *op = v->def;
    integer *k = known_integer(in, v);
    if (!k || k->whole || (k->asked == in->questions && (subscript || !k->subscript)))
        return;
    k->asked = in->questions;
    k->subscript = subscript;
    bool passes = op && (op->code == RG_OP_CAST || op->code == RG_OP_EXTENT);
    const ir_value *from = passes ? (op->code == RG_OP_CAST ? op->args[0] : extent_value(op->args[0], (uint32_t)op->attr.bits))
                           : !op && follows_counter(v, &f) ? f.first : NULL;
    integer *exact = from ? known_integer(in, from) : NULL;
    if (exact) { /* that it did not wrap either */
        claim_inside(in, from, subscript && passes);
        if (exact->wraps && !is_given(from, subscript && passes))
            claim(in, &exact->p, (rg_dtype)from->type.dtype);
        if (passes && !holds_all_of((rg_dtype)v->type.dtype, (rg_dtype)from->type.dtype))
            claim(in, &exact->p, (rg_dtype)v->type.dtype);
    }
    if (!op && exact)
        claim_inside(in, f.start, false);
    for (uint32_t i = 0; k->wraps && op && i < op->nargs; i++)
        claim_inside(in, op->args[i], is_given(v, subscript));
}

static poly
exact_poly(integers *in, const ir_value *v, bool subscript)
{
    const integer *k = find_integer(in, v, APART_DEPTH);
    in->questions++;
    claim_inside(in, v, subscript);
    if (k->wraps && !is_given(v, subscript))
        claim(in, &k->p, (rg_dtype)v->type.dtype);
    if (k->p.known && !holds_all_of(RG_I64, (rg_dtype)v->type.dtype))
        claim(in, &k->p, RG_I64);
    return k->p;
}

poly
poly_of(integers *in, const ir_value *v)
{
    return exact_poly(in, v, false);
}

poly
poly_of_subscript(integers *in, const ir_value *v)
{
    return exact_poly(in, v, true);
}

poly
poly_modulo(integers *in, const ir_value *v, unsigned *bits)
{
    const integer *k = find_integer(in, v, APART_DEPTH);
    *bits = k->bits;
    return k->p;
}

bool
poly_differ(integers *in, const ir_value *a, const ir_value *b)
{
    int64_t c;
    unsigned of_a, of_b;
    poly x = poly_modulo(in, a, &of_a), y = poly_modulo(in, b, &of_b), d = poly_add(&x, &y, -1);
    unsigned bits = of_a < of_b ? of_a : of_b;
    return poly_is_const(&d, &c) && (bits < 64 ? (uint64_t)c << (64 - bits) : (uint64_t)c);
}

/* b - a as a signed number, if it is a constant modulo 2^bits; else 0 */
static int64_t
constant_distance(const ir_value *a, const ir_value *b, unsigned bits)
{
    int64_t c;
    unsigned of_a, of_b;
    integers in = integers_begin();
    poly x = poly_modulo(&in, a, &of_a), y = poly_modulo(&in, b, &of_b), d = poly_add(&y, &x, -1);
    bool known = poly_is_const(&d, &c) && of_a >= bits && of_b >= bits;
    integers_end(&in);
    return known ? (int64_t)((uint64_t)c << (64 - bits)) >> (64 - bits) : 0;
}

uint64_t
ir_fixed_iterations(const ir_op *loop, bool *surely)
{
    rg_dtype d = (rg_dtype)loop->args[0]->type.dtype;
    int64_t distance = constant_distance(loop->args[0], loop->args[1], ir_bits(d)), step = loop->attr.step;
    range lo = range_of(loop->args[0]), all = range_of_type(d);
    *surely = step > 0 ? lo.max + distance - loop->closed <= all.max : lo.min + distance + loop->closed >= all.min;
    return step > 0 ? steps_between(0, distance, step) : steps_between(distance, 0, -(wide)step);
}

bool
ir_runs_at_once(const ir_op *loop)
{
    if (loop->code == RG_OP_LOOP)
        return true;
    if (loop->code != RG_OP_FOR)
        return false;
    range lo = range_of(loop->args[0]), hi = range_of(loop->args[1]);
    return loop->attr.step > 0 ? lo.max < hi.min : lo.min > hi.max;
}

poly
poly_of_extent(integers *in, const ir_value *buffer, uint32_t axis)
{
    const ir_value *declared = extent_value(buffer, axis);
    return declared ? poly_of(in, declared) : poly_of_factor((poly_factor){buffer, axis + 1});
}

/* -- the same functions of parameters --------------------------------------------------------------------- */
const ir_value *
ir_without_widening(const ir_value *v)
{
    while (v->def && v->def->code == RG_OP_CAST) {
        const ir_value *from = v->def->args[0];
        rg_dtype a = (rg_dtype)from->type.dtype, b = (rg_dtype)v->type.dtype;
        if (!ir_is_int(a) || !ir_is_int(b) || ir_bits(a) >= ir_bits(b))
            break;
        v = from;
    }
    return v;
}

static bool
same_number(const ir_value *x, const ir_value *y, unsigned depth)
{
    uint64_t a, b;
    x = ir_without_widening(x);
    y = ir_without_widening(y);
    if (x == y)
        return true;
    if (ir_is_const(x, &a) && ir_is_const(y, &b))
        return a == b;
    if (!depth || !x->def || !y->def || x->def->code != y->def->code ||
        ir_ops[x->def->code].form == IR_OTHER || !ir_type_eq(x->type, y->type))
        return false;
    for (uint32_t k = 0; k < x->def->nargs; k++)
        if (!same_number(x->def->args[k], y->def->args[k], depth - 1))
            return false;
    return true;
}

bool
ir_same_number(const ir_value *x, const ir_value *y)
{
    return same_number(x, y, SAME_DEPTH);
}

bool
ir_same_extent(const ir_value *x, const ir_value *y, uint32_t axis)
{
    const ir_value *a = x == y ? NULL : extent_value(x, axis), *b = a ? extent_value(y, axis) : NULL;
    return x == y || (a && b && ir_same_number(a, b));
}

/* -- values that follow from indices ------------------------------------------------------------------- */
enum { FEW = 64 };

/* One question. Values that many others are made of are computed once; most questions are small and remember nothing. */
typedef struct question {
    const ir_known *indices;
    uint32_t visits;
    map number; /* value -> index in bits + 1 */
    vec(uint64_t) bits;
} question;

static bool
is_known_number(question *q, const ir_value *v, uint64_t *bits)
{
    if (ir_is_const(v, bits))
        return true;
    for (const ir_known *k = q->indices; k; k = k->outer)
        if (k->index == v) {
            *bits = k->bits;
            return true;
        }
    const ir_op *op = v->def;
    uint64_t x[3] = {0};
    if (!op || ir_ops[op->code].form == IR_OTHER || op->nargs > 3)
        return false;
    size_t number = q->visits++ > FEW ? (size_t)map_get(&q->number, map_ptr(v)) : 0;
    if (number) {
        *bits = q->bits.at[number - 1];
        return true;
    }
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ir_is_float((rg_dtype)op->args[i]->type.dtype) || !is_known_number(q, op->args[i], &x[i]))
            return false;
    if (!ir_eval((rg_op)op->code, (rg_dtype)op->args[0]->type.dtype, (rg_dtype)v->type.dtype, x[0], x[1], x[2], bits))
        return false;
    if (q->visits > FEW) {
        vec_push(&q->bits, *bits);
        map_set(&q->number, map_ptr(v), (void *)q->bits.n);
    }
    return true;
}

bool
ir_known_value(const ir_known *indices, const ir_value *v, uint64_t *bits)
{
    arena *a = mem_scratch();
    arena_mark before = arena_here(a);
    question q = {.indices = indices, .number.in = a, .bits.in = a};
    bool known = is_known_number(&q, v, bits);
    arena_release(a, before);
    return known;
}
