/* Reductions by min, max and product. SPDX-License-Identifier: Apache-2.0 */
#include "diff/reduce.h"

ir_value *
ad_keep(ir_fn *fn, ir_op *task, ir_value *value)
{
    uint32_t rank = task->attr.rank;
    ir_emit outside = {fn, task->parent, task, task->loc};
    ir_op *temp = ir_op_new(fn, RG_OP_TEMP, 0, 0, task->loc);
    ir_value *zero = ir_emit_int(&outside, RG_I64, 0);
    for (uint32_t k = 0; k < rank; k++) {
        ir_value *lo = ir_emit_cast(&outside, RG_I64, task->args[k]);
        ir_value *hi = ir_emit_cast(&outside, RG_I64, task->args[rank + k]);
        ir_value *extent = ir_emit_2(&outside, RG_OP_SUB, hi, lo);
        ir_op_arg(temp, fn, ir_emit_2(&outside, RG_OP_MAX, extent, zero));
    }
    ir_emit_place(&outside, temp);
    ir_value *buffer = ir_op_result(temp, fn, ir_buffer((rg_dtype)value->type.dtype, rank), NULL);

    ir_region *body = task->regions[0];
    ir_emit inside = {fn, body, ir_terminator(body), task->loc};
    ir_op *store = ir_op_new(fn, RG_OP_STORE, 0, 0, task->loc);
    ir_op_arg(store, fn, buffer);
    for (uint32_t k = 0; k < rank; k++)
        ir_op_arg(store, fn, ir_emit_2(&inside, RG_OP_SUB, ir_emit_cast(&inside, RG_I64, body->params[k]),
                                    ir_emit_cast(&inside, RG_I64, task->args[k])));
    ir_op_arg(store, fn, value);
    ir_emit_place(&inside, store);
    return buffer;
}

static ir_value *
from_zero(rg_builder *b, const ad_domain *d, ir_value *const *index, uint32_t k)
{
    return rg_build_2(b, RG_OP_SUB, rg_build_cast(b, RG_I64, index[k]), rg_build_cast(b, RG_I64, d->lo[k]));
}

void
ad_from_zero(rg_builder *b, const ad_domain *d, ir_value *const *index, ir_value **at)
{
    for (uint32_t k = 0; k < d->rank; k++)
        at[k] = from_zero(b, d, index, k);
}

ir_value *
ad_kept(rg_builder *b, const ad_domain *d, ir_value *kept, ir_value *const *index)
{
    ir_value *at[RG_MAX_RANK];
    ad_from_zero(b, d, index, at);
    return rg_build_load(b, RG_PRIMAL, kept, d->rank, at);
}

ir_value *
ad_thread_number(rg_builder *b, const ad_domain *d, ir_value *const *index)
{
    ir_value *number = rg_build_int(b, RG_I64, 0);
    for (uint32_t k = 0; k < d->rank; k++) {
        ir_value *extent = rg_build_2(b, RG_OP_SUB, rg_build_cast(b, RG_I64, d->hi[k]),
                                      rg_build_cast(b, RG_I64, d->lo[k]));
        number = rg_build_2(b, RG_OP_ADD, rg_build_2(b, RG_OP_MUL, number, extent), from_zero(b, d, index, k));
    }
    return number;
}

static rg_var
reduced_var(rg_builder *b, rg_dtype dtype, ir_value *start)
{
    rg_var var = rg_build_var(b, (rg_str){0}, (rg_type){dtype, 0});
    rg_build_set(b, var, start);
    return var;
}

/* least thread number whose contribution is the result */
static ir_value *
find_winner(rg_builder *b, const ad_domain *d, ir_value *kept, ir_value *result)
{
    ir_value *index[RG_MAX_RANK], *none = rg_build_int(b, RG_I64, INT64_MAX);
    rg_var first = reduced_var(b, RG_I64, none);
    rg_build_parallel(b, d->rank, d->lo, d->hi, index);
    rg_build_reduce(b, first, RG_RMW_MIN);
    ir_value *wins = rg_build_2(b, RG_OP_EQ, ad_kept(b, d, kept, index), result);
    ir_value *number = ad_thread_number(b, d, index);
    rg_build_set(b, first, rg_build_3(b, RG_OP_SELECT, wins, number, none));
    rg_build_end(b);
    ir_value *found = rg_build_get(b, first);
    return rg_build_3(b, RG_OP_SELECT, rg_build_2(b, RG_OP_EQ, found, none), rg_build_int(b, RG_I64, -1), found);
}

typedef struct product_vars {
    rg_var product, zeros, nought;
} product_vars;

static void
multiply_in(rg_builder *b, const product_vars *p, ir_value *v)
{
    rg_dtype dtype = rg_value_type(v).dtype;
    ir_value *zero = rg_build_float(b, dtype, 0), *is_zero = rg_build_2(b, RG_OP_EQ, v, zero);
    ir_value *factor = rg_build_3(b, RG_OP_SELECT, is_zero, rg_build_float(b, dtype, 1), v);
    ir_value *nought = rg_build_3(b, RG_OP_SELECT, is_zero, v, zero);
    rg_build_set(b, p->product, rg_build_2(b, RG_OP_MUL, rg_build_get(b, p->product), factor));
    rg_build_set(b, p->zeros, rg_build_2(b, RG_OP_ADD, rg_build_get(b, p->zeros), rg_build_cast(b, RG_I64, is_zero)));
    rg_build_set(b, p->nought, rg_build_2(b, RG_OP_ADD, rg_build_get(b, p->nought), nought));
}

ad_reduction
ad_reduce_look(rg_builder *b, const ad_domain *d, rg_rmw op, ir_value *kept, ir_value *result,
               ir_value *initial)
{
    ad_reduction r = {.op = op};
    if (op != RG_RMW_MUL) {
        r.winner = find_winner(b, d, kept, result);
        return r;
    }
    ir_value *index[RG_MAX_RANK];
    rg_dtype dtype = rg_value_type(initial).dtype;
    product_vars p = {reduced_var(b, dtype, rg_build_float(b, dtype, 1)),
                      reduced_var(b, RG_I64, rg_build_int(b, RG_I64, 0)),
                      reduced_var(b, dtype, rg_build_float(b, dtype, 0))};
    rg_build_parallel(b, d->rank, d->lo, d->hi, index);
    rg_build_reduce(b, p.product, RG_RMW_MUL);
    rg_build_reduce(b, p.zeros, RG_RMW_ADD);
    rg_build_reduce(b, p.nought, RG_RMW_ADD);
    multiply_in(b, &p, ad_kept(b, d, kept, index));
    rg_build_end(b);
    multiply_in(b, &p, initial);
    r.product = rg_build_get(b, p.product);
    r.zeros = rg_build_get(b, p.zeros);
    r.nought = rg_build_get(b, p.nought);
    return r;
}

/* With no zero among the factors this is product / v. With one zero it is product if v is that zero,
 * else a product with a zero in it, whose tangent comes from the zero's. With two, v one of them, the
 * other one's tangent is all there is. */
ir_value *
ad_product_of_others(rg_builder *b, const ad_reduction *r, ir_value *v, rg_dtype dtype)
{
    ir_value *zero = rg_build_float(b, dtype, 0);
    ir_value *product = rg_build_cast(b, dtype, r->product), *nought = rg_build_cast(b, dtype, r->nought);
    ir_value *count[3];
    for (int n = 0; n < 3; n++)
        count[n] = rg_build_2(b, RG_OP_EQ, r->zeros, rg_build_int(b, RG_I64, n));
    ir_value *rest = v ? rg_build_2(b, RG_OP_DIV, product, rg_build_cast(b, dtype, v)) : product;
    ir_value *not_zero = rg_build_3(b, RG_OP_SELECT, count[1], rg_build_2(b, RG_OP_MUL, rest, nought), zero);
    not_zero = rg_build_3(b, RG_OP_SELECT, count[0], rest, not_zero);
    if (!v)
        return not_zero;
    v = rg_build_cast(b, dtype, v);
    ir_value *other = rg_build_2(b, RG_OP_MUL, product, rg_build_2(b, RG_OP_SUB, nought, v));
    ir_value *is_zero = rg_build_3(b, RG_OP_SELECT, count[2], other, zero);
    is_zero = rg_build_3(b, RG_OP_SELECT, count[1], product, is_zero);
    return rg_build_3(b, RG_OP_SELECT, rg_build_2(b, RG_OP_EQ, v, zero), is_zero, not_zero);
}

ir_value *
ad_reduce_share(rg_builder *b, const ad_reduction *r, ir_value *thread, ir_value *v, ir_value *g)
{
    rg_dtype dtype = rg_value_type(g).dtype;
    if (r->op == RG_RMW_MUL)
        return rg_build_2(b, RG_OP_MUL, g, ad_product_of_others(b, r, v, dtype));
    return rg_build_3(b, RG_OP_SELECT, rg_build_2(b, RG_OP_EQ, thread, r->winner), g, rg_build_float(b, dtype, 0));
}
