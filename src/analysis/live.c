/* Liveness over values and ops, from roots backwards. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live.h"

void
live_value(live *l, ir_value *v)
{
    if (l->values[v->id])
        return;
    l->values[v->id] = 1;
    if ((!l->within || ir_region_inside(v->region, l->within)) && !(l->there && l->there(l->user, v)))
        vec_push(&l->todo, v);
}

bool
live_has_op(const live *l, const ir_op *op)
{
    return map_get(&l->ops, map_ptr(op)) != NULL;
}

/* operands that an op needs whichever of its results are used */
static void
mark_own_operands(live *l, ir_op *op)
{
    uint32_t n = op->nargs;
    switch (op->code) {
    case RG_OP_YIELD:
        n = op->parent->op ? 0 : n; /* a function's results are always wanted */
        break;
    case RG_OP_IF:
    case RG_OP_EXIT_IF:
        n = 1;
        break;
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        n = 2;
        break;
    case RG_OP_LOOP:
        n = 0;
        break;
    case RG_OP_PARALLEL:
        n = 2 * op->attr.rank;
        if (n < op->nargs && op->args[n]->type.kind == IR_TRACE)
            n++;
        break;
    default:
        break;
    }
    for (uint32_t k = 0; k < n; k++)
        live_value(l, op->args[k]);
}

void
live_op(live *l, ir_op *op)
{
    for (; op && !live_has_op(l, op); op = op->parent->op) {
        map_set(&l->ops, map_ptr(op), op);
        mark_own_operands(l, op);
        if (op->code == RG_OP_LOOP)
            ir_for_ops(inner, op->regions[0]) if (inner->code == RG_OP_EXIT_IF) live_op(l, inner);
    }
}

/* Carried value k of a for, loop or unwind, or reduction k of a parallel. */
static void
mark_carried(live *l, ir_op *op, uint32_t init, uint32_t k)
{
    live_value(l, op->args[init + k]);
    live_value(l, ir_terminator(op->regions[0])->args[k]);
}

static void
mark_result(live *l, ir_value *v)
{
    ir_op *op = v->def;
    live_op(l, op);
    if (v->type.kind == IR_TRACE && op->nregions)
        return;
    switch (op->code) {
    case RG_OP_IF:
        live_value(l, ir_terminator(op->regions[0])->args[v->index]);
        live_value(l, ir_terminator(op->regions[1])->args[v->index]);
        break;
    case RG_OP_LOOP:
        ir_for_ops(inner, op->regions[0]) if (inner->code == RG_OP_EXIT_IF)
            live_value(l, inner->args[1 + v->index]);
        break;
    case RG_OP_FOR:
    case RG_OP_UNWIND:
    case RG_OP_PARALLEL:
        mark_carried(l, op, ir_first_init(op), v->index);
        break;
    default:
        break;
    }
}

static void
mark_param(live *l, ir_value *v)
{
    ir_op *op = v->region->op;
    if (!op)
        return;
    live_op(l, op);
    switch (op->code) {
    case RG_OP_LOOP:
        mark_carried(l, op, 0, v->index);
        break;
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        if (v->index > 0)
            mark_carried(l, op, 2, v->index - 1);
        break;
    default:
        break;
    }
}

void
live_spread(live *l)
{
    while (l->todo.n) {
        ir_value *v = vec_pop(&l->todo);
        if (v->def)
            mark_result(l, v);
        else
            mark_param(l, v);
    }
}

void
live_start(live *l, const ir_fn *fn)
{
    *l = (live){.values = mem_zalloc(fn->next_id + 1)};
}

void
live_release(void *user)
{
    live *l = user;
    map_free(&l->ops);
    mem_free(l->values);
    vec_free(&l->todo);
}
