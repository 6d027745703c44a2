/* Straight-line emission for transforms. SPDX-License-Identifier: Apache-2.0 */
#include "diff/emit.h"

void
ad_place(const ad_emit *e, ir_op *op)
{
    if (e->before)
        ir_insert_before(e->before, op);
    else
        ir_append(e->region, op);
}

ir_value *
ad_const(const ad_emit *e, rg_dtype dtype, uint64_t bits)
{
    ir_op *op = ir_op_new(e->fn, RG_OP_CONST, 0, 0, e->loc);
    op->attr.bits = ir_wrap(dtype, bits);
    ad_place(e, op);
    return ir_op_result(op, e->fn, ir_scalar(dtype), NULL);
}

ir_value *
ad_float(const ad_emit *e, rg_dtype dtype, double v)
{
    return ad_const(e, dtype, ir_float_bits(dtype, v));
}

ir_value *
ad_int(const ad_emit *e, rg_dtype dtype, int64_t v)
{
    return ad_const(e, dtype, (uint64_t)v);
}

ir_value *
ad_op(const ad_emit *e, rg_op code, uint32_t nargs, ir_value *const *args)
{
    ir_type types[3] = {{0}}, result;
    for (uint32_t i = 0; i < nargs; i++)
        types[i] = args[i]->type;
    bool fits = ir_form_check(code, nargs, types, &result);
    assert(fits && "a transform made an op with operands of the wrong type");
    (void)fits;
    ir_op *op = ir_op_new(e->fn, code, nargs, 0, e->loc);
    for (uint32_t i = 0; i < nargs; i++)
        ir_op_arg(op, e->fn, args[i]);
    ad_place(e, op);
    return ir_op_result(op, e->fn, result, NULL);
}

ir_value *
ad_op1(const ad_emit *e, rg_op code, ir_value *x)
{
    return ad_op(e, code, 1, &x);
}

ir_value *
ad_op2(const ad_emit *e, rg_op code, ir_value *x, ir_value *y)
{
    return ad_op(e, code, 2, (ir_value *[]){x, y});
}

ir_value *
ad_op3(const ad_emit *e, rg_op code, ir_value *x, ir_value *y, ir_value *z)
{
    return ad_op(e, code, 3, (ir_value *[]){x, y, z});
}

ir_value *
ad_cast(const ad_emit *e, rg_dtype to, ir_value *v)
{
    if (v->type.dtype == to)
        return v;
    uint64_t bits;
    if (ir_is_const(v, &bits) && ir_is_float(v->type.dtype) && ir_is_float(to))
        return ad_float(e, to, ir_bits_float((rg_dtype)v->type.dtype, bits));
    ir_op *op = ir_op_new(e->fn, RG_OP_CAST, 1, 0, e->loc);
    ir_op_arg(op, e->fn, v);
    ad_place(e, op);
    return ir_op_result(op, e->fn, ir_scalar(to), NULL);
}

ir_value *
ad_zero_of(const ad_emit *e, ir_type type)
{
    if (type.kind == IR_SCALAR)
        return ad_const(e, (rg_dtype)type.dtype, 0);
    assert(type.kind == IR_ARRAY && "only scalars and local arrays have a zero");
    ir_op *op = ir_op_new(e->fn, RG_OP_ARRAY, 0, 0, e->loc);
    ad_place(e, op);
    return ir_op_result(op, e->fn, type, NULL);
}

static ir_value *
array_op(const ad_emit *e, rg_op code, uint32_t n, ir_value *const *args, ir_type result)
{
    ir_op *op = ir_op_new(e->fn, code, n, 0, e->loc);
    for (uint32_t i = 0; i < n; i++)
        ir_op_arg(op, e->fn, args[i]);
    ad_place(e, op);
    return ir_op_result(op, e->fn, result, NULL);
}

ir_value *
ad_copy(const ad_emit *e, ir_value *array)
{
    return array_op(e, RG_OP_COPY, 1, &array, array->type);
}

ir_value *
ad_extract(const ad_emit *e, ir_value *array, ir_value *index)
{
    return array_op(e, RG_OP_EXTRACT, 2, (ir_value *[]){array, index},
                    ir_scalar((rg_dtype)array->type.dtype));
}

ir_value *
ad_insert(const ad_emit *e, ir_value *array, ir_value *index, ir_value *value)
{
    return array_op(e, RG_OP_INSERT, 3, (ir_value *[]){array, index, value}, array->type);
}

static void
release_signature(void *s)
{
    ir_signature_free(s);
}

void
ad_call_results(const ad_emit *e, ir_op *call)
{
    ir_signature s;
    ir_signature_of(&s, call->attr.fn, call->reverse, call->forward);
    mem_owner owns;
    mem_own(&owns, release_signature, &s);
    ad_place(e, call);
    for (size_t i = 0; i < s.results.n; i++)
        ir_op_result(call, e->fn, s.results.at[i], NULL);
    mem_disown(&owns);
    ir_signature_free(&s);
}

ir_value *
ad_recall(const ad_emit *e, ir_value *v)
{
    ir_op *op = ir_op_new(e->fn, RG_OP_RECALL, 1, 0, e->loc);
    ir_op_arg(op, e->fn, v);
    ad_place(e, op);
    return ir_op_result(op, e->fn, v->type, v->name);
}

/* before the task that e stands in: buffers are picked at kernel level */
static ad_emit
at_kernel_level(const ad_emit *e)
{
    ad_emit k = *e;
    for (ir_region *r = e->region; r->op; r = r->op->parent)
        if (r->op->code == RG_OP_PARALLEL)
            k = (ad_emit){e->fn, r->op->parent, r->op, e->loc};
    return k;
}

static ir_value *
pick_again(const ad_emit *e, const ir_op *pick)
{
    ad_emit k = at_kernel_level(e);
    ir_op *again = ir_op_new(e->fn, RG_OP_PICK, pick->nargs, 0, pick->loc);
    for (uint32_t i = 0; i < pick->nargs; i++)
        ir_op_arg(again, e->fn, ad_had(&k, pick->args[i]));
    ad_place(&k, again);
    return ir_op_result(again, e->fn, pick->results[0]->type, pick->results[0]->name);
}

static ir_value *
table_again(const ad_emit *e, const ir_op *table)
{
    ir_op *again = ir_op_like(e->fn, table);
    ad_place(e, again);
    return ir_op_result(again, e->fn, table->results[0]->type, table->results[0]->name);
}

ir_value *
ad_had(const ad_emit *e, ir_value *v)
{
    uint64_t bits;
    if (ir_region_inside(e->region, v->region))
        return v;
    if (ir_is_const(v, &bits))
        return ad_const(e, (rg_dtype)v->type.dtype, bits);
    if (v->def && v->def->code == RG_OP_PICK)
        return pick_again(e, v->def);
    return v->def && v->def->code == RG_OP_TABLE ? table_again(e, v->def) : ad_recall(e, v);
}

/* Exact for every pair of bounds of up to 64 bits: the distance is taken modulo 2^64 and only used
 * where the loop runs at all. */
ir_value *
ad_for_count(const ad_emit *e, ir_value *lo, ir_value *hi, int64_t step)
{
    uint64_t magnitude = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    ir_value *runs = ad_op2(e, step > 0 ? RG_OP_LT : RG_OP_GT, lo, hi);
    ir_value *first = ad_cast(e, RG_U64, lo), *last = ad_cast(e, RG_U64, hi);
    ir_value *distance = step > 0 ? ad_op2(e, RG_OP_SUB, last, first) : ad_op2(e, RG_OP_SUB, first, last);
    if (magnitude != 1) {
        ir_value *one = ad_const(e, RG_U64, 1);
        distance = ad_op2(e, RG_OP_SUB, distance, one);
        distance = ad_op2(e, RG_OP_DIV, distance, ad_const(e, RG_U64, magnitude));
        distance = ad_op2(e, RG_OP_ADD, distance, one);
    }
    return ad_op3(e, RG_OP_SELECT, runs, ad_cast(e, RG_I64, distance), ad_int(e, RG_I64, 0));
}

/* -- a builder in the midst of a region ---------------------------------------------------------------------- */
static void
release_builder(void *builder)
{
    rg_builder_destroy(builder);
}

rg_builder *
ad_midst_open(ad_midst *m, ir_fn *fn, ir_region *region, ir_op *after, diag_list *diags)
{
    *m = (ad_midst){.region = region, .tail = after ? after->next : region->first, .tail_last = region->last};
    region->last = after;
    if (after)
        after->next = NULL;
    else
        region->first = NULL;
    if (m->tail)
        m->tail->prev = NULL;
    m->b = ir_builder_on(fn->module, diags);
    mem_own(&m->owns, release_builder, m->b);
    ir_builder_enter(m->b, fn, region);
    return m->b;
}

void
ad_midst_close(ad_midst *m)
{
    ir_builder_leave(m->b);
    mem_disown(&m->owns);
    rg_builder_destroy(m->b);
    if (!m->tail)
        return;
    m->tail->prev = m->region->last;
    if (m->region->last)
        m->region->last->next = m->tail;
    else
        m->region->first = m->tail;
    m->region->last = m->tail_last;
}
