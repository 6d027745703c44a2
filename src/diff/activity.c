/* Activity: forward and backward over regions to a fixed point. SPDX-License-Identifier: Apache-2.0 */
#include "ir/edges.h"
#include "diff/activity.h"

static bool
carries(const ir_value *v)
{
    return (v->type.kind == IR_SCALAR || v->type.kind == IR_ARRAY) && ir_is_float((rg_dtype)v->type.dtype);
}

bool
ad_flows(const ir_op *op, uint32_t k)
{
    if (!carries(op->args[k]))
        return false;
    switch ((rg_op)op->code) {
    case RG_OP_CAST:
    case RG_OP_RECALL:
    case RG_OP_COPY:
    case RG_OP_EXTRACT:
        return op->nresults && carries(op->results[0]);
    case RG_OP_INSERT:
        return k == 0 || k == 2;
    default:
        return op->nresults == 1 && carries(op->results[0]) &&
               ad_rule_of((rg_op)op->code, k) != AD_RULE_NONE &&
               ad_rule_of((rg_op)op->code, k) != AD_RULE_SPECIAL;
    }
}

/* -- marks ------------------------------------------------------------------------------------------- */
static void
mark_active(ad_activity *a, bool *set, const ir_value *v)
{
    if (!set[v->id]) {
        set[v->id] = true;
        a->changed = true;
    }
}

static void
flow_mark(ad_activity *a, bool *set, const ir_value *from, const ir_value *to)
{
    if (set[from->id] && carries(to))
        mark_active(a, set, to);
}

typedef struct root_query {
    ad_activity *a;
    bool *set;
    bool found;
} root_query;

static void
root_is_set(ir_value *root, void *user)
{
    root_query *q = user;
    q->found |= q->set[root->id];
}

static void
root_mark(ir_value *root, void *user)
{
    root_query *q = user;
    mark_active(q->a, q->set, root);
}

static bool
buffer_is(ad_activity *a, bool *set, ir_value *b)
{
    root_query q = {a, set, false};
    ir_buffer_roots(b, root_is_set, &q);
    return q.found;
}

static void
buffer_mark(ad_activity *a, bool *set, ir_value *b)
{
    root_query q = {a, set, false};
    ir_buffer_roots(b, root_mark, &q);
}

/* the value that a store or rmw writes */
static ir_value *
written(const ir_op *op)
{
    if (op->code == RG_OP_RMW && op->rmw == RG_RMW_CAS)
        return op->args[op->nargs - 2];
    return op->args[op->nargs - 1];
}

/* -- what flows along the edges of control; dir forward: from -> to, backward: to -> from ------------- */
typedef void edge_fn(ad_activity *a, ir_value *from, ir_value *to);

static void
control_edges(ad_activity *a, ir_op *op, edge_fn *edge)
{
    for (ir_edge e = {0}; ir_next_edge(op, &e);)
        edge(a, e.from.value, e.to);
}

/* a call reads its buffers */
static void
buffers_to_results(ad_activity *a, ir_op *op)
{
    for (uint32_t k = 0; k < op->nargs; k++)
        for (uint32_t i = 0; i < op->nresults && op->args[k]->type.kind == IR_BUFFER; i++)
            if (carries(op->results[i]) && buffer_is(a, a->varied, op->args[k]))
                mark_active(a, a->varied, op->results[i]);
}

static void
results_to_buffers(ad_activity *a, ir_op *op)
{
    for (uint32_t k = 0; k < op->nargs; k++)
        for (uint32_t i = 0; i < op->nresults && op->args[k]->type.kind == IR_BUFFER; i++)
            if (a->useful[op->results[i]->id] && ir_is_float((rg_dtype)op->args[k]->type.dtype))
                buffer_mark(a, a->useful, op->args[k]);
}

/* every float result of a call may depend on every float operand */
static void
call_edges(ad_activity *a, ir_op *op, edge_fn *edge)
{
    for (uint32_t i = 0; i < op->nresults; i++)
        for (uint32_t k = 0; k < op->nargs; k++)
            if (carries(op->args[k]) && carries(op->results[i]))
                edge(a, op->args[k], op->results[i]);
}

static void
edge_forward(ad_activity *a, ir_value *from, ir_value *to)
{
    flow_mark(a, a->varied, from, to);
}

static void
edge_backward(ad_activity *a, ir_value *from, ir_value *to)
{
    flow_mark(a, a->useful, to, from);
}

/* -- forward ------------------------------------------------------------------------------------------ */
static bool
forward_op(ir_op *op, void *user)
{
    ad_activity *a = user;
    switch ((rg_op)op->code) {
    case RG_OP_LOAD:
        if (carries(op->results[0]) && op->args[0]->type.kind == IR_BUFFER &&
            buffer_is(a, a->varied, op->args[0]))
            mark_active(a, a->varied, op->results[0]);
        break;
    case RG_OP_RMW:
        if (op->nresults && carries(op->results[0]) && buffer_is(a, a->varied, op->args[0]))
            mark_active(a, a->varied, op->results[0]);
        /* fallthrough */
    case RG_OP_STORE:
        if (a->varied[written(op)->id] && op->args[0]->type.kind == IR_BUFFER)
            buffer_mark(a, a->varied, op->args[0]);
        break;
    case RG_OP_CALL:
        call_edges(a, op, edge_forward);
        buffers_to_results(a, op);
        break;
    default:
        for (uint32_t k = 0; k < op->nargs && op->nresults; k++)
            if (a->varied[op->args[k]->id] && ad_flows(op, k))
                mark_active(a, a->varied, op->results[0]);
        control_edges(a, op, edge_forward);
    }
    return true;
}

/* -- backward ----------------------------------------------------------------------------------------- */
static void
backward_op(ir_op *op, ad_activity *a)
{
    switch ((rg_op)op->code) {
    case RG_OP_LOAD:
        if (a->useful[op->results[0]->id])
            buffer_mark(a, a->useful, op->args[0]);
        break;
    case RG_OP_RMW:
    case RG_OP_STORE:
        if (op->args[0]->type.kind == IR_BUFFER && buffer_is(a, a->useful, op->args[0]) &&
            carries(written(op)))
            mark_active(a, a->useful, written(op));
        break;
    case RG_OP_CALL:
        call_edges(a, op, edge_backward);
        results_to_buffers(a, op);
        break;
    default:
        for (uint32_t k = 0; k < op->nargs && op->nresults; k++)
            if (a->useful[op->results[0]->id] && ad_flows(op, k))
                mark_active(a, a->useful, op->args[k]);
        control_edges(a, op, edge_backward);
    }
}

/* last op first, an op before what is inside it: usefulness travels a straight line in one pass */
static void
walk_backward(ir_region *region, ad_activity *a)
{
    for (ir_op *op = region->last; op; op = op->prev) {
        backward_op(op, a);
        for (uint32_t i = op->nregions; i-- > 0;)
            walk_backward(op->regions[i], a);
    }
}

/* A temp has an adjoint if one can pass through it. */
typedef struct temps {
    ad_activity *a;
    bool backward;
} temps;

static bool
mark_temp(ir_op *op, void *user)
{
    const temps *t = user;
    if (op->code == RG_OP_TEMP) {
        uint32_t id = op->results[0]->id;
        t->a->has_adjoint[id] = t->a->varied[id] && (!t->backward || t->a->useful[id]);
    }
    return true;
}

void
ad_activity_find(ad_activity *a, const ir_fn *fn, const bool *active, const bool *results, bool backward,
                 arena *in)
{
    uint32_t n = fn->next_id ? fn->next_id : 1;
    *a = (ad_activity){.fn = fn, .varied = arena_alloc(in, n), .useful = arena_alloc(in, n),
                       .has_adjoint = arena_alloc(in, n)};
    for (uint32_t i = 0; i < fn->body->nparams; i++) {
        const ir_value *p = fn->body->params[i];
        if (!ir_is_float((rg_dtype)p->type.dtype) || (active && !active[i]))
            continue;
        a->has_adjoint[p->id] = a->varied[p->id] = true;
        a->useful[p->id] = fn->kernel && p->type.kind == IR_BUFFER; /* scalars are no outputs */
    }
    const ir_op *end = ir_terminator(fn->body);
    for (uint32_t i = 0; i < end->nargs; i++)
        if (carries(end->args[i]) && (!results || results[i]))
            a->useful[end->args[i]->id] = true;
    do {
        a->changed = false;
        ir_walk(fn->body, forward_op, a);
    } while (a->changed);
    do {
        a->changed = false;
        if (backward)
            walk_backward(fn->body, a);
    } while (a->changed);
    ir_walk(fn->body, mark_temp, &(temps){a, backward});
}
