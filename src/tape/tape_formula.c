/* The count function: how many bytes a thread, or the kernel, records. SPDX-License-Identifier: Apache-2.0
 *
 * The control flow around pushes is kept and what feeds it, each frame adds its bytes, everything else is
 * left out; a loop whose iterations all take the same becomes a multiplication. It stands where the thread
 * begins, so it may use what is known there: scalars, the thread's index, shapes, and elements of arrays
 * that the kernel does not write. Loops that end as they run have none, nor has what pushes again after it
 * has taken frames back. */
#include "tape/tape.h"

enum { MOST_OPS = 200 };

typedef struct binding {
    const ir_value *index;
    ir_value *is;
    const struct binding *outer;
} binding;

/* bytes: fixed, and a value if that is not NULL */
typedef struct amount {
    uint64_t fixed;
    ir_value *more;
} amount;

typedef struct formula {
    tape *t;
    const ir_region *thread;
    ir_op *at; /* ops are made before it */
    const binding *bound;
    amount left;    /* of what the thread's ops push: still there where it ends */
    bool may_load;  /* no assertion stands before what is loaded, and the kernel does load it */
    uint32_t made;  /* ops */
} formula;

static bool sum_region(formula *f, const ir_region *r, amount *out);

/* -- values ---------------------------------------------------------------------------------------------------- */
static ir_value *
integer(formula *f, uint64_t bits)
{
    return tape_int(f->t, f->at, RG_I64, (int64_t)bits);
}

static ir_value *
scalar(formula *f, rg_op code, ir_value *x, uint64_t y)
{
    bool nothing = y == (uint64_t)(code == RG_OP_MUL || code == RG_OP_DIV);
    return nothing && code != RG_OP_MAX ? x : tape_scalar(f->t, code, f->at, RG_I64, x, integer(f, y));
}

static ir_value *
sum(formula *f, ir_value *x, ir_value *y)
{
    return !x ? y : !y ? x : tape_scalar(f->t, RG_OP_ADD, f->at, RG_I64, x, y);
}

static ir_value *
total(formula *f, amount a)
{
    return !a.more ? integer(f, a.fixed) : scalar(f, RG_OP_ADD, a.more, a.fixed);
}

static bool
is_whole_number(ir_type t)
{
    return t.kind == IR_SCALAR && !t.lanes && !ir_is_float((rg_dtype)t.dtype);
}

static bool
is_visible(const formula *f, const ir_value *v)
{
    return !ir_region_inside(v->region, f->thread) || (v->region == f->thread && !v->def);
}

/* a load that gives the same whenever the kernel does it */
static bool
can_load(const formula *f, const ir_op *op)
{
    const ir_region *body = f->t->fn->body;
    const ir_value *buffer = op->args[0];
    return f->may_load && op->plane == RG_PRIMAL && !buffer->def && buffer->region == body &&
           !f->t->fn->params[buffer->index].written;
}

static ir_value *
value_of(formula *f, ir_value *v)
{
    for (const binding *b = f->bound; b; b = b->outer)
        if (b->index == v)
            return b->is;
    if (is_visible(f, v))
        return v;
    const ir_op *op = v->def;
    if (!op || f->made++ > MOST_OPS || !is_whole_number(v->type) || op->nregions || op->nargs > 8)
        return NULL;
    bool pure = ir_ops[op->code].form != IR_OTHER || op->code == RG_OP_CONST || op->code == RG_OP_EXTENT;
    uint64_t by;
    if (ir_ops[op->code].flags & IR_GUARD && !(ir_is_const(op->args[1], &by) && by))
        return NULL;
    if (!pure && !(op->code == RG_OP_LOAD && can_load(f, op)))
        return NULL;
    ir_value *args[8];
    for (uint32_t i = 0; i < op->nargs; i++) {
        bool buffer = op->args[i]->type.kind == IR_BUFFER;
        args[i] = !buffer && !is_whole_number(op->args[i]->type) ? NULL : value_of(f, op->args[i]);
        if (!args[i])
            return NULL;
    }
    ir_op *copy = ir_op_like(f->t->fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, f->t->fn, args[i]);
    ir_insert_before(f->at, copy);
    return ir_op_result(copy, f->t->fn, v->type, v->name);
}

/* -- frames ---------------------------------------------------------------------------------------------------- */
static ir_op *
ending(formula *f, ir_region *r)
{
    ir_op *end = ir_op_new(f->t->fn, RG_OP_YIELD, 0, 0, f->at->loc);
    ir_append(r, end);
    return end;
}

static bool
sum_if(formula *f, const ir_op *op, amount *out)
{
    ir_value *condition = value_of(f, op->args[0]);
    ir_op *made = ir_op_new(f->t->fn, RG_OP_IF, 1, 2, op->loc), *at = f->at;
    amount arms[2];
    if (!condition)
        return false;
    ir_op_arg(made, f->t->fn, condition);
    ir_insert_before(at, made);
    bool known = true;
    for (int i = 0; i < 2; i++) {
        f->at = ending(f, made->regions[i]);
        known = known && sum_region(f, op->regions[i], &arms[i]);
        if (known)
            ir_op_arg(f->at, f->t->fn, total(f, arms[i]));
        f->at = at;
    }
    *out = (amount){0, known ? ir_op_result(made, f->t->fn, ir_scalar(RG_I64), NULL) : NULL};
    return known;
}

static bool
sum_iteration(formula *f, const ir_op *op, amount *out)
{
    uint64_t frame;
    if (!tape_own_frame(f->t, op, &frame) || !sum_region(f, op->regions[0], out))
        return false;
    out->fixed += frame;
    return true;
}

static ir_value *
widened(formula *f, ir_value *v)
{
    return v->type.dtype == RG_I64 ? v : tape_scalar(f->t, RG_OP_CAST, f->at, RG_I64, v, NULL);
}

static ir_value *
trips_between(formula *f, const ir_op *op, ir_value *lo, ir_value *hi)
{
    bool up = op->attr.step > 0;
    uint64_t step = up ? (uint64_t)op->attr.step : -(uint64_t)op->attr.step, bits;
    ir_value *low = up ? lo : hi, *high = up ? hi : lo;
    ir_value *n = widened(f, high);
    if (ir_is_const(low, &bits))
        n = scalar(f, RG_OP_SUB, n, bits);
    else
        n = tape_scalar(f->t, RG_OP_SUB, f->at, RG_I64, n, widened(f, low));
    n = scalar(f, RG_OP_MAX, n, 0);
    return scalar(f, RG_OP_DIV, scalar(f, RG_OP_ADD, n, step - 1), step);
}

/* the loop, with nothing in it but the count */
static bool
sum_each(formula *f, const ir_op *op, ir_value *lo, ir_value *hi, amount *out)
{
    ir_fn *fn = f->t->fn;
    ir_op *made = ir_op_new(fn, RG_OP_FOR, 3, 1, op->loc), *at = f->at;
    const ir_value *index = op->regions[0]->params[0];
    made->attr.step = op->attr.step;
    ir_op_arg(made, fn, lo);
    ir_op_arg(made, fn, hi);
    ir_op_arg(made, fn, integer(f, 0));
    ir_insert_before(at, made);
    binding is = {index, ir_region_param(made->regions[0], index->type, index->name), f->bound};
    ir_value *count = ir_region_param(made->regions[0], ir_scalar(RG_I64), NULL);
    amount each;
    f->at = ending(f, made->regions[0]);
    f->bound = &is;
    bool known = sum_iteration(f, op, &each);
    if (known)
        ir_op_arg(f->at, fn, sum(f, count, total(f, each)));
    f->bound = is.outer;
    f->at = at;
    *out = (amount){0, known ? ir_op_result(made, fn, ir_scalar(RG_I64), NULL) : NULL};
    return known;
}

/* drops what was made since `last` stood before f->at */
static void
make_undone(formula *f, const ir_op *last)
{
    while (f->at->prev != last)
        ir_remove(f->at->prev);
}

static bool
sum_for(formula *f, const ir_op *op, amount *out)
{
    ir_value *lo = value_of(f, op->args[0]), *hi = value_of(f, op->args[1]);
    if (!lo || !hi || op->regions[0]->params[0]->type.dtype == RG_U64)
        return false;
    const ir_op *last = f->at->prev;
    amount each;
    bool may_load = f->may_load;
    f->may_load = false; /* there may be no iteration */
    bool same = sum_iteration(f, op, &each);
    f->may_load = may_load;
    if (!same) {
        make_undone(f, last);
        return sum_each(f, op, lo, hi, out);
    }
    ir_value *n = trips_between(f, op, lo, hi);
    *out = (amount){0, each.more ? tape_scalar(f->t, RG_OP_MUL, f->at, RG_I64, n, total(f, each))
                                 : scalar(f, RG_OP_MUL, n, each.fixed)};
    return true;
}

static bool
finds_pushes(ir_op *op, void *user)
{
    return op->code == RG_OP_PARALLEL || !tape_moves(user, op);
}

/* Whether op pushes nothing, or pushes all before anything in its region is taken back: in a loop, before
 * its frame. */
static bool
pushes_first(formula *f, ir_op *op, const ir_op *first_spent)
{
    tape *t = f->t;
    if (!tape_moves(t, op)) {
        for (uint32_t i = 0; op->code != RG_OP_PARALLEL && i < op->nregions; i++)
            if (!ir_walk(op->regions[i], finds_pushes, t))
                return false;
        return true;
    }
    return !first_spent || tape_number(t, op) < tape_number(t, first_spent);
}

static bool
sum_region(formula *f, const ir_region *r, amount *out)
{
    const ir_op *first_spent = NULL;
    *out = (amount){0};
    ir_for_ops(op, r)
    {
        amount one;
        if (!pushes_first(f, op, first_spent))
            return false;
        if (!tape_moves(f->t, op))
            continue;
        const ir_op *by = tape_spent_by(f->t, op);
        if (by && r != f->thread)
            return false;
        if (by && (!first_spent || tape_number(f->t, by) < tape_number(f->t, first_spent)))
            first_spent = by;
        bool known = op->code == RG_OP_IF    ? sum_if(f, op, &one)
                     : op->code == RG_OP_FOR ? sum_for(f, op, &one)
                                             : false;
        if (!known)
            return false;
        out->fixed += one.fixed;
        out->more = sum(f, out->more, one.more);
        if (!by && r == f->thread)
            f->left = *out; /* with all below it */
    }
    return true;
}

/* The thread's own frame comes last, to what is still there then. */
static ir_value *
with_frame(formula *f, amount pushed, uint64_t frame)
{
    f->left.fixed += frame;
    bool highest = f->left.more == pushed.more;
    if (highest)
        pushed.fixed = f->left.fixed > pushed.fixed ? f->left.fixed : pushed.fixed;
    if (highest || !frame)
        return total(f, pushed);
    return tape_scalar(f->t, RG_OP_MAX, f->at, RG_I64, total(f, pushed), total(f, f->left));
}

/* -- threads and kernels ----------------------------------------------------------------------------------------- */
static bool
asserts_nothing(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_ASSERT;
}

ir_value *
tape_formula(tape *t, const ir_op *parallel, ir_region *body)
{
    bool keeps = parallel && parallel->records && tape_pushes(t, parallel);
    formula f = {.t = t, .thread = body, .at = body->first};
    amount a;
    uint64_t frame = 0;
    if ((keeps && !tape_own_frame(t, parallel, &frame)) || !(keeps || tape_region_moves(t, body)))
        return NULL;
    ir_fn_scan_params(t->fn);
    f.may_load = ir_walk(body, asserts_nothing, NULL);
    if (!sum_region(&f, body, &a)) {
        make_undone(&f, NULL);
        return NULL;
    }
    return frame || a.fixed || a.more ? with_frame(&f, a, frame) : NULL;
}
