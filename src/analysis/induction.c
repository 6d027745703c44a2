/* Induction values and affine forms. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/induction.h"

/* next = param + constant */
static bool
steps_by_constant(const ir_op *loop, const ir_value *param, const ir_value *next, uint64_t *step)
{
    uint64_t bits;
    const ir_op *op = next->def;
    if (next == param)
        return *step = 0, true;
    if (!op || (op->code != RG_OP_ADD && op->code != RG_OP_SUB) || op->parent != loop->regions[0])
        return false;
    if (op->args[0] == param && ir_is_const(op->args[1], &bits))
        return *step = op->code == RG_OP_ADD ? bits : 0 - bits, true;
    if (op->code == RG_OP_ADD && op->args[1] == param && ir_is_const(op->args[0], &bits))
        return *step = bits, true;
    return false;
}

bool
ir_is_induction(const ir_op *loop, const ir_value *param, ir_value **start, uint64_t *step)
{
    if (param->def || param->region != loop->regions[0] || !ir_is_int((rg_dtype)param->type.dtype) ||
        param->type.kind != IR_SCALAR || param->type.lanes)
        return false;
    if (loop->code == RG_OP_PARALLEL)
        return *start = loop->args[param->index], *step = 1, true;
    if (loop->code != RG_OP_FOR && loop->code != RG_OP_LOOP)
        return false;
    if (loop->code == RG_OP_FOR && param->index == 0)
        return *start = loop->args[0], *step = (uint64_t)loop->attr.step, true;
    uint32_t carried = param->index - (loop->code == RG_OP_FOR ? 1 : 0);
    *start = loop->args[ir_first_init(loop) + carried];
    return steps_by_constant(loop, param, ir_terminator(loop->regions[0])->args[carried], step);
}

/* all of this arithmetic is modulo 2^64, as the index arithmetic of kernels is */
static int64_t
negated(int64_t v)
{
    return (int64_t)(0 - (uint64_t)v);
}

static void
add_term(ir_affine *a, const ir_value *symbol, int64_t coefficient)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->term[i].symbol == symbol) {
            a->term[i].coefficient = (int64_t)((uint64_t)a->term[i].coefficient + (uint64_t)coefficient);
            if (!a->term[i].coefficient)
                a->term[i] = a->term[--a->n];
            return;
        }
    if (!coefficient)
        return;
    if (a->n == IR_AFFINE_TERMS) {
        a->known = false;
        return;
    }
    a->term[a->n].symbol = symbol;
    a->term[a->n++].coefficient = coefficient;
}

/* a += scale * v, through additions, constant multiples and widening casts; `depth` bounds the walk */
static void
add_value(ir_affine *a, const ir_value *v, int64_t scale, unsigned depth)
{
    uint64_t bits;
    const ir_op *op = v->def;
    if (ir_is_const(v, &bits)) {
        a->constant = (int64_t)((uint64_t)a->constant + (uint64_t)scale * bits);
        return;
    }
    if (op && depth) {
        const ir_value *x = op->nargs ? op->args[0] : NULL;
        switch ((rg_op)op->code) {
        case RG_OP_ADD:
        case RG_OP_SUB:
            add_value(a, x, scale, depth - 1);
            add_value(a, op->args[1], op->code == RG_OP_ADD ? scale : negated(scale), depth - 1);
            return;
        case RG_OP_NEG:
            add_value(a, x, negated(scale), depth - 1);
            return;
        case RG_OP_MUL:
            if (ir_is_const(op->args[1], &bits) && bits + (1u << 20) < (2u << 20)) {
                add_value(a, x, (int64_t)((uint64_t)scale * bits), depth - 1);
                return;
            }
            break;
        case RG_OP_CAST:
            if (ir_is_int((rg_dtype)x->type.dtype) && ir_is_int((rg_dtype)v->type.dtype) &&
                ir_bits((rg_dtype)v->type.dtype) >= ir_bits((rg_dtype)x->type.dtype)) {
                add_value(a, x, scale, depth - 1);
                return;
            }
            break;
        default:
            break;
        }
    }
    add_term(a, v, scale);
}

ir_affine
ir_affine_of(const ir_value *v)
{
    ir_affine a = {.known = true};
    add_value(&a, v, 1, 16);
    return a;
}

ir_affine
ir_affine_minus(ir_affine a, ir_affine b)
{
    a.known = a.known && b.known;
    a.constant = (int64_t)((uint64_t)a.constant - (uint64_t)b.constant);
    for (unsigned i = 0; i < b.n; i++)
        add_term(&a, b.term[i].symbol, negated(b.term[i].coefficient));
    return a;
}
