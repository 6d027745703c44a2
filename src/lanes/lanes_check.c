/* What keeps a parallel loop from running in lanes. SPDX-License-Identifier: Apache-2.0
 *
 * Local arrays are changed in place, in the lanes that take part: in what threads run differently, every
 * array has to come out of a branch or an iteration at the place where it went in. */
#include "ir/edges.h"
#include "lanes/lanes.h"

/* Of one array in lanes: more than one would leave the nearest cache. A thread of a GPU has memory of its own for it. */

static void
refuse_lanes(lanes *l, const char *why)
{
    if (!l->refused)
        l->refused = why;
}

static const ir_value *
root_of_result(const ir_value *v, const ir_region *r)
{
    const ir_op *op = v->def;
    switch ((int)op->code) {
    case RG_OP_INSERT:
        return lanes_array_root(op->args[0], r);
    case RG_OP_IF: {
        const ir_value *then = lanes_array_root(ir_terminator(op->regions[0])->args[v->index], op->parent);
        return then ? lanes_array_root(then, r) : NULL;
    }
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        return lanes_array_root(op->args[ir_first_init(op) + v->index], r);
    case RG_OP_LOOP:
        ir_for_exits (exit, op) {
            const ir_value *param = lanes_array_root(exit->args[1 + v->index], op->regions[0]);
            bool own = param && !param->def && param->region == op->regions[0];
            return own ? lanes_array_root(op->args[param->index], r) : param;
        }
    }
    return NULL;
}

const ir_value *
lanes_array_root(const ir_value *v, const ir_region *r)
{
    const ir_op *op = v->region->op;
    if (!ir_region_inside(v->region, r) || v->region == r) {
        if (!v->def || !ir_region_inside(v->region, r))
            return v; /* a parameter of r, or from outside */
        return root_of_result(v, r);
    }
    if (v->def)
        return root_of_result(v, r);
    uint32_t first = op->code == RG_OP_FOR || op->code == RG_OP_UNWIND;
    return lanes_array_root(op->args[ir_first_init(op) + v->index - first], r);
}

static void
check_divergent_if(lanes *l, const ir_op *op)
{
    if (ir_is_uniform(&l->divergence, op->args[0]))
        return;
    for (uint32_t i = 0; i < op->nresults; i++) {
        ir_kind kind = (ir_kind)op->results[i]->type.kind;
        if (kind != IR_SCALAR && kind != IR_ARRAY)
            refuse_lanes(l, "a branch that threads take differently gives more than numbers");
        if (kind != IR_ARRAY)
            continue;
        const ir_value *roots[2];
        for (int k = 0; k < 2; k++)
            roots[k] = lanes_array_root(ir_terminator(op->regions[k])->args[i], op->regions[k]);
        if (!roots[0] || roots[0] != roots[1])
            refuse_lanes(l, "a branch that threads take differently makes a local array anew");
    }
}

/* what carries parameter k on has to be it */
static void
check_place(lanes *l, const ir_region *body, const ir_value *v, const ir_value *param)
{
    if (ir_is_array(param) && lanes_array_root(v, body) != param)
        refuse_lanes(l, "a loop that threads leave differently exchanges local arrays");
}

static void
check_divergent_loop(lanes *l, const ir_op *op)
{
    const ir_loop_divergence *loop = ir_loop_divergence_of(&l->divergence, op);
    const ir_region *body = op->regions[0];
    uint32_t first = op->code != RG_OP_LOOP;
    if (!loop->varies)
        return;
    const ir_op *end = ir_terminator(body);
    for (uint32_t k = first; k < body->nparams; k++)
        check_place(l, body, end->args[k - first], body->params[k]);
    if (op->code != RG_OP_LOOP)
        return;
    for (uint32_t k = 0; k < ir_value_results(op); k++) {
        ir_kind kind = (ir_kind)op->results[k]->type.kind;
        if (kind != IR_SCALAR && kind != IR_ARRAY)
            refuse_lanes(l, "a loop that threads leave differently gives more than numbers");
        const ir_value *place = NULL;
        ir_for_exits (exit, op) {
            if (kind != IR_ARRAY)
                continue;
            const ir_value *root = lanes_array_root(exit->args[1 + k], body);
            if (!root || root->region != body || root->def || (place && place != root))
                refuse_lanes(l, "a loop that threads leave differently exchanges local arrays");
            place = root;
        }
    }
}

static void
check_arrays(lanes *l, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nresults; i++) {
        ir_type t = op->results[i]->type;
        uint64_t bytes = (uint64_t)t.length * ir_bytes((rg_dtype)t.dtype) * l->width;
        if (t.kind == IR_ARRAY && bytes > l->target->local_arrays && !ir_is_uniform(&l->divergence, op->results[i]))
            refuse_lanes(l, "a local array would be too large");
    }
}

void
lanes_check(lanes *l, const ir_region *r)
{
    ir_for_ops(op, r)
    {
        switch ((int)op->code) {
        case RG_OP_PARALLEL:
        case RG_OP_TEMP:
        case RG_OP_PICK:
        case RG_OP_CALL:
            refuse_lanes(l, "it holds a parallel loop or a call");
            break;
        case RG_OP_IF:
            check_divergent_if(l, op);
            break;
        case RG_OP_FOR:
        case RG_OP_LOOP:
        case RG_OP_UNWIND:
            check_divergent_loop(l, op);
            break;
        }
        check_arrays(l, op);
        for (uint32_t i = 0; i < op->nregions; i++)
            lanes_check(l, op->regions[i]);
    }
}
