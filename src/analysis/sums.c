/* Arrays to which the threads of a parallel loop only add. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sums.h"

bool
ir_is_sum(const ir_op *op)
{
    return ir_access_does(op) == IR_ADDS && ir_is_float((rg_dtype)op->args[0]->type.dtype);
}

uint32_t
ir_sums_find(const ir_effects *task, ir_sum sums[IR_SUMS_MAX])
{
    uint32_t n = 0;
    for (size_t i = 0; i < task->at.n && n < IR_SUMS_MAX; i++) {
        const ir_effect *e = &task->at.at[i];
        bool sum = e->root && e->root != &ir_some_temp && ir_is_float((rg_dtype)e->root->type.dtype), known = false;
        for (uint32_t k = 0; k < n; k++)
            known |= sums[k].buffer == e->root && sums[k].plane == e->plane;
        if (sum && !known && ir_effects_on(task, e->root, e->plane) == IR_ADDS)
            sums[n++] = (ir_sum){e->root, e->plane};
    }
    return n;
}
