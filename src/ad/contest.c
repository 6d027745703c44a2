/* Atomic min, max and mul by many threads. SPDX-License-Identifier: Apache-2.0 */
#include "ad/contest.h"

static ir_value *
op2(rg_builder *b, rg_op code, ir_value *x, ir_value *y)
{
    return rg_build_2(b, code, x, y);
}

bool
ad_is_contest(const ir_op *op)
{
    return op->code == RG_OP_RMW && op->plane == 0 && ir_is_float((rg_dtype)op->args[0]->type.dtype) &&
           (op->rmw == RG_RMW_MIN || op->rmw == RG_RMW_MAX || op->rmw == RG_RMW_MUL);
}

/* -- buffers ------------------------------------------------------------------------------------------------- */
static ir_value *
buffer_like(rg_builder *b, ir_value *array, rg_dtype dtype)
{
    ir_value *extent[RG_MAX_RANK];
    uint32_t rank = rg_value_rank(array);
    for (uint32_t k = 0; k < rank; k++)
        extent[k] = rg_build_extent(b, array, k);
    return rg_build_temp(b, dtype, rank, extent);
}

void
ad_contest_open(rg_builder *b, ad_contest *c)
{
    if (c->op == RG_RMW_MUL) {
        c->product = buffer_like(b, c->buffer, (rg_dtype)c->buffer->type.dtype);
        c->zeros = buffer_like(b, c->buffer, RG_I64);
        c->nought = buffer_like(b, c->buffer, (rg_dtype)c->buffer->type.dtype);
        ir_value *index[RG_MAX_RANK];
        uint32_t rank = rg_value_rank(c->buffer);
        ad_each_element(b, c->product, index);
        rg_build_store(b, RG_PRIMAL, c->product, rank, index,
                       rg_build_float(b, (rg_dtype)c->product->type.dtype, 1));
        rg_build_end(b);
    } else {
        c->first = buffer_like(b, c->buffer, RG_I64);
        c->ties = buffer_like(b, c->buffer, RG_I64);
    }
}

void
ad_each_element(rg_builder *b, ir_value *buffer, ir_value **index)
{
    ir_value *lo[RG_MAX_RANK], *hi[RG_MAX_RANK];
    uint32_t rank = rg_value_rank(buffer);
    for (uint32_t k = 0; k < rank; k++) {
        lo[k] = rg_build_int(b, RG_I64, 0);
        hi[k] = rg_build_extent(b, buffer, k);
    }
    rg_build_parallel(b, rank, lo, hi, index);
}

void
ad_contest_keep(rg_builder *b, ir_value *array, ir_value **kept)
{
    ir_value *index[RG_MAX_RANK];
    uint32_t rank = rg_value_rank(array);
    *kept = buffer_like(b, array, (rg_dtype)array->type.dtype);
    ad_each_element(b, *kept, index);
    rg_build_store(b, RG_PRIMAL, *kept, rank, index, rg_build_load(b, RG_PRIMAL, array, rank, index));
    rg_build_end(b);
}

ir_value *
ad_contest_key(rg_builder *b, const ad_domain *d, ir_value *const *index)
{
    ir_value *threads = rg_build_int(b, RG_I64, 1);
    for (uint32_t k = 0; k < d->rank; k++)
        threads = op2(b, RG_OP_MUL, threads,
                      op2(b, RG_OP_SUB, rg_build_cast(b, RG_I64, d->hi[k]), rg_build_cast(b, RG_I64, d->lo[k])));
    return op2(b, RG_OP_SUB, threads, ad_thread_number(b, d, index));
}

/* -- sweeps ---------------------------------------------------------------------------------------------------- */
/* an access to `buffer` at op's element, before op */
static ir_op *
access_like(const ad_emit *e, rg_op code, const ir_op *op, ir_value *buffer)
{
    ir_op *made = ir_op_new(e->fn, code, 0, 0, op->loc);
    ir_op_arg(made, e->fn, buffer);
    for (uint32_t i = 1; i + 1 < op->nargs; i++)
        ir_op_arg(made, e->fn, op->args[i]);
    return made;
}

static ir_value *
load_like(const ad_emit *e, const ir_op *op, ir_value *buffer)
{
    ir_op *load = access_like(e, RG_OP_LOAD, op, buffer);
    ad_place(e, load);
    return ir_op_result(load, e->fn, ir_scalar((rg_dtype)buffer->type.dtype), NULL);
}

static void
update_like(const ad_emit *e, const ir_op *op, ir_value *buffer, rg_rmw kind, ir_value *value)
{
    ir_op *update = access_like(e, RG_OP_RMW, op, buffer);
    update->rmw = (uint8_t)kind;
    update->atomic = true;
    ir_op_arg(update, e->fn, value);
    ad_place(e, update);
}

void
ad_contest_look(ir_fn *fn, const ad_contest *c, ir_op *op, ir_value *key, unsigned round)
{
    ad_emit e = {fn, op->parent, op, op->loc};
    ir_value *v = op->args[op->nargs - 1];
    rg_dtype dtype = (rg_dtype)v->type.dtype;
    if (c->op == RG_RMW_MUL) {
        ir_value *is_zero = ad_op2(&e, RG_OP_EQ, v, ad_float(&e, dtype, 0));
        update_like(&e, op, c->product, RG_RMW_MUL,
                    ad_op3(&e, RG_OP_SELECT, is_zero, ad_float(&e, dtype, 1), v));
        update_like(&e, op, c->zeros, RG_RMW_ADD, ad_cast(&e, RG_I64, is_zero));
        update_like(&e, op, c->nought, RG_RMW_ADD,
                    ad_op3(&e, RG_OP_SELECT, is_zero, v, ad_float(&e, dtype, 0)));
    } else {
        ir_value *wins = ad_op2(&e, RG_OP_EQ, v, load_like(&e, op, c->buffer));
        if (round == 0) {
            update_like(&e, op, c->first, RG_RMW_MAX,
                        ad_op3(&e, RG_OP_SELECT, wins, key, ad_int(&e, RG_I64, 0)));
        } else {
            ir_value *mine = ad_op2(&e, RG_OP_EQ, key, load_like(&e, op, c->first));
            update_like(&e, op, c->ties, RG_RMW_ADD, ad_cast(&e, RG_I64, ad_op2(&e, RG_OP_AND, wins, mine)));
        }
    }
    ir_remove(op);
}

/* -- what was found --------------------------------------------------------------------------------------------- */
ir_value *
ad_contest_won(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, ir_value *v, ir_value *key)
{
    ir_value *wins = op2(b, RG_OP_EQ, v, rg_build_load(b, RG_PRIMAL, c->final, n, index));
    ir_value *mine = op2(b, RG_OP_EQ, key, rg_build_load(b, RG_PRIMAL, c->first, n, index));
    return op2(b, RG_OP_AND, wins, mine);
}

static ad_reduction
product_at(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index)
{
    return (ad_reduction){.op = RG_RMW_MUL,
                          .product = rg_build_load(b, RG_PRIMAL, c->product, n, index),
                          .zeros = rg_build_load(b, RG_PRIMAL, c->zeros, n, index),
                          .nought = rg_build_load(b, RG_PRIMAL, c->nought, n, index)};
}

ir_value *
ad_contest_factors(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, rg_dtype dtype)
{
    ad_reduction r = product_at(b, c, n, index);
    return ad_product_of_others(b, &r, NULL, dtype);
}

ir_value *
ad_contest_others(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, ir_value *v,
                  rg_dtype dtype)
{
    ad_reduction r = product_at(b, c, n, index);
    ir_value *old = rg_build_cast(b, dtype, rg_build_load(b, RG_PRIMAL, c->old, n, index));
    return rg_build_2(b, RG_OP_MUL, old, ad_product_of_others(b, &r, v, dtype));
}
