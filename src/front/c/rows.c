/* Arrays of pointers to rows, as programs make them: where an element points follows from its subscript, and no index is
 * read from memory. SPDX-License-Identifier: Apache-2.0
 *
 *     for (int i = 0; i < n; i++)
 *         row[i] = base + i * m;       row[k][j]  →  base[k * m + j]
 *
 * That holds if one statement assigns all elements, and what it computes with beside the subscript stands in the kernel's
 * outermost code, or is computed from that. One element may be assigned before, as in row[0] = base. Where elements are
 * exchanged too, their indices are kept (slot.c). */
#include "front/c/census.h"

#include "ir/ir.h"

enum { LARGEST_FORMULA = 32 };

static rg_value
built_with(gen *g, const ir_op *op, const rg_value *args)
{
    switch (op->nargs) {
    case 1:
        return op->code == RG_OP_CAST ? fc_convert(g, (rg_dtype)op->results[0]->type.dtype, args[0])
                                      : rg_build_1(g->b, op->code, args[0]);
    case 2:
        return rg_build_2(g->b, op->code, args[0], args[1]);
    default:
        return rg_build_3(g->b, op->code, args[0], args[1], args[2]);
    }
}

/* What v was found to be once the loop was built that it stands in. */
static ir_value *
found(gen *g, ir_value *v)
{
    return rg_build_cast(g->b, (rg_dtype)v->type.dtype, v);
}

static bool
is_zero(gen *g, ir_value *v)
{
    uint64_t bits;
    return rg_value_is_const(found(g, v), &bits) && bits == 0;
}

/* The value that a subscript is, whatever it was widened to, and wherever the array's start was added. */
static ir_value *
subscript_of(gen *g, ir_value *v)
{
    v = found(g, v);
    const ir_op *op = v->def;
    if (op && op->code == RG_OP_CAST && !fc_is_float_dtype((rg_dtype)op->args[0]->type.dtype) &&
        fc_dtype_bits((rg_dtype)op->args[0]->type.dtype) >= 32 && fc_dtype_bits((rg_dtype)v->type.dtype) == 64)
        return subscript_of(g, op->args[0]);
    if (op && op->code == RG_OP_ADD && (is_zero(g, op->args[0]) || is_zero(g, op->args[1])))
        return subscript_of(g, op->args[is_zero(g, op->args[0])]);
    return v;
}

/* Whether v is computed from `subscript` and from what all code behind it sees. */
static bool
comes_from(gen *g, ir_value *v, const ir_value *subscript, unsigned *size)
{
    v = found(g, v);
    if (v == subscript || !v->region->op || (v->def && v->def->code == RG_OP_CONST))
        return true;
    if (!v->def || !ir_is_arithmetic(v->def) || v->def->nargs > 3 || v->def->nresults != 1 || ++*size > LARGEST_FORMULA)
        return false;
    for (uint32_t i = 0; i < v->def->nargs; i++)
        if (!comes_from(g, v->def->args[i], subscript, size))
            return false;
    return true;
}

/* v with another subscript */
static rg_value
computed_for(gen *g, ir_value *v, const ir_value *subscript, rg_value by)
{
    rg_value args[3] = {0};
    uint64_t bits;
    v = found(g, v);
    if (v == subscript)
        return fc_convert(g, (rg_dtype)v->type.dtype, by);
    if (rg_value_is_const(v, &bits))
        return rg_build_bits(g->b, (rg_dtype)v->type.dtype, bits);
    if (!v->region->op)
        return v;
    for (uint32_t i = 0; i < v->def->nargs; i++)
        args[i] = computed_for(g, v->def->args[i], subscript, by);
    return built_with(g, v->def, args);
}

static bool
all_follow(gen *g, const rg_value *index, uint32_t n, const ir_value *subscript)
{
    unsigned size = 0;
    for (uint32_t i = 0; i < n; i++)
        if (index[i] && !comes_from(g, index[i], subscript, &size))
            return false;
    return true;
}

static bool
same_constant(rg_value x, rg_value y)
{
    uint64_t a = 0, b = 0;
    return (!x || rg_value_is_const(x, &a)) && (!y || rg_value_is_const(y, &b)) && a == b;
}

/* What an index is for one subscript, as far as that is seen: one value, or none, and a constant. */
typedef struct sum {
    const ir_value *value;
    int64_t constant;
} sum;

static bool
add(sum *x, const sum *y, int sign)
{
    if (y->value && (x->value || sign < 0))
        return false;
    x->value = y->value ? y->value : x->value;
    x->constant += sign * y->constant;
    return true;
}

static bool
multiply(sum *x, const sum *y)
{
    const sum *factor = x->value ? y : x, *other = x->value ? x : y;
    if (factor->value || (other->value && factor->constant != 0 && factor->constant != 1))
        return false;
    *x = (sum){factor->constant ? other->value : NULL, factor->constant * other->constant};
    return true;
}

static bool
sum_at(gen *g, ir_value *v, const ir_value *subscript, int64_t at, sum *out)
{
    unsigned size = 0;
    sum y;
    v = found(g, v);
    const ir_op *op = v->def;
    rg_op code = op ? op->code : RG_OP_COUNT;
    uint64_t bits;
    *out = (sum){0};
    if (v == subscript || rg_value_is_const(v, &bits)) {
        out->constant = v == subscript ? at : (int64_t)bits;
        return true;
    }
    if (code == RG_OP_CAST && !fc_is_float_dtype((rg_dtype)op->args[0]->type.dtype))
        return sum_at(g, op->args[0], subscript, at, out);
    if ((code == RG_OP_ADD || code == RG_OP_SUB || code == RG_OP_MUL) && sum_at(g, op->args[0], subscript, at, out) &&
        sum_at(g, op->args[1], subscript, at, &y) &&
        (code == RG_OP_MUL ? multiply(out, &y) : add(out, &y, code == RG_OP_ADD ? 1 : -1)))
        return true;
    *out = (sum){.value = v};
    return comes_from(g, v, NULL, &size);
}

/* Whether the element that was assigned on its own is what the formula says. */
static bool
first_fits(gen *g, const slot *s, const ir_value *subscript, uint32_t n)
{
    uint64_t at = 0;
    sum x, y;
    if (s->first)
        rg_value_is_const(s->first, &at);
    for (uint32_t i = 0; s->first && i < n; i++) {
        x = y = (sum){0};
        if ((s->formula[i] && !sum_at(g, s->formula[i], subscript, (int64_t)at, &x)) ||
            (s->first_index[i] && !sum_at(g, s->first_index[i], NULL, 0, &y)) || x.value != y.value || x.constant != y.constant)
            return false;
    }
    return true;
}

static rg_value
first_subscript(gen *g, const place *p)
{
    return p->index[0] ? p->index[0] : fc_int_value(g, RG_I32, 0);
}

bool
fc_rows_assigned(gen *g, slot *s, const place *p, const place *to, const node *n)
{
    uint64_t bits;
    bool able = g->census && n && s->rank == 1 && !to->null && !fc_are_exchanged(g->census, s->type->elem);
    rg_value subscript = able ? first_subscript(g, p) : NULL;
    if (able && !s->first && !s->filler && rg_value_is_const(subscript, &bits)) {
        s->first = subscript;
        memcpy(s->first_index, to->index, sizeof(s->first_index));
        return true;
    }
    bool formula = able && !s->filler && !rg_value_is_const(subscript, &bits);
    if (s->formula_read)
        return false;
    s->filler = n;
    s->subscript = formula ? subscript : NULL;
    memcpy(s->formula, to->index, sizeof(s->formula));
    return true;
}

bool
fc_rows_read(gen *g, slot *s, const place *p, place *to, rg_place where)
{
    const ir_value *subscript = s->subscript ? subscript_of(g, s->subscript) : NULL;
    if (s->filler ? !subscript || !all_follow(g, s->formula, to->n, subscript)
                  : !s->first || !same_constant(s->first, p->index[0]) || !all_follow(g, s->first_index, to->n, NULL))
        return false;
    if (!s->filler) {
        memcpy(to->index, s->first_index, sizeof(to->index));
        s->first_read = true;
        return true;
    }
    if (!first_fits(g, s, subscript, to->n)) {
        if (s->first_read)
            fc_fail(g, ERR_FIELD_CHOICE, where, s->name);
        return false;
    }
    s->formula_read = true;
    for (uint32_t i = 0; i < to->n; i++)
        to->index[i] = s->formula[i] ? computed_for(g, s->formula[i], subscript, first_subscript(g, p)) : NULL;
    return true;
}
