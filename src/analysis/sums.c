/* Arrays to which the threads of a parallel loop only add. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sums.h"

#include "analysis/integers.h"

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

bool
ir_sum_never_pays(const ir_op *parallel, const ir_value *buffer)
{
    integers in = integers_begin(); /* nobody asks for its claims: nothing but time follows from the answer */
    poly elements = poly_const(IR_SUMS_THREADS_OF_CELL), threads = poly_const(1);
    uint32_t rank = parallel->attr.rank;
    int64_t count;
    for (uint32_t k = 0; buffer->type.kind == IR_BUFFER && k < buffer->type.rank; k++) {
        poly extent = poly_of_extent(&in, buffer, k);
        elements = poly_mul(&elements, &extent);
    }
    for (uint32_t k = 0; k < rank; k++) {
        poly lo = poly_of(&in, parallel->args[k]), hi = poly_of(&in, parallel->args[rank + k]);
        poly trips = poly_add(&hi, &lo, -1);
        threads = poly_mul(&threads, &trips);
    }
    integers_end(&in);
    if (poly_is_const(&threads, &count) && count < IR_SUMS_THREADS)
        return true;
    poly rest = poly_add(&elements, &threads, -1);
    bool never = rest.known;
    for (uint32_t i = 0; i < rest.n; i++)
        never &= rest.term[i].c >= 0;
    return never;
}
