/* What differs between the threads of a group, and which loops they run differently often.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shapes only grow: from `the same`, or a step, to any difference; a loop that once varied varies. So
 * walking over the region until nothing changes ends, with the least differences that are consistent.
 *
 * What a loop carries is looked at from those threads that still run it: a counter that starts and grows
 * alike is the same in all of them, whenever each of them leaves. Behind the loop it differs. */
#include "analysis/divergence.h"

enum { STRIDE_MAX = 1 << 30 };

enum { ROW_MIN = 8 }; /* threads for which i / n is the same, if it is to matter */

static const ir_shape same = {IR_SAME, WRAPS_NOT, false, 0}, any = {IR_ANY, WRAPS_NOT, false, 0};
static const ir_shape rows = {IR_ANY, WRAPS_NOT, true, 0};

ir_shape
ir_shape_of(const ir_divergence *g, const ir_value *v)
{
    ir_shape s = v->id < g->known ? g->shapes[v->id] : same;
    return s.kind == IR_UNSEEN ? same : s;
}

bool
ir_is_uniform(const ir_divergence *g, const ir_value *v)
{
    return ir_shape_of(g, v).kind == IR_SAME;
}

ir_loop_divergence *
ir_loop_divergence_of(ir_divergence *g, const ir_op *op)
{
    ir_loop_divergence *found = map_get(&g->loops, map_ptr(op));
    if (!found) {
        found = arena_one(g->in, ir_loop_divergence);
        map_set(&g->loops, map_ptr(op), found);
    }
    return found;
}

static bool
is_alike(ir_shape s)
{
    return s.kind == IR_SAME || s.rows;
}

static bool
is_often_uniform(const ir_divergence *g, const ir_value *v)
{
    return is_alike(ir_shape_of(g, v));
}

/* -- growing ------------------------------------------------------------------------------------- */

static ir_shape
join_shapes(ir_shape x, ir_shape y)
{
    if (x.kind == IR_UNSEEN)
        return y;
    if (y.kind == IR_UNSEEN)
        return x;
    if (x.kind != y.kind || x.stride != y.stride || x.rows != y.rows)
        return is_alike(x) && is_alike(y) ? rows : any;
    x.wrap = x.wrap > y.wrap ? x.wrap : y.wrap;
    return x;
}

static void
grow_shape(ir_divergence *g, const ir_value *v, ir_shape s)
{
    ir_shape *at = &g->shapes[v->id], joined = join_shapes(*at, s);
    if (joined.kind != at->kind || joined.stride != at->stride || joined.wrap != at->wrap || joined.rows != at->rows) {
        *at = joined;
        g->changed = true;
    }
}

/* a local array is one thing under all its names */
static void
tie(ir_divergence *g, const ir_value *x, const ir_value *y)
{
    ir_shape both = join_shapes(ir_shape_of(g, x), ir_shape_of(g, y));
    grow_shape(g, x, both);
    grow_shape(g, y, both);
}

static void
flow_shape(ir_divergence *g, const ir_value *from, const ir_value *to, bool varies)
{
    if (to->type.kind == IR_ARRAY)
        tie(g, from, to);
    else
        grow_shape(g, to, varies || ir_shape_of(g, from).wrap == WRAPPED ? any : ir_shape_of(g, from));
}

static void
set_varies(ir_divergence *g, ir_loop_divergence *loop)
{
    g->changed |= !loop->varies;
    loop->varies = true;
}

/* -- scalar ops ---------------------------------------------------------------------------------- */

static ir_shape
shape_of_step(const ir_value *v, ir_shape from, int64_t stride)
{
    if (from.wrap == WRAPPED || stride > STRIDE_MAX || stride < -STRIDE_MAX)
        return any;
    if (stride == 0)
        return same;
    return (ir_shape){IR_STEP, ir_bits(ir_dtype(v)) < 64 ? WRAPS : WRAPS_NOT, false, stride};
}

static ir_shape
shape_of_sum(const ir_op *op, ir_shape x, ir_shape y)
{
    if (x.wrap == WRAPPED || y.wrap == WRAPPED)
        return any;
    return shape_of_step(op->results[0], x, op->code == RG_OP_ADD ? x.stride + y.stride : x.stride - y.stride);
}

static ir_shape
shape_of_product(const ir_op *op, const ir_value *factor, ir_shape x)
{
    uint64_t bits;
    if (!ir_is_const(factor, &bits))
        return any;
    int64_t by = (int64_t)ir_wrap(ir_dtype(factor), bits);
    if (op->code == RG_OP_SHL)
        by = by >= 0 && by < 30 ? (int64_t)1 << by : 0;
    if (!by || by > STRIDE_MAX || by < -STRIDE_MAX)
        return any;
    return shape_of_step(op->results[0], x, x.stride * by);
}

static ir_shape
shape_of_cast(const ir_op *op, ir_shape x)
{
    rg_dtype from = ir_dtype(op->args[0]), to = ir_dtype(op->results[0]);
    if (!ir_is_int(from) || !ir_is_int(to))
        return any;
    if (ir_bits(to) > ir_bits(from)) {
        if (x.wrap == WRAPS_NOT)
            return x;
        x.wrap = WRAPPED;
        return ir_is_signed(from) && ir_bits(from) == 32 ? x : any;
    }
    return from == to ? x : shape_of_step(op->results[0], x, x.stride);
}

/* whether successive numbers divided by this one may often be equal */
static bool
is_row(const ir_value *divisor)
{
    uint64_t bits;
    return !ir_is_const(divisor, &bits) || bits >= ROW_MIN;
}

static ir_shape
shape_of_scalar(const ir_divergence *g, const ir_op *op)
{
    ir_shape s[3] = {same, same, same};
    bool all_same = true, alike = true, differs = false;
    for (uint32_t i = 0; i < op->nargs; i++) {
        s[i] = ir_shape_of(g, op->args[i]);
        all_same &= s[i].kind == IR_SAME;
        alike &= is_alike(s[i]);
        differs |= s[i].kind == IR_ANY;
    }
    if (all_same)
        return same;
    if (alike || differs)
        return alike ? rows : any;
    if (!ir_is_int(ir_dtype(op->args[0])))
        return any;
    switch ((int)op->code) {
    case RG_OP_ADD:
    case RG_OP_SUB:
        return shape_of_sum(op, s[0], s[1]);
    case RG_OP_NEG:
        return shape_of_step(op->results[0], s[0], -s[0].stride);
    case RG_OP_MUL:
        return s[1].kind == IR_SAME   ? shape_of_product(op, op->args[1], s[0])
               : s[0].kind == IR_SAME ? shape_of_product(op, op->args[0], s[1])
                                         : any;
    case RG_OP_SHL:
        return s[1].kind == IR_SAME ? shape_of_product(op, op->args[1], s[0]) : any;
    case RG_OP_DIV:
    case RG_OP_FLOORDIV:
        return s[1].kind == IR_SAME && is_row(op->args[1]) ? rows : any;
    case RG_OP_CAST:
        return shape_of_cast(op, s[0]);
    }
    return any;
}

/* -- memory and arrays --------------------------------------------------------------------------- */

uint32_t
ir_subscripts(const ir_op *op)
{
    return op->args[0]->type.kind == IR_BUFFER ? op->args[0]->type.rank : 0;
}

bool
ir_is_uniform_access(const ir_divergence *g, const ir_op *op)
{
    for (uint32_t i = 1; i <= ir_subscripts(op); i++)
        if (!ir_is_uniform(g, op->args[i]))
            return false;
    return true;
}

bool
ir_is_often_uniform_access(const ir_divergence *g, const ir_op *op)
{
    for (uint32_t i = 1; i <= ir_subscripts(op); i++)
        if (!is_often_uniform(g, op->args[i]))
            return false;
    return true;
}

bool
ir_is_successive_access(const ir_divergence *g, const ir_op *op)
{
    uint32_t n = ir_subscripts(op);
    if (!n)
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (!ir_is_uniform(g, op->args[i]))
            return false;
    ir_shape last = ir_shape_of(g, op->args[n]);
    rg_dtype d = ir_dtype(op->args[n]);
    bool negative = ir_bits(d) == 64 || (ir_bits(d) == 32 && ir_is_signed(d)); /* where it wrapped */
    return last.kind == IR_STEP && last.stride == 1 && (negative || last.wrap == WRAPS_NOT);
}

static void
see_array_op(ir_divergence *g, const ir_op *op, bool diverged)
{
    const ir_value *made = op->results[0], *from = op->nargs ? op->args[0] : NULL;
    bool varies = false;
    for (uint32_t i = 0; i < op->nargs; i++)
        varies |= !ir_is_uniform(g, op->args[i]);
    if (op->code == RG_OP_EXTRACT) {
        grow_shape(g, made, varies ? any : same);
    } else if (op->code == RG_OP_INSERT) {
        grow_shape(g, made, varies || diverged ? any : same);
        tie(g, from, made);
    } else if (op->code == RG_OP_COPY && !(from->def && from->def->code == RG_OP_TABLE)) {
        tie(g, from, made);
    } else {
        grow_shape(g, made, same);
    }
}

/* -- regions ------------------------------------------------------------------------------------- */

static void see_region(ir_divergence *g, const ir_region *r, bool diverged);

static void
see_if(ir_divergence *g, const ir_op *op, bool diverged)
{
    bool varies = !ir_is_uniform(g, op->args[0]);
    for (uint32_t k = 0; k < 2; k++) {
        see_region(g, op->regions[k], diverged || varies);
        const ir_op *end = ir_terminator(op->regions[k]);
        for (uint32_t i = 0; i < op->nresults; i++)
            flow_shape(g, end->args[i], op->results[i], varies);
    }
}

/* `first` is the first carried parameter */
static void
see_carried(ir_divergence *g, const ir_op *op, uint32_t first, bool varies)
{
    const ir_region *body = op->regions[0];
    uint32_t init = ir_first_init(op);
    for (uint32_t k = first; k < body->nparams; k++)
        flow_shape(g, op->args[init + k - first], body->params[k], varies);
}

static void
see_next(ir_divergence *g, const ir_op *op, uint32_t first, bool varies)
{
    const ir_region *body = op->regions[0];
    const ir_op *end = ir_terminator(body);
    for (uint32_t k = first; k < body->nparams; k++)
        flow_shape(g, end->args[k - first], body->params[k], varies);
}

static ir_shape
shape_of_index(const ir_divergence *g, const ir_op *op)
{
    ir_shape s = ir_shape_of(g, op->args[0]);
    return s.kind == IR_STEP ? shape_of_step(op->regions[0]->params[0], s, s.stride) : s;
}

static void
see_for(ir_divergence *g, const ir_op *op, bool diverged)
{
    ir_loop_divergence *loop = ir_loop_divergence_of(g, op);
    if (!ir_is_uniform(g, op->args[0]) || !ir_is_uniform(g, op->args[1]))
        set_varies(g, loop);
    grow_shape(g, op->regions[0]->params[0], shape_of_index(g, op));
    see_carried(g, op, 1, false);
    see_region(g, op->regions[0], diverged || loop->varies);
    see_next(g, op, 1, false);
    for (uint32_t k = 0; k < ir_value_results(op); k++)
        flow_shape(g, op->regions[0]->params[1 + k], op->results[k], loop->varies);
}

static void
see_loop(ir_divergence *g, const ir_op *op, bool diverged)
{
    ir_loop_divergence *loop = ir_loop_divergence_of(g, op);
    see_carried(g, op, 0, false);
    see_region(g, op->regions[0], diverged || loop->varies);
    see_next(g, op, 0, false);
    ir_for_ops(exit, op->regions[0])
    {
        if (exit->code != RG_OP_EXIT_IF)
            continue;
        if (!ir_is_uniform(g, exit->args[0]))
            set_varies(g, loop);
        for (uint32_t k = 0; k + 1 < exit->nargs; k++)
            flow_shape(g, exit->args[1 + k], op->results[k], loop->varies);
    }
}

/* Threads join an unwind at different iterations, so what it carries for those that have not joined yet
 * must wait: it differs. */
static void
see_unwind(ir_divergence *g, const ir_op *op, bool diverged)
{
    ir_loop_divergence *loop = ir_loop_divergence_of(g, op);
    if (!ir_is_uniform(g, op->args[1]) || loop->partial)
        set_varies(g, loop);
    grow_shape(g, op->regions[0]->params[0], same);
    see_carried(g, op, 1, loop->varies);
    see_region(g, op->regions[0], diverged || loop->varies);
    see_next(g, op, 1, loop->varies);
    for (uint32_t k = 0; k < op->nresults; k++)
        flow_shape(g, op->regions[0]->params[1 + k], op->results[k], loop->varies);
}

static void
see_op(ir_divergence *g, const ir_op *op, bool diverged)
{
    if (ir_ops[op->code].form != IR_OTHER) {
        grow_shape(g, op->results[0], shape_of_scalar(g, op));
        return;
    }
    switch ((int)op->code) {
    case RG_OP_LOAD:
        grow_shape(g, op->results[0], ir_is_uniform_access(g, op) ? same : ir_is_often_uniform_access(g, op) ? rows : any);
        break;
    case RG_OP_RMW:
    case RG_OP_CALL:
        for (uint32_t i = 0; i < op->nresults; i++)
            grow_shape(g, op->results[i], any);
        break;
    case RG_OP_ARRAY:
    case RG_OP_TABLE:
    case RG_OP_COPY:
    case RG_OP_EXTRACT:
    case RG_OP_INSERT:
        see_array_op(g, op, diverged);
        break;
    case RG_OP_RECALL:
        flow_shape(g, op->args[0], op->results[0], false);
        break;
    case RG_OP_IF:
        see_if(g, op, diverged);
        break;
    case RG_OP_FOR:
        see_for(g, op, diverged);
        break;
    case RG_OP_LOOP:
        see_loop(g, op, diverged);
        break;
    case RG_OP_UNWIND:
        see_unwind(g, op, diverged);
        break;
    }
}

static void
see_region(ir_divergence *g, const ir_region *r, bool diverged)
{
    ir_for_ops(op, r) see_op(g, op, diverged);
}

ir_divergence
ir_divergence_of(const ir_fn *fn, arena *a)
{
    return (ir_divergence){.in = a, .known = fn->next_id, .shapes = arena_new_n(a, ir_shape, fn->next_id + 1), .loops.in = a};
}

void
ir_divergence_set(ir_divergence *g, const ir_value *v, int64_t stride)
{
    g->shapes[v->id] = stride ? (ir_shape){IR_STEP, WRAPS_NOT, false, stride} : any;
}

bool
ir_divergence_grow(ir_divergence *g, const ir_region *r)
{
    g->changed = false;
    see_region(g, r, false);
    return g->changed;
}

static bool
is_even_op(ir_op *op, void *user)
{
    const ir_region *body = user;
    bool inside = op->code == RG_OP_FOR && (ir_region_inside(op->args[0]->region, body) || ir_region_inside(op->args[1]->region, body));
    bool known = inside && ir_is_const(op->args[0], NULL) && ir_is_const(op->args[1], NULL);
    return op->code != RG_OP_LOOP && (!inside || known);
}

bool
ir_is_even(ir_region *thread)
{
    return ir_walk(thread, is_even_op, thread);
}
