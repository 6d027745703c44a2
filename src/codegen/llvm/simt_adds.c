/* Additions that the threads of a warp make each for itself, several at once. SPDX-License-Identifier: Apache-2.0
 *
 * What holds an addition back is a branch: assemblers make one even of a predicate. Additions under the same mask that
 * nothing but arithmetic stands between wait for each other, and share the branch, and the choice between cells of the
 * task's own and the array. What goes to one element is added up before. */
#include "codegen/llvm/nvidia.h"
#include "analysis/access.h"

struct gen_adds {
    const ir_op *ops[16];
    LLVMValueRef values[16]; /* of one element: their sum */
    uint32_t n;
};

/* -- one of them ---------------------------------------------------------------------------------------------------- */

static void
add_own(gen *g, const ir_op *op, const gen_reach *r, LLVMValueRef at, LLVMValueRef value)
{
    if (gen_takes_turns(g, op)) {
        gen_turns turns = gen_turns_begin(g, at, r->mask);
        gen_plain_rmw(g, op, r->dtype, at, value);
        gen_turns_end(g, &turns);
    } else if (gen_adds_unseen(g, r->dtype))
        gen_add_unseen(g, r, at, value);
    else if (op->atomic && !gen_is_alone(g))
        gen_atomic_rmw(g, op, r->dtype, at, value);
    else
        gen_plain_rmw(g, op, r->dtype, at, value);
}

/* -- all of them ---------------------------------------------------------------------------------------------------- */

static void
add_to_arrays(gen *g, const gen_adds *q, gen_reach *reach)
{
    for (uint32_t i = 0; i < q->n; i++)
        if (!reach[i].nothing)
            add_own(g, q->ops[i], &reach[i], gen_own_address(g, &reach[i]), q->values[i]);
}

static void
add_all(gen *g, const gen_adds *q, gen_reach *reach)
{
    const private_sum *sum = gen_private_sum(g, q->ops[0]);
    if (!sum) {
        add_to_arrays(g, q, reach);
        return;
    }
    LLVMBasicBlockRef cells = gen_block(g, "cells"), shared = gen_block(g, "shared"), end = gen_block(g, "after");
    LLVMBuildCondBr(g->b, sum->used, cells, shared);
    gen_at(g, cells);
    for (uint32_t i = 0; i < q->n; i++)
        gen_simt_private_own(g, q->ops[i], sum, q->values[i]);
    LLVMBuildBr(g->b, end);
    gen_at(g, shared);
    add_to_arrays(g, q, reach);
    LLVMBuildBr(g->b, end);
    gen_at(g, end);
}

void
gen_adds_end(gen *g)
{
    gen_adds *q = g->s->adds;
    gen_reach reach[countof(q->ops)];
    if (!q || !q->n)
        return;
    for (uint32_t i = 0; i < q->n; i++)
        reach[i] = gen_elements_of(g, q->ops[i], true);
    /* lanes take turns together: then their masks hold each addition back */
    bool turns = gen_takes_turns(g, q->ops[0]);
    gen_some some = gen_some_begin(g, turns ? NULL : reach[0].mask);
    add_all(g, q, reach);
    gen_some_end(g, &some);
    q->n = 0;
}

/* -- which ------------------------------------------------------------------------------------------------------------ */

static bool
adds(const gen *g, const ir_op *op)
{
    return g->target->warp && ir_is_add(op) && ir_lanes_of(op);
}

static const ir_value *
mask_of(const ir_op *op)
{
    return op->masked ? op->args[op->nargs - 1] : NULL;
}

/* a plane that may be missing is part of what holds an addition back */
static bool
go_together(gen *g, const ir_op *a, const ir_op *b)
{
    bool same = a->args[0] == b->args[0] && a->plane == b->plane;
    bool there = gen_presence(g, a->args[0], a->plane) == THERE && gen_presence(g, b->args[0], b->plane) == THERE;
    return mask_of(a) == mask_of(b) && gen_private_sum(g, a) == gen_private_sum(g, b) && (same || there) &&
           gen_takes_turns(g, a) == gen_takes_turns(g, b);
}

/* Where additions have no order anyway one may be of what two of them add. */
static bool
join_addition(gen *g, gen_adds *q, const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    for (uint32_t i = 0; i < q->n; i++) {
        if (!op->atomic || !q->ops[i]->atomic || !access_same(q->ops[i], op) || (d != RG_F32 && d != RG_F64))
            continue;
        q->values[i] = gen_combine(g, RG_RMW_ADD, d, q->values[i], gen_get(g, gen_value_of(op)));
        return true;
    }
    return false;
}

bool
gen_add_waits(gen *g, const ir_op *op)
{
    gen_adds *q = g->s->adds;
    if (!adds(g, op))
        return false;
    if (!q)
        q = g->s->adds = arena_one(g->scratch, gen_adds);
    if (gen_presence(g, op->args[0], op->plane) == MISSING || join_addition(g, q, op))
        return true;
    if (q->n == countof(q->ops) || (q->n && !go_together(g, q->ops[0], op)))
        gen_adds_end(g);
    q->values[q->n] = gen_get(g, gen_value_of(op));
    q->ops[q->n++] = op;
    return true;
}

/* whether what waits may as well be done behind op */
static bool
may_stay_behind(gen *g, const ir_op *op)
{
    const gen_adds *q = g->s->adds;
    if ((ir_ops[op->code].flags & IR_PURE) || gen_is_late(g, op))
        return true;
    for (uint32_t i = 0; i < q->n; i++)
        if (op->code != RG_OP_LOAD || !g->options->noalias || ir_access_conflict(q->ops[i], op))
            return false;
    return true;
}

void
gen_adds_before(gen *g, const ir_op *op)
{
    if (g->s->adds && !adds(g, op) && !may_stay_behind(g, op))
        gen_adds_end(g);
}
