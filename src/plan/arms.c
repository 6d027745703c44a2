/* See arms.h. SPDX-License-Identifier: Apache-2.0 */
#include "plan/arms.h"

#include "plan/recompute.h"

typedef struct arms_query {
    ad_arms *arms;
    const ir_op *branch;
    bool (*again)(void *user, const ir_value *loaded);
    void *user;
} arms_query;

static void
take_from_outside(arms_query *q, ir_value *v)
{
    for (size_t i = 0; i < q->arms->outside.n; i++)
        if (q->arms->outside.at[i] == v)
            return;
    vec_push(&q->arms->outside, v);
}

static bool
is_in_arms(const arms_query *q, const ir_value *v)
{
    return ir_region_inside(v->region, q->branch->regions[0]) || ir_region_inside(v->region, q->branch->regions[1]);
}

static bool
add_arm_op(ir_op *op, void *user)
{
    arms_query *q = user;
    bool load = op->code == RG_OP_LOAD && op->args[0]->type.kind == IR_BUFFER && !op->atomic && q->again(q->user, op->results[0]);
    bool computes = op->code == RG_OP_CONST || op->code == RG_OP_YIELD || op->code == RG_OP_IF || ir_ops[op->code].form != IR_OTHER;
    for (uint32_t k = 0; k < op->nresults; k++)
        computes &= op->results[k]->type.kind == IR_SCALAR;
    if (!load && !computes)
        return q->arms->again = false;
    if (load)
        vec_push(&q->arms->loads, op);
    if (op->code != RG_OP_CONST && op->code != RG_OP_YIELD && op->code != RG_OP_IF)
        q->arms->cost += ir_cost(op);
    for (uint32_t k = load ? 1 : 0; k < op->nargs; k++)
        if (!is_in_arms(q, op->args[k]))
            take_from_outside(q, op->args[k]);
    return true;
}

void
ad_find_arms(ad_arms *arms, arena *in, const ir_op *branch, bool (*again)(void *user, const ir_value *loaded), void *user)
{
    *arms = (ad_arms){.again = true, .outside.in = in, .loads.in = in};
    arms_query q = {arms, branch, again, user};
    for (uint32_t k = 0; k < branch->nresults; k++)
        arms->again &= branch->results[k]->type.kind == IR_SCALAR;
    if (!arms->again)
        return;
    take_from_outside(&q, branch->args[0]);
    for (uint32_t i = 0; i < branch->nregions && arms->again; i++)
        ir_walk(branch->regions[i], add_arm_op, &q);
}
