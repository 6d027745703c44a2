/* Liveness over values and ops, from roots backwards. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/live.h"
#include "ir/edges.h"

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
    for (uint32_t k = 0; k < ir_own_operands(op); k++)
        live_value(l, op->args[k]);
}

void
live_op(live *l, ir_op *op)
{
    for (; op && !live_has_op(l, op); op = op->parent->op) {
        map_set(&l->ops, map_ptr(op), op);
        mark_own_operands(l, op);
        if (op->code == RG_OP_LOOP)
            ir_for_exits (exit, op)
                live_op(l, exit);
    }
}

void
live_spread(live *l)
{
    while (l->todo.n) {
        ir_value *v = vec_pop(&l->todo);
        live_op(l, v->def ? v->def : v->region->op);
        for (ir_source s = {0}; ir_next_source(v, &s);)
            live_value(l, s.value);
    }
}

void
live_start(live *l, const ir_fn *fn, arena *scratch)
{
    *l = (live){.values = arena_alloc(scratch, fn->next_id + 1), .ops.in = scratch, .todo.in = scratch};
}
