/* Arrays to which the threads of a parallel loop only add. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sums.h"

bool
ir_is_sum(const ir_op *op)
{
    return op->code == RG_OP_RMW && op->rmw == RG_RMW_ADD && op->atomic && !op->nresults &&
           ir_is_float((rg_dtype)op->args[0]->type.dtype);
}

typedef struct search {
    ir_sum *sums;
    uint32_t n;
    bool spoilt[IR_SUMS_MAX];
} search;

static bool
is_parameter_or_temp(const ir_value *buffer)
{
    return buffer->def ? buffer->def->code == RG_OP_TEMP : buffer->region->op == NULL;
}

static bool
collect(ir_op *op, void *user)
{
    search *s = user;
    if (!ir_is_sum(op) || !is_parameter_or_temp(op->args[0]))
        return true;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->sums[i].buffer == op->args[0] && s->sums[i].plane == op->plane)
            return true;
    if (s->n < IR_SUMS_MAX)
        s->sums[s->n++] = (ir_sum){op->args[0], op->plane};
    return true;
}

/* any other access of the plane */
static bool
spoil(ir_op *op, void *user)
{
    search *s = user;
    if (op->code != RG_OP_LOAD && op->code != RG_OP_STORE && op->code != RG_OP_RMW)
        return true;
    for (uint32_t i = 0; i < s->n; i++)
        if (op->plane == s->sums[i].plane && ir_may_be_same(op->args[0], s->sums[i].buffer))
            s->spoilt[i] |= !ir_is_sum(op) || op->args[0] != s->sums[i].buffer;
    return true;
}

uint32_t
ir_sums_find(const ir_op *task, ir_sum sums[IR_SUMS_MAX])
{
    search s = {.sums = sums};
    ir_walk(task->regions[0], collect, &s);
    ir_walk(task->regions[0], spoil, &s);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.n; i++)
        if (!s.spoilt[i])
            sums[n++] = sums[i];
    return n;
}
