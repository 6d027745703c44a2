/* Contraction: a product used once, by a sum of its own region, becomes one fma.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   %p = mul %x, %y     %s = add %p, %z         ->   %s = fma %x, %y, %z
 *                       %s = sub %p, %z         ->   %s = fma %x, %y, (neg %z)
 *                       %s = sub %z, %p         ->   %s = fma (neg %x), %y, %z
 *
 * It changes roundings, so it stands where arithmetic is decided: once before differentiation and
 * once for adjoint code. What one run has seen is decided and copies of it stay so: a sum that was
 * left alone (its product had two uses) is not contracted in a replay where one of them is gone.
 * f16 stays as it is: each of its operations rounds. */
#include "analysis/uses.h"
#include "opt/edit.h"
#include "opt/pass.h"

typedef struct contraction {
    edit edit;
    const uint32_t *uses; /* at the start */
    uint32_t known;       /* ids it covers */
} contraction;

static ir_op *
product_operand(const contraction *c, const ir_op *op, uint32_t k)
{
    const ir_value *v = op->args[k];
    ir_op *mul = v->def;
    if (!mul || mul->code != RG_OP_MUL || mul->parent != op->parent || v->id >= c->known)
        return NULL;
    return c->uses[v->id] == 1 ? mul : NULL;
}

static void
contract(contraction *c, ir_op *op, uint32_t k)
{
    ir_op *mul = op->args[k]->def;
    ir_value *x = mul->args[0], *y = mul->args[1], *z = op->args[1 - k];
    ir_type type = op->results[0]->type;
    if (op->code == RG_OP_SUB && k == 0)
        z = edit_scalar(&c->edit, op, RG_OP_NEG, type, z, NULL, NULL);
    if (op->code == RG_OP_SUB && k == 1)
        x = edit_scalar(&c->edit, op, RG_OP_NEG, type, x, NULL, NULL);
    edit_replace(&c->edit, op->results[0], edit_scalar(&c->edit, op, RG_OP_FMA, type, x, y, z));
    ir_remove(op);
    ir_remove(mul);
}

/* A sum whose terms are added in any order is found by its addition; its product may be contracted later. */
static void
leave_to_backend(const contraction *c, const ir_op *op)
{
    for (uint32_t k = 0; k < 2; k++)
        if (product_operand(c, op, k))
            product_operand(c, op, k)->fast = true;
}

static void
fma_region(contraction *c, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(&c->edit, op);
        for (uint32_t k = 0; k < op->nregions; k++)
            fma_region(c, op->regions[k]);
        if (op->settled || (op->code != RG_OP_ADD && op->code != RG_OP_SUB))
            continue;
        rg_dtype d = (rg_dtype)op->results[0]->type.dtype;
        if (d != RG_F32 && d != RG_F64)
            continue;
        if (op->fast)
            leave_to_backend(c, op);
        else if (product_operand(c, op, 0))
            contract(c, op, 0);
        else if (product_operand(c, op, 1))
            contract(c, op, 1);
    }
}

static bool
settle_op(ir_op *op, void *user)
{
    op->settled = true;
    op->ordered |= op->code == RG_OP_UNWIND || op->code == RG_OP_CALL;
    return true;
}

bool
opt_fma(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        contraction now = {.known = fn->next_id};
        edit_start(&now.edit, fn, c->scratch);
        now.uses = ir_count_uses(c->scratch, fn);
        fma_region(&now, fn->body);
        ir_walk(fn->body, settle_op, NULL);
        changed |= edit_finish(&now.edit);
    }
    return changed;
}
