/* f16 and f32 become f64, everywhere. SPDX-License-Identifier: Apache-2.0 */
#include "opt/promote.h"

static bool
is_narrow_float(ir_type t)
{
    return t.dtype == RG_F16 || t.dtype == RG_F32;
}

static bool
can_widen(ir_op *op, void *user)
{
    if (op->code == RG_OP_BITCAST)
        return !is_narrow_float(op->args[0]->type) && !is_narrow_float(op->results[0]->type);
    return op->plane == RG_PRIMAL && op->code != RG_OP_TAPE_PUSH && op->code != RG_OP_TAPE_POP;
}

static void
widen_table(ir_op *op, arena *a)
{
    ir_type t = op->results[0]->type;
    double *wide = arena_new_n(a, double, t.length + 1);
    for (uint32_t i = 0; i < t.length; i++) {
        uint64_t bits = 0;
        unsigned size = ir_bytes((rg_dtype)t.dtype);
        memcpy(&bits, (const char *)op->attr.data + i * size, size);
        wide[i] = ir_bits_float((rg_dtype)t.dtype, bits);
    }
    op->attr.data = wide;
}

static bool
widen_op(ir_op *op, void *user)
{
    if (op->code == RG_OP_TABLE && is_narrow_float(op->results[0]->type))
        widen_table(op, user);
    if (op->code == RG_OP_CONST && is_narrow_float(op->results[0]->type))
        op->attr.bits = ir_float_bits(
            RG_F64, ir_bits_float((rg_dtype)op->results[0]->type.dtype, op->attr.bits));
    for (uint32_t i = 0; i < op->nresults; i++)
        if (is_narrow_float(op->results[i]->type))
            op->results[i]->type.dtype = RG_F64;
    for (uint32_t i = 0; i < op->nregions; i++)
        for (uint32_t k = 0; k < op->regions[i]->nparams; k++)
            if (is_narrow_float(op->regions[i]->params[k]->type))
                op->regions[i]->params[k]->type.dtype = RG_F64;
    return true;
}

bool
ir_promote(ir_module *m)
{
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        if (!ir_walk(fn->body, can_widen, NULL))
            return false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        for (uint32_t i = 0; i < fn->body->nparams; i++)
            if (is_narrow_float(fn->body->params[i]->type))
                fn->body->params[i]->type.dtype = RG_F64;
        ir_walk(fn->body, widen_op, m->arena);
        if (fn->shape)
            ir_walk(fn->shape, widen_op, m->arena);
    }
    return true;
}
