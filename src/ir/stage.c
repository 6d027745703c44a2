/* Which stage a module stands in, by what it is made of. SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

static ir_stage
later(ir_stage a, ir_stage b)
{
    return a > b ? a : b;
}

static ir_stage
stage_of_type(ir_type t)
{
    return t.kind == IR_SLOT                 ? IR_STAGE_SLOTS
           : t.kind == IR_CURSOR             ? IR_STAGE_TAPE
           : t.kind == IR_TRACE || t.lanes   ? IR_STAGE_AD
                                             : IR_STAGE_SOURCE;
}

static bool
note_stage(ir_op *op, void *user)
{
    ir_stage *stage = user;
    for (uint32_t i = 0; i < op->nresults; i++)
        *stage = later(*stage, stage_of_type(op->results[i]->type));
    for (uint32_t i = 0; op->code == RG_OP_PARALLEL && i < op->regions[0]->nparams; i++)
        *stage = later(*stage, stage_of_type(op->regions[0]->params[i]->type));
    if (ir_ops[op->code].flags & IR_SEGMENTS)
        *stage = IR_STAGE_SEGMENTS;
    if ((ir_ops[op->code].flags & IR_TRACES) || op->records || op->rewinds)
        *stage = later(*stage, IR_STAGE_AD);
    return true;
}

/* A recording parallel without a trace, and nothing else that tells, is one whose traces are
 * lowered. */
static bool
lowered_parallel(ir_op *op, void *user)
{
    bool flagged = op->code == RG_OP_PARALLEL && op->records;
    return !(flagged && op->nresults == ir_value_results(op));
}

ir_stage
ir_stage_of(const ir_module *m)
{
    ir_stage stage = IR_STAGE_SOURCE;
    for (const ir_fn *fn = m->first; fn; fn = fn->next) {
        ir_walk(fn->body, note_stage, &stage);
        if (stage == IR_STAGE_AD && !ir_walk(fn->body, lowered_parallel, NULL))
            stage = IR_STAGE_TAPE;
    }
    return stage;
}
