/* rgc explain: what would make a kernel faster, as far as that can be known. SPDX-License-Identifier: Apache-2.0
 *
 * A serial loop could be a parallel one if no iteration needs another: what it carries is at most sums, and of every array
 * that it writes there is an axis along which all its accesses have one subscript, of the form
 *
 *     stride * index + inner strides * inner indices + what does not change in the loop
 *
 * where the inner ones together reach less far than the stride: y[i * m + j] with j from 0 to m. */
#include "cli/explain.h"
#include "analysis/carried.h"
#include "analysis/effects.h"
#include "analysis/integers.h"
#include "diff/ad.h"

enum { FEW = 32, DEEPEST = 4 };

typedef struct accesses {
    const ir_region *outside; /* numbers from here change in no iteration */
    vec(const ir_op *) at;
    bool fine; /* nothing else than what can be judged */
} accesses;

/* -- what a loop does -------------------------------------------------------------------------- */

static bool
is_inside(const ir_value *v, const ir_region *r)
{
    return v->region && ir_region_inside(v->region, r);
}

static bool
is_harmless(const ir_op *op)
{
    switch ((int)op->code) {
    case RG_OP_FOR:
    case RG_OP_LOOP:
    case RG_OP_IF:
    case RG_OP_YIELD:
    case RG_OP_EXIT_IF:
    case RG_OP_ASSERT:
        return true;
    default:
        return (ir_ops[op->code].flags & IR_PURE) && op->code != RG_OP_PICK;
    }
}

static bool
collect(ir_op *op, void *user)
{
    accesses *a = user;
    bool memory = ir_is_access(op);
    if (!memory) {
        a->fine = a->fine && is_harmless(op);
    } else if (op->args[0]->def && (op->args[0]->def->code != RG_OP_TEMP || is_inside(op->args[0], a->outside))) {
        a->fine = false; /* one of several arrays, or one that each iteration makes */
    } else {
        vec_push(&a->at, op);
    }
    return a->fine;
}

static bool
is_written(const accesses *a, const ir_value *buffer)
{
    for (size_t i = 0; i < a->at.n; i++)
        if (a->at.at[i]->args[0] == buffer && ir_access_does(a->at.at[i]) & IR_CHANGES)
            return true;
    return false;
}

/* Additions that are atomic may meet. */
static bool
only_adds(const accesses *a, const ir_value *buffer)
{
    for (size_t i = 0; i < a->at.n; i++)
        if (a->at.at[i]->args[0] == buffer && ir_access_does(a->at.at[i]) != IR_ADDS)
            return false;
    return true;
}

/* -- subscripts -------------------------------------------------------------------------------- */

static bool
changes(const accesses *a, const poly *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->term[i].n; k++)
            if (is_inside(p->term[i].factor[k].value, a->outside))
                return true;
    return false;
}

/* The index's last value less its first: that of a loop that runs at least once. */
static poly
reach_of(const ir_op *loop)
{
    integers in = integers_begin();
    poly hi = poly_of(&in, loop->args[1]), lo = poly_of(&in, loop->args[0]), one = poly_const(1);
    poly count = poly_add(&hi, &lo, -1);
    integers_end(&in);
    return poly_add(&count, &one, -1);
}

/* whether some loop around the access runs exactly as often as v says: then it is above 0 there */
static bool
counts_iterations(const ir_op *access, const poly_factor *v)
{
    poly one = poly_const(1);
    for (const ir_op *loop = access->parent->op; loop; loop = loop->parent->op) {
        if (loop->code != RG_OP_FOR || loop->attr.step != 1)
            continue;
        poly reach = reach_of(loop), count = poly_add(&reach, &one, 1);
        if (count.known && count.n == 1 && count.term[0].c == 1 && count.term[0].n == 1 &&
            count.term[0].factor[0].value == v->value && count.term[0].factor[0].axis == v->axis)
            return true;
    }
    return false;
}

static bool
is_positive(const ir_op *access, const poly *p)
{
    if (!p->known || p->n != 1 || p->term[0].c <= 0)
        return false;
    for (uint32_t k = 0; k < p->term[0].n; k++)
        if (!counts_iterations(access, &p->term[0].factor[k]))
            return false;
    return true;
}

/* How far the inner loops' indices move the subscript; takes them out of *rest. false: nobody knows */
static bool
inner_reach(const accesses *a, const ir_op *access, poly *rest, poly *reach)
{
    *reach = poly_const(0);
    for (const ir_region *r = access->parent; r != a->outside; r = r->op->parent) {
        const ir_op *loop = r->op;
        poly stride, other;
        if (loop->code != RG_OP_FOR)
            continue;
        poly_factor index = poly_factor_of(r->params[0]);
        if (!poly_split(rest, &index, &stride, &other))
            return false;
        if (!stride.n)
            continue;
        poly far = reach_of(loop);
        far = poly_mul(&stride, &far);
        *reach = poly_add(reach, &far, 1);
        *rest = other;
        if (loop->attr.step <= 0 || !is_positive(access, &stride) || !far.known || changes(a, &far))
            return false;
    }
    return reach->known;
}

/* The subscript as the head of this file has it. */
static bool
split_subscript(const accesses *a, const ir_op *op, uint32_t axis, const ir_value *index, poly *stride, poly *rest)
{
    integers in = integers_begin();
    poly p = poly_of_subscript(&in, op->args[1 + axis]), inner, reach, one = poly_const(1);
    poly_factor f = poly_factor_of(index);
    int64_t constant;
    integers_end(&in);
    if (!p.known || !poly_split(&p, &f, stride, rest) || !stride->known || !rest->known || changes(a, stride))
        return false;
    inner = *rest;
    if (!inner_reach(a, op, &inner, &reach) || changes(a, &inner))
        return false;
    if (!reach.n) /* there are no inner ones */
        return poly_is_const(stride, &constant) ? constant != 0 : is_positive(op, stride);
    poly room = poly_add(stride, &reach, -1);
    room = poly_add(&room, &one, -1);
    return room.known && poly_sign(&room) > 0;
}

/* whether different indices are different elements of the buffer, told by this axis */
static bool
tells_apart(const accesses *a, const ir_value *buffer, uint32_t axis, const ir_value *index)
{
    bool any = false;
    poly stride, rest, first_stride = {0}, first_rest = {0};
    for (size_t i = 0; i < a->at.n; i++) {
        if (a->at.at[i]->args[0] != buffer)
            continue;
        if (!split_subscript(a, a->at.at[i], axis, index, &stride, &rest))
            return false;
        if (any && (!poly_equal(&stride, &first_stride) || !poly_equal(&rest, &first_rest)))
            return false;
        any = true;
        first_stride = stride;
        first_rest = rest;
    }
    return true;
}

static bool
is_apart(const accesses *a, const ir_value *buffer, const ir_value *index)
{
    for (uint32_t axis = 0; axis < buffer->type.rank; axis++)
        if (tells_apart(a, buffer, axis, index))
            return true;
    return false;
}

/* whether it is the first access of its buffer */
static bool
is_first(const accesses *a, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (a->at.at[k]->args[0] == a->at.at[i]->args[0])
            return false;
    return true;
}

static bool
all_apart(const accesses *a, const ir_value *index)
{
    for (size_t i = 0; i < a->at.n; i++) {
        const ir_value *buffer = a->at.at[i]->args[0];
        if (is_first(a, i) && is_written(a, buffer) && !only_adds(a, buffer) && !is_apart(a, buffer, index))
            return false;
    }
    return true;
}

/* -- what a loop carries ----------------------------------------------------------------------- */

/* Adds the names of the sums; false: the loop carries something else. */
static bool
carries_sums_only(const ir_op *loop, str *names)
{
    const ir_region *body = loop->regions[0];
    for (uint32_t i = 0; i + 1 < body->nparams; i++) {
        if (!body->params[1 + i]->name || !ir_carries_sum(loop, i, mem_scratch()))
            return false;
        str_addf(names, "%s%s", names->len ? ", " : "", body->params[1 + i]->name);
    }
    return true;
}

/* -- loops ------------------------------------------------------------------------------------- */

static bool
is_short(const ir_op *loop)
{
    uint64_t lo, hi;
    return ir_is_const(loop->args[0], &lo) && ir_is_const(loop->args[1], &hi) && (int64_t)(hi - lo) / loop->attr.step <= FEW;
}

/* whether no iteration of the loop needs another */
static bool
is_independent(ir_op *loop)
{
    accesses a = {.outside = loop->regions[0], .at.in = mem_scratch(), .fine = true};
    ir_walk(loop->regions[0], collect, &a);
    return a.fine && a.at.n && all_apart(&a, loop->regions[0]->params[0]);
}

static bool
is_behind(ir_loc loc, ir_loc head)
{
    return loc.file == head.file && loc.inlined == head.inlined &&
           (loc.line > head.line || (loc.line == head.line && loc.col > head.col));
}

/* The loop that is all that stands in the region, but for what was hoisted out of it, and whose bounds do not change there;
 * NULL: it is not so. */
static ir_op *
only_loop(const ir_region *r)
{
    ir_op *loop = r->first;
    while (loop && loop->code != RG_OP_FOR && ir_ops[loop->code].flags & IR_PURE)
        loop = loop->next;
    bool only = loop && loop->code == RG_OP_FOR && loop->next->code == RG_OP_YIELD && !loop->next->nargs &&
                loop->regions[0]->nparams == 1 && !is_inside(loop->args[0], r) && !is_inside(loop->args[1], r);
    for (const ir_op *op = r->first; only && op != loop; op = op->next)
        only = is_behind(op->loc, loop->loc);
    return only ? loop : NULL;
}

/* How many loops, one in the other, could be one with `collapse` from the region on: those around them are independent,
 * whatever the indices inside are. */
static uint32_t
depth_below(const ir_region *r)
{
    uint32_t depth = 0;
    for (ir_op *loop = only_loop(r); loop && depth + 1 < DEEPEST && !is_short(loop); loop = only_loop(loop->regions[0])) {
        if (!is_independent(loop))
            break;
        depth++;
    }
    return depth;
}

static void
advise_serial(ir_op *loop, const str *sums, listing *to)
{
    uint32_t depth = 1 + (sums->len ? 0 : depth_below(loop->regions[0]));
    str clauses = {.in = mem_scratch()};
    str_addz(&clauses, "");
    if (depth > 1)
        str_addf(&clauses, " collapse(%u)", depth);
    if (sums->len)
        str_addf(&clauses, " reduction(+ : %s)", sums->ptr);
    listing_note(to, loop->loc,
                 "advice: its iterations are independent%s%s: `#pragma omp parallel for%s` runs them on all threads and in vectors, "
                 "the reverse sweep too%s",
                 sums->len ? " but for the sums of " : "", sums->len ? sums->ptr : "", clauses.ptr,
                 sums->len ? "; what is summed is then added in another order" : "");
}

static void
advise_parallel(const ir_op *task, listing *to)
{
    uint32_t below = task->attr.rank ? depth_below(task->regions[0]) : 0;
    if (below && !ad_is_independent(only_loop(task->regions[0]), mem_scratch()))
        listing_note(to, task->loc,
                     "advice: the iterations of the loop%s inside are independent, too: with `collapse(%u)` each is one of this "
                     "loop's, and nothing is recorded from one to the next",
                     below > 1 ? "s" : "", task->attr.rank + below);
}

static void
look_in(const ir_region *r, listing *to)
{
    ir_for_ops (op, r) {
        str sums = {.in = mem_scratch()};
        bool could = op->code == RG_OP_FOR && !is_short(op) && carries_sums_only(op, &sums) && is_independent(op);
        if (could && ad_is_independent(op, mem_scratch()))
            listing_note(to, op->loc, "its iterations are independent: they are threads");
        else if (could)
            advise_serial(op, &sums, to);
        else if (op->code == RG_OP_PARALLEL)
            advise_parallel(op, to);
        for (uint32_t i = 0; i < op->nregions && !could && op->code != RG_OP_PARALLEL; i++)
            look_in(op->regions[i], to);
    }
}

/* -- doubles ----------------------------------------------------------------------------------- */

typedef struct doubles {
    listing *to;
    uint32_t operations;
    ir_loc first;
    bool *kept; /* by value: some double that comes of it stays one */
    bool changed;
} doubles;

static bool
is_widened(const ir_value *v)
{
    return v->def && v->def->code == RG_OP_CAST && v->def->args[0]->type.dtype == RG_F32 && v->type.dtype == RG_F64;
}

static bool
is_arithmetic(const ir_op *op)
{
    return op->nresults == 1 && op->results[0]->type.kind == IR_SCALAR && op->results[0]->type.dtype == RG_F64 &&
           ir_ops[op->code].flags & IR_PURE && op->code != RG_OP_CONST && op->code != RG_OP_CAST;
}

static bool
see_use(ir_op *op, void *user)
{
    doubles *d = user;
    bool narrows = op->code == RG_OP_CAST && op->results[0]->type.dtype == RG_F32;
    bool keeps = is_arithmetic(op) ? d->kept[op->results[0]->id] : !narrows;
    for (uint32_t i = 0; i < op->nargs && keeps; i++)
        if (op->args[i]->type.dtype == RG_F64 && !d->kept[op->args[i]->id])
            d->kept[op->args[i]->id] = d->changed = true;
    return true;
}

/* A float is widened for a constant, and what comes of it becomes a float again. */
static bool
see_double(ir_op *op, void *user)
{
    doubles *d = user;
    if (!is_arithmetic(op))
        return true;
    if (!d->operations++)
        d->first = op->loc;
    for (uint32_t k = 0; k < 2 && op->nargs == 2; k++) {
        uint64_t bits;
        if (d->kept[op->results[0]->id] || !is_widened(op->args[k]) || !ir_is_const(op->args[1 - k], &bits))
            continue;
        double constant = ir_bits_float(RG_F64, bits);
        const char *point = constant == (double)(int64_t)constant ? "." : "";
        listing_note(d->to, op->loc,
                     "advice: the double constant %.9g makes this double arithmetic on a float: %.9g%sf leaves it float, and "
                     "vectors hold twice as many", constant, constant, point);
    }
    return true;
}

void
explain_advice(const ir_fn *kernel, bool gpu, listing *to)
{
    doubles d = {.to = to, .kept = arena_new_n(mem_scratch(), bool, kernel->next_id), .changed = true};
    look_in(kernel->body, to);
    while (d.changed) {
        d.changed = false;
        ir_walk(kernel->body, see_use, &d);
    }
    ir_walk(kernel->body, see_double, &d);
    if (gpu && d.operations)
        listing_note(to, d.first,
                     "advice: %u operation%s of the kernel, here the first, %s in double: GPUs for data centers do 2 in float in "
                     "the time of one, others 32 or 64",
                     d.operations, d.operations > 1 ? "s" : "", d.operations > 1 ? "are" : "is");
}
