/* Numbers that a size is a multiple of, as far as its expression tells. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

int64_t
fc_common_divisor(int64_t x, int64_t y)
{
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}

int64_t
fc_known_divisor(const node *n)
{
    int64_t v;
    if (fc_is_constant_node(n, &v))
        return v < 0 || v > INT32_MAX ? 1 : v;
    switch (n->kind) {
    case E_CAST:
        return n->kid[0]->type->kind == TYPE_SCALAR && !fc_is_float_dtype(n->kid[0]->type->dtype)
                   ? fc_known_divisor(n->kid[0])
                   : 1;
    case E_REF:
        return n->decl->kind == DECL_VAR && !n->decl->written && !n->decl->address_taken && n->decl->init &&
                       n->decl->init->kind != E_INIT
                   ? fc_known_divisor(n->decl->init)
                   : 1;
    case E_BINARY:
        if (n->type->kind != TYPE_SCALAR || fc_is_float_dtype(n->type->dtype))
            return 1;
        if (n->op == RG_OP_MUL) {
            int64_t x = fc_known_divisor(n->kid[0]), y = fc_known_divisor(n->kid[1]);
            return x && y > INT32_MAX / x ? (x > y ? x : y) : x * y;
        }
        if (n->op == RG_OP_ADD || n->op == RG_OP_SUB)
            return fc_common_divisor(fc_known_divisor(n->kid[0]), fc_known_divisor(n->kid[1]));
        return 1;
    default:
        return 1;
    }
}
