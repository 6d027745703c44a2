/* Integers that are known. SPDX-License-Identifier: Apache-2.0 */
#include "ir/known.h"

bool
ir_known_value(const ir_known *indices, const ir_value *v, uint64_t *bits)
{
    if (ir_is_const(v, bits))
        return true;
    for (const ir_known *k = indices; k; k = k->outer)
        if (k->index == v) {
            *bits = k->bits;
            return true;
        }
    const ir_op *op = v->def;
    uint64_t x[3] = {0};
    if (!op || ir_ops[op->code].form == IR_OTHER || op->nargs > 3)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (ir_is_float((rg_dtype)op->args[i]->type.dtype) || !ir_known_value(indices, op->args[i], &x[i]))
            return false;
    return ir_eval((rg_op)op->code, (rg_dtype)op->args[0]->type.dtype, (rg_dtype)v->type.dtype, x[0], x[1], x[2],
                   bits);
}

uint64_t
ir_iterations(const ir_op *loop, uint64_t lo, uint64_t hi)
{
    rg_dtype d = (rg_dtype)loop->regions[0]->params[0]->type.dtype;
    int64_t step = loop->attr.step;
    uint64_t low = step > 0 ? lo : hi, high = step > 0 ? hi : lo;
    if (ir_is_signed(d) ? (int64_t)low >= (int64_t)high : low >= high)
        return 0;
    return (high - low - 1) / (step > 0 ? (uint64_t)step : -(uint64_t)step) + 1;
}
