/* See pressure.h. SPDX-License-Identifier: Apache-2.0
 *
 * Backwards through the ops: a value lives from its last use, which comes first, to where it is made. What a loop takes from
 * outside lives in all of it. */
#include "codegen/nvidia/pressure.h"

typedef struct lives {
    bool *live; /* by value */
    uint32_t now, most;
} lives;

/* Arguments and constants are operands; a bool is a bit of a few registers. */
static uint32_t
registers_for(const ir_value *v)
{
    bool number = v->type.kind == IR_SCALAR && v->type.dtype != RG_BOOL;
    bool operand = ir_is_const(v, NULL) || (!v->def && !v->region->op);
    return number && !operand ? ir_bytes((rg_dtype)v->type.dtype) > 4 ? 2 : 1 : 0;
}

static void
begin_life(lives *l, const ir_value *v)
{
    if (l->live[v->id])
        return;
    l->live[v->id] = true;
    l->now += registers_for(v);
    l->most = l->now > l->most ? l->now : l->most;
}

static void
end_lives(lives *l, ir_value *const *v, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        l->now -= l->live[v[k]->id] ? registers_for(v[k]) : 0;
        l->live[v[k]->id] = false;
    }
}

static void
begin_outer(lives *l, const ir_region *r, const ir_region *outer)
{
    ir_for_ops (op, r) {
        for (uint32_t k = 0; k < op->nargs; k++)
            if (!ir_region_inside(op->args[k]->region, outer))
                begin_life(l, op->args[k]);
        for (uint32_t k = 0; k < op->nregions; k++)
            begin_outer(l, op->regions[k], outer);
    }
}

static void
follow_back(lives *l, const ir_region *r)
{
    for (const ir_op *op = ir_terminator(r); op; op = op->prev) {
        end_lives(l, op->results, op->nresults);
        for (uint32_t k = 0; k < op->nregions; k++) {
            if (op->code != RG_OP_IF)
                begin_outer(l, op->regions[k], op->regions[k]);
            follow_back(l, op->regions[k]);
        }
        for (uint32_t k = 0; k < op->nargs; k++)
            begin_life(l, op->args[k]);
    }
    end_lives(l, r->params, r->nparams);
}

uint32_t
nvidia_pressure(const ir_fn *fn)
{
    lives l = {.live = arena_new_n(mem_scratch(), bool, fn->next_id)};
    follow_back(&l, fn->body);
    return l.most;
}
