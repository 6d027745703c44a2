/* What differs between the threads of a group, and which loops they run differently often.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shapes only grow: from `the same`, or a step, to any difference; a loop that once varied varies. So
 * walking over the region until nothing changes ends, with the least differences that are consistent.
 *
 * What a loop carries is looked at from those threads that still run it: a counter that starts and grows
 * alike is the same in all of them, whenever each of them leaves. Behind the loop it differs. */
#include "lanes/lanes.h"

enum { STRIDE_MAX = 1 << 30 };

enum { ROW_MIN = 8 }; /* threads for which i / n is the same, if it is to matter */

static const lane_shape same = {LANES_SAME, WRAPS_NOT, false, 0}, any = {LANES_ANY, WRAPS_NOT, false, 0};
static const lane_shape rows = {LANES_ANY, WRAPS_NOT, true, 0};

lane_shape
lanes_shape_of(const lanes *l, const ir_value *v)
{
    lane_shape s = v->id < l->known ? l->shapes[v->id] : same;
    return s.kind == LANES_UNSEEN ? same : s;
}

bool
lanes_is_same(const lanes *l, const ir_value *v)
{
    return lanes_shape_of(l, v).kind == LANES_SAME;
}

lane_loop *
lanes_loop_of(lanes *l, const ir_op *op)
{
    lane_loop *found = map_get(&l->loops, map_ptr(op));
    if (!found) {
        found = arena_one(l->scratch, lane_loop);
        map_set(&l->loops, map_ptr(op), found);
    }
    return found;
}

static rg_dtype
dtype_of(const ir_value *v)
{
    return (rg_dtype)v->type.dtype;
}

static bool
is_alike(lane_shape s)
{
    return s.kind == LANES_SAME || s.rows;
}

bool
lanes_is_alike(const lanes *l, const ir_value *v)
{
    return is_alike(lanes_shape_of(l, v));
}

/* -- growing ------------------------------------------------------------------------------------- */

static lane_shape
join(lane_shape x, lane_shape y)
{
    if (x.kind == LANES_UNSEEN)
        return y;
    if (y.kind == LANES_UNSEEN)
        return x;
    if (x.kind != y.kind || x.stride != y.stride || x.rows != y.rows)
        return is_alike(x) && is_alike(y) ? rows : any;
    x.wrap = x.wrap > y.wrap ? x.wrap : y.wrap;
    return x;
}

static void
grow(lanes *l, const ir_value *v, lane_shape s)
{
    lane_shape *at = &l->shapes[v->id], joined = join(*at, s);
    if (joined.kind != at->kind || joined.stride != at->stride || joined.wrap != at->wrap || joined.rows != at->rows) {
        *at = joined;
        l->changed = true;
    }
}

/* a local array is one thing under all its names */
static void
tie(lanes *l, const ir_value *x, const ir_value *y)
{
    lane_shape both = join(lanes_shape_of(l, x), lanes_shape_of(l, y));
    grow(l, x, both);
    grow(l, y, both);
}

static void
flow(lanes *l, const ir_value *from, const ir_value *to, bool varies)
{
    if (to->type.kind == IR_ARRAY)
        tie(l, from, to);
    else
        grow(l, to, varies || lanes_shape_of(l, from).wrap == WRAPPED ? any : lanes_shape_of(l, from));
}

static void
vary(lanes *l, lane_loop *loop)
{
    l->changed |= !loop->varies;
    loop->varies = true;
}

/* -- scalar ops ---------------------------------------------------------------------------------- */

static lane_shape
step(const ir_value *v, lane_shape from, int64_t stride)
{
    if (from.wrap == WRAPPED || stride > STRIDE_MAX || stride < -STRIDE_MAX)
        return any;
    if (stride == 0)
        return same;
    return (lane_shape){LANES_STEP, ir_bits(dtype_of(v)) < 64 ? WRAPS : WRAPS_NOT, false, stride};
}

static lane_shape
shape_of_sum(const ir_op *op, lane_shape x, lane_shape y)
{
    if (x.wrap == WRAPPED || y.wrap == WRAPPED)
        return any;
    return step(op->results[0], x, op->code == RG_OP_ADD ? x.stride + y.stride : x.stride - y.stride);
}

static lane_shape
shape_of_product(const ir_op *op, const ir_value *factor, lane_shape x)
{
    uint64_t bits;
    if (!ir_is_const(factor, &bits))
        return any;
    int64_t by = (int64_t)ir_wrap(dtype_of(factor), bits);
    if (op->code == RG_OP_SHL)
        by = by >= 0 && by < 30 ? (int64_t)1 << by : 0;
    if (!by || by > STRIDE_MAX || by < -STRIDE_MAX)
        return any;
    return step(op->results[0], x, x.stride * by);
}

static lane_shape
shape_of_cast(const ir_op *op, lane_shape x)
{
    rg_dtype from = dtype_of(op->args[0]), to = dtype_of(op->results[0]);
    if (!ir_is_int(from) || !ir_is_int(to))
        return any;
    if (ir_bits(to) > ir_bits(from)) {
        if (x.wrap == WRAPS_NOT)
            return x;
        x.wrap = WRAPPED;
        return ir_is_signed(from) && ir_bits(from) == 32 ? x : any;
    }
    return from == to ? x : step(op->results[0], x, x.stride);
}

/* whether successive numbers divided by this one may often be equal */
static bool
is_row(const ir_value *divisor)
{
    uint64_t bits;
    return !ir_is_const(divisor, &bits) || bits >= ROW_MIN;
}

static lane_shape
shape_of_scalar(const lanes *l, const ir_op *op)
{
    lane_shape s[3] = {same, same, same};
    bool all_same = true, alike = true, differs = false;
    for (uint32_t i = 0; i < op->nargs; i++) {
        s[i] = lanes_shape_of(l, op->args[i]);
        all_same &= s[i].kind == LANES_SAME;
        alike &= is_alike(s[i]);
        differs |= s[i].kind == LANES_ANY;
    }
    if (all_same)
        return same;
    if (alike || differs)
        return alike ? rows : any;
    if (!ir_is_int(dtype_of(op->args[0])))
        return any;
    switch ((int)op->code) {
    case RG_OP_ADD:
    case RG_OP_SUB:
        return shape_of_sum(op, s[0], s[1]);
    case RG_OP_NEG:
        return step(op->results[0], s[0], -s[0].stride);
    case RG_OP_MUL:
        return s[1].kind == LANES_SAME   ? shape_of_product(op, op->args[1], s[0])
               : s[0].kind == LANES_SAME ? shape_of_product(op, op->args[0], s[1])
                                         : any;
    case RG_OP_SHL:
        return s[1].kind == LANES_SAME ? shape_of_product(op, op->args[1], s[0]) : any;
    case RG_OP_DIV:
    case RG_OP_FLOORDIV:
        return s[1].kind == LANES_SAME && is_row(op->args[1]) ? rows : any;
    case RG_OP_CAST:
        return shape_of_cast(op, s[0]);
    }
    return any;
}

/* -- memory and arrays --------------------------------------------------------------------------- */

uint32_t
lanes_subscripts(const ir_op *op)
{
    return op->args[0]->type.kind == IR_BUFFER ? op->args[0]->type.rank : 0;
}

bool
lanes_one_element(const lanes *l, const ir_op *op)
{
    for (uint32_t i = 1; i <= lanes_subscripts(op); i++)
        if (!lanes_is_same(l, op->args[i]))
            return false;
    return true;
}

bool
lanes_row_element(const lanes *l, const ir_op *op)
{
    for (uint32_t i = 1; i <= lanes_subscripts(op); i++)
        if (!lanes_is_alike(l, op->args[i]))
            return false;
    return true;
}

bool
lanes_successive(const lanes *l, const ir_op *op)
{
    uint32_t n = lanes_subscripts(op);
    if (!n)
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (!lanes_is_same(l, op->args[i]))
            return false;
    lane_shape last = lanes_shape_of(l, op->args[n]);
    rg_dtype d = dtype_of(op->args[n]);
    bool negative = ir_bits(d) == 64 || (ir_bits(d) == 32 && ir_is_signed(d)); /* where it wrapped */
    return last.kind == LANES_STEP && last.stride == 1 && (negative || last.wrap == WRAPS_NOT);
}

static void
see_array_op(lanes *l, const ir_op *op, bool diverged)
{
    const ir_value *made = op->results[0], *from = op->nargs ? op->args[0] : NULL;
    bool varies = false;
    for (uint32_t i = 0; i < op->nargs; i++)
        varies |= !lanes_is_same(l, op->args[i]);
    if (op->code == RG_OP_EXTRACT) {
        grow(l, made, varies ? any : same);
    } else if (op->code == RG_OP_INSERT) {
        grow(l, made, varies || diverged ? any : same);
        tie(l, from, made);
    } else if (op->code == RG_OP_COPY && !(from->def && from->def->code == RG_OP_TABLE)) {
        tie(l, from, made);
    } else {
        grow(l, made, same);
    }
}

/* -- regions ------------------------------------------------------------------------------------- */

static void see_region(lanes *l, const ir_region *r, bool diverged);

static void
see_if(lanes *l, const ir_op *op, bool diverged)
{
    bool varies = !lanes_is_same(l, op->args[0]);
    for (uint32_t k = 0; k < 2; k++) {
        see_region(l, op->regions[k], diverged || varies);
        const ir_op *end = ir_terminator(op->regions[k]);
        for (uint32_t i = 0; i < op->nresults; i++)
            flow(l, end->args[i], op->results[i], varies);
    }
}

/* `first` is the first carried parameter */
static void
see_carried(lanes *l, const ir_op *op, uint32_t first, bool varies)
{
    const ir_region *body = op->regions[0];
    uint32_t init = ir_first_init(op);
    for (uint32_t k = first; k < body->nparams; k++)
        flow(l, op->args[init + k - first], body->params[k], varies);
}

static void
see_next(lanes *l, const ir_op *op, uint32_t first, bool varies)
{
    const ir_region *body = op->regions[0];
    const ir_op *end = ir_terminator(body);
    for (uint32_t k = first; k < body->nparams; k++)
        flow(l, end->args[k - first], body->params[k], varies);
}

static lane_shape
shape_of_index(const lanes *l, const ir_op *op)
{
    lane_shape s = lanes_shape_of(l, op->args[0]);
    return s.kind == LANES_STEP ? step(op->regions[0]->params[0], s, s.stride) : s;
}

static void
see_for(lanes *l, const ir_op *op, bool diverged)
{
    lane_loop *loop = lanes_loop_of(l, op);
    if (!lanes_is_same(l, op->args[0]) || !lanes_is_same(l, op->args[1]))
        vary(l, loop);
    grow(l, op->regions[0]->params[0], shape_of_index(l, op));
    see_carried(l, op, 1, false);
    see_region(l, op->regions[0], diverged || loop->varies);
    see_next(l, op, 1, false);
    for (uint32_t k = 0; k < ir_value_results(op); k++)
        flow(l, op->regions[0]->params[1 + k], op->results[k], loop->varies);
}

static void
see_loop(lanes *l, const ir_op *op, bool diverged)
{
    lane_loop *loop = lanes_loop_of(l, op);
    see_carried(l, op, 0, false);
    see_region(l, op->regions[0], diverged || loop->varies);
    see_next(l, op, 0, false);
    ir_for_ops(exit, op->regions[0])
    {
        if (exit->code != RG_OP_EXIT_IF)
            continue;
        if (!lanes_is_same(l, exit->args[0]))
            vary(l, loop);
        for (uint32_t k = 0; k + 1 < exit->nargs; k++)
            flow(l, exit->args[1 + k], op->results[k], loop->varies);
    }
}

/* Threads join an unwind at different iterations, so what it carries for those that have not joined yet
 * must wait: it differs. */
static void
see_unwind(lanes *l, const ir_op *op, bool diverged)
{
    lane_loop *loop = lanes_loop_of(l, op);
    if (!lanes_is_same(l, op->args[1]) || loop->partial)
        vary(l, loop);
    grow(l, op->regions[0]->params[0], same);
    see_carried(l, op, 1, loop->varies);
    see_region(l, op->regions[0], diverged || loop->varies);
    see_next(l, op, 1, loop->varies);
    for (uint32_t k = 0; k < op->nresults; k++)
        flow(l, op->regions[0]->params[1 + k], op->results[k], loop->varies);
}

static void
see_op(lanes *l, const ir_op *op, bool diverged)
{
    if (ir_ops[op->code].form != IR_OTHER) {
        grow(l, op->results[0], shape_of_scalar(l, op));
        return;
    }
    switch ((int)op->code) {
    case RG_OP_LOAD:
        grow(l, op->results[0], lanes_one_element(l, op) ? same : lanes_row_element(l, op) ? rows : any);
        break;
    case RG_OP_RMW:
    case RG_OP_CALL:
        for (uint32_t i = 0; i < op->nresults; i++)
            grow(l, op->results[i], any);
        break;
    case RG_OP_ARRAY:
    case RG_OP_TABLE:
    case RG_OP_COPY:
    case RG_OP_EXTRACT:
    case RG_OP_INSERT:
        see_array_op(l, op, diverged);
        break;
    case RG_OP_RECALL:
        flow(l, op->args[0], op->results[0], false);
        break;
    case RG_OP_IF:
        see_if(l, op, diverged);
        break;
    case RG_OP_FOR:
        see_for(l, op, diverged);
        break;
    case RG_OP_LOOP:
        see_loop(l, op, diverged);
        break;
    case RG_OP_UNWIND:
        see_unwind(l, op, diverged);
        break;
    }
}

static void
see_region(lanes *l, const ir_region *r, bool diverged)
{
    ir_for_ops(op, r) see_op(l, op, diverged);
}

bool
lanes_find_shapes(lanes *l, const ir_region *r)
{
    l->changed = false;
    see_region(l, r, false);
    return l->changed;
}
