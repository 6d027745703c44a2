/* How often values are used. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/uses.h"

static void
count_in(const ir_region *r, uint32_t *uses)
{
    ir_for_ops(op, r)
    {
        for (uint32_t k = 0; k < op->nargs; k++)
            uses[op->args[k]->id]++;
        for (uint32_t k = 0; k < op->nregions; k++)
            count_in(op->regions[k], uses);
    }
}

uint32_t *
ir_count_uses(arena *a, const ir_fn *fn)
{
    uint32_t *uses = arena_new_n(a, uint32_t, fn->next_id + 1);
    count_in(fn->body, uses);
    if (fn->shape)
        count_in(fn->shape, uses);
    return uses;
}

uint32_t
ir_uses_by(const ir_op *op, const ir_value *v)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < op->nargs; i++)
        n += op->args[i] == v;
    for (uint32_t i = 0; i < op->nregions; i++)
        n += ir_uses_in(op->regions[i], v);
    return n;
}

uint32_t
ir_uses_in(const ir_region *r, const ir_value *v)
{
    uint32_t n = 0;
    ir_for_ops(op, r)
        n += ir_uses_by(op, v);
    return n;
}
