/* Constants: what expressions of constants are worth now, and const objects as tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

#include "ir/ir.h"

#include <math.h>

static bool
evaluate(gen *g, rg_op op, rg_dtype from, rg_dtype to, uint64_t x, uint64_t y, uint64_t *out)
{
    return ir_eval(op, from, to, x, y, 0, out);
}

static bool
cast_bits(gen *g, rg_dtype from, rg_dtype to, uint64_t x, uint64_t *out)
{
    if (from == to) {
        *out = x;
        return true;
    }
    return evaluate(g, RG_OP_CAST, from, to, x, 0, out);
}

/* The value of n in its own type. */
static bool own_bits(gen *g, const node *n, uint64_t *bits);

static bool
binary_bits(gen *g, const node *n, uint64_t *bits)
{
    uint64_t x, y;
    rg_dtype d = n->kid[0]->type->dtype;
    if (n->kid[0]->type->kind != TYPE_SCALAR || n->kid[1]->type->kind != TYPE_SCALAR)
        return false;
    if (!own_bits(g, n->kid[0], &x) || !fc_constant_bits(g, n->kid[1], d, &y))
        return false;
    if (n->op >= RG_OP_EQ && n->op <= RG_OP_GE)
        return evaluate(g, n->op, d, RG_BOOL, x, y, bits);
    return evaluate(g, n->op, d, d, x, y, bits);
}

static bool
known_call(const node *n, uint64_t *bits)
{
    if (!n->decl)
        return false;
    bool is_inf = strncmp(n->decl->name, "__builtin_inf", 13) == 0 ||
                  strncmp(n->decl->name, "__builtin_huge_val", 18) == 0;
    bool is_nan = strncmp(n->decl->name, "__builtin_nan", 13) == 0;
    if (n->type->kind != TYPE_SCALAR || (!is_inf && !is_nan))
        return false;
    *bits = ir_float_bits(n->type->dtype, is_inf ? INFINITY : NAN);
    return true;
}

/* A const variable with a constant initialiser. */
static bool
variable_bits(gen *g, const node *n, uint64_t *bits)
{
    const decl *d = n->decl;
    return d->type->kind == TYPE_SCALAR && d->type->constant && d->init &&
           d->init->kind != E_INIT && fc_constant_bits(g, d->init, d->type->dtype, bits);
}

static bool
own_bits(gen *g, const node *n, uint64_t *bits)
{
    if (!n->type || n->type->kind != TYPE_SCALAR)
        return false;
    rg_dtype d = n->type->dtype;
    uint64_t x;
    switch (n->kind) {
    case E_INT:
        *bits = ir_wrap(d, n->bits);
        return true;
    case E_FLOAT:
        *bits = ir_float_bits(d, n->number);
        return true;
    case E_UNARY:
        return own_bits(g, n->kid[0], &x) && evaluate(g, n->op, d, d, x, 0, bits);
    case E_PLUS:
        return own_bits(g, n->kid[0], bits);
    case E_LNOT:
        if (!fc_constant_bits(g, n->kid[0], RG_BOOL, &x))
            return false;
        *bits = !x;
        return true;
    case E_AND:
    case E_OR:
        if (!fc_constant_bits(g, n->kid[0], RG_BOOL, &x))
            return false;
        if ((n->kind == E_AND) == !x) {
            *bits = x;
            return true;
        }
        return fc_constant_bits(g, n->kid[1], RG_BOOL, bits);
    case E_BINARY:
        return binary_bits(g, n, bits);
    case E_CAST:
        return fc_constant_bits(g, n->kid[0], d, bits);
    case E_COND:
        return fc_constant_bits(g, n->kid[0], RG_BOOL, &x) && own_bits(g, n->kid[x ? 1 : 2], bits);
    case E_CALL:
        return known_call(n, bits);
    case E_REF:
        return variable_bits(g, n, bits);
    default:
        return false;
    }
}

bool
fc_constant_bits(gen *g, const node *n, rg_dtype to, uint64_t *bits)
{
    uint64_t x;
    return own_bits(g, n, &x) && cast_bits(g, n->type->dtype, to, x, bits);
}

bool
fc_is_constant_node(const node *n, int64_t *v)
{
    uint64_t bits;
    if (!n->type || n->type->kind != TYPE_SCALAR || fc_is_float_dtype(n->type->dtype))
        return false;
    if (!fc_constant_bits(NULL, n, RG_I64, &bits))
        return false;
    *v = (int64_t)bits;
    return true;
}
