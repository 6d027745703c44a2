/* What can be computed again, and costs. SPDX-License-Identifier: Apache-2.0 */
#include "plan/recompute.h"

#include "diff/activity.h"
#include "analysis/integers.h"

/* -- what can be computed again ------------------------------------------------------------------------------- */
ad_how
ad_recomputable(const ir_op *owner, const ir_value *v, const ir_writes *writes)
{
    uint64_t step;
    ir_value *start;
    const ir_region *body = owner->regions[0];
    if (!v->def) {
        if (owner->code == RG_OP_PARALLEL && v->region == body)
            return AD_FREE; /* the reverse thread has the same index */
        return ir_is_induction(owner, v, &start, &step) ? AD_INDUCTION : AD_NOT;
    }
    const ir_op *op = v->def;
    if (op->code == RG_OP_CONST)
        return AD_FREE;
    if (op->code == RG_OP_LOAD)
        return !ir_region_inside(op->args[0]->region, body) && ir_stands_still(writes, op) ? AD_OP : AD_NOT;
    if (op->code == RG_OP_EXTENT)
        return ir_region_inside(op->args[0]->region, body) ? AD_NOT : AD_OP;
    return ir_ops[op->code].form != IR_OTHER ? AD_OP : AD_NOT;
}

bool
ad_frames_are_own(const ir_op *loop, uint64_t bytes)
{
    const uint64_t room = loop->parent->fn->module->target->own_tape;
    const ir_op *op = loop;
    for (; op && op->code != RG_OP_PARALLEL && bytes <= room; op = op->parent->op) {
        uint64_t trips = ir_is_loop(op) ? ir_most_iterations(op) : 1;
        bytes = trips <= room ? bytes * trips : room + 1;
    }
    return op && bytes <= room && !op->records;
}

/* -- costs -------------------------------------------------------------------------------------------------- */
int32_t
ad_cost_of_recording(ir_type type)
{
    int32_t bytes = (int32_t)ir_bytes((rg_dtype)type.dtype) * (type.kind == IR_ARRAY ? (int32_t)type.length : 1);
    return 3 + bytes / 2;
}

int32_t
ad_cost_of_pair(const ir_op *op)
{
    return op->args[0]->type.dtype == RG_F64 ? 6 : ir_cost(op);
}
