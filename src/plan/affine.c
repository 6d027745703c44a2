/* Numbers that are a multiple of one value and a constant. SPDX-License-Identifier: Apache-2.0
 *
 *   %a = sub 1, %v                 (forward: %w = sub 1, (mul 0.1, %v))
 *   %b = mul 0.1, %a
 *   %f = add %b, (recall %w)   ->  %m = mul -0.2, (recall %v)
 *                                  %f = add %m, 1.1
 *
 * What an adjoint is multiplied by is put together term by term; for a polynomial of second degree the terms are all of this
 * kind, and two operations, which become one, serve as well as any number of them. Constants are added in f64 and rounded
 * once: the result is off by roundings of the product and the offset, which count where the two cancel, as in 3 (v - 1). */
#include "plan/affine.h"

#include <math.h>

enum { DEPTH = 12, WORTH_IT = 3 /* operations, where two take their place */ };

/* slope * base + offset; base NULL: a constant */
typedef struct affine {
    const ir_value *base;
    double slope, offset;
} affine;

typedef struct reading {
    const ir_region *reverse;
    uint32_t ops; /* of the reverse */
} reading;

static affine read_value(reading *r, const ir_value *v, unsigned depth);

static affine
leaf(const ir_value *v)
{
    return (affine){v, 1, 0};
}

/* x * y + z, where that is of the kind */
static bool
multiply_add(affine x, affine y, affine z, affine *out)
{
    if (x.base && y.base)
        return false;
    double by = x.base ? y.offset : x.offset;
    affine p = x.base ? x : y;
    if (p.base && z.base && p.base != z.base)
        return false;
    *out = (affine){p.base ? p.base : z.base, (p.base ? by * p.slope : 0) + z.slope, by * p.offset + z.offset};
    return true;
}

static bool
read_op(reading *r, const ir_op *op, unsigned depth, affine *out)
{
    const affine one = {NULL, 0, 1}, minus = {NULL, 0, -1}, zero = {0};
    affine args[3];
    uint32_t before = r->ops;
    bool known = op->code == RG_OP_ADD || op->code == RG_OP_SUB || op->code == RG_OP_NEG || op->code == RG_OP_MUL ||
                 op->code == RG_OP_FMA;
    for (uint32_t i = 0; known && i < op->nargs; i++)
        args[i] = read_value(r, op->args[i], depth - 1);
    if (known && op->code == RG_OP_FMA)
        known = multiply_add(args[0], args[1], args[2], out);
    else if (known && op->code == RG_OP_MUL)
        known = multiply_add(args[0], args[1], zero, out);
    else if (known && op->code == RG_OP_NEG)
        known = multiply_add(minus, args[0], zero, out);
    else if (known)
        known = multiply_add(op->code == RG_OP_SUB ? minus : one, args[1], args[0], out);
    r->ops = known ? r->ops + (op->parent == r->reverse) : before;
    return known;
}

/* A recalled value is what the loop's body made it of. */
static affine
read_value(reading *r, const ir_value *v, unsigned depth)
{
    uint64_t bits;
    affine a;
    if (ir_is_const(v, &bits))
        return (affine){NULL, 0, ir_bits_float((rg_dtype)v->type.dtype, bits)};
    const ir_op *def = v->def;
    if (def && def->code == RG_OP_RECALL && depth)
        return read_value(r, def->args[0], depth - 1);
    return def && depth && read_op(r, def, depth, &a) ? a : leaf(v);
}

/* where the reverse has the value, before `at` */
static ir_value *
recalled_before(const ir_value *base, const ir_op *at)
{
    for (ir_op *op = at->parent->first; op && op != at; op = op->next)
        if (op->code == RG_OP_RECALL && op->args[0] == base)
            return op->results[0];
    return NULL;
}

ir_value *
ad_affine(ir_fn *fn, ir_value *v)
{
    rg_dtype d = (rg_dtype)v->type.dtype;
    if (!v->def || (d != RG_F32 && d != RG_F64))
        return v;
    reading r = {.reverse = v->region};
    affine a = read_value(&r, v, DEPTH);
    ir_value *base = a.base ? recalled_before(a.base, v->def) : NULL;
    a.slope = ir_bits_float(d, ir_float_bits(d, a.slope)), a.offset = ir_bits_float(d, ir_float_bits(d, a.offset));
    bool good = isfinite(a.slope) && isfinite(a.offset) && a.slope != 0 && a.base != v;
    if (!base || !good || r.ops < WORTH_IT)
        return v;
    ir_emit e = {fn, v->region, v->def, v->def->loc};
    ir_value *product = ir_emit_2(&e, RG_OP_MUL, base, ir_emit_float(&e, d, a.slope));
    return a.offset != 0 ? ir_emit_2(&e, RG_OP_ADD, product, ir_emit_float(&e, d, a.offset)) : product;
}
