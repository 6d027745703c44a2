/* Straight-line emission for transforms. SPDX-License-Identifier: Apache-2.0 */
#include "diff/emit.h"

void
ad_call_results(const ir_emit *e, ir_op *call, arena *scratch)
{
    ir_signature s = ir_signature_of(call->attr.fn, call->reverse, call->forward, scratch);
    ir_emit_place(e, call);
    for (size_t i = 0; i < s.results.n; i++)
        ir_op_result(call, e->fn, s.results.at[i], NULL);
}

ir_value *
ad_recall(const ir_emit *e, ir_value *v)
{
    ir_value *recall = ir_emit_value(e, RG_OP_RECALL, v->type, 1, &v);
    recall->name = v->name;
    return recall;
}

/* before the task that e stands in: buffers are picked at kernel level */
static ir_emit
at_kernel_level(const ir_emit *e)
{
    ir_emit k = *e;
    for (ir_region *r = e->region; r->op; r = r->op->parent)
        if (r->op->code == RG_OP_PARALLEL)
            k = (ir_emit){e->fn, r->op->parent, r->op, e->loc};
    return k;
}

static ir_value *
pick_again(const ir_emit *e, const ir_op *pick)
{
    ir_emit k = at_kernel_level(e);
    ir_op *again = ir_op_new(e->fn, RG_OP_PICK, pick->nargs, 0, pick->loc);
    for (uint32_t i = 0; i < pick->nargs; i++)
        ir_op_arg(again, e->fn, ad_had(&k, pick->args[i]));
    ir_emit_place(&k, again);
    return ir_op_result(again, e->fn, pick->results[0]->type, pick->results[0]->name);
}

static ir_value *
table_again(const ir_emit *e, const ir_op *table)
{
    ir_op *again = ir_op_like(e->fn, table);
    ir_emit_place(e, again);
    return ir_op_result(again, e->fn, table->results[0]->type, table->results[0]->name);
}

ir_value *
ad_had(const ir_emit *e, ir_value *v)
{
    uint64_t bits;
    if (ir_region_inside(e->region, v->region))
        return v;
    if (ir_is_const(v, &bits))
        return ir_emit_const(e, (rg_dtype)v->type.dtype, bits);
    if (v->def && v->def->code == RG_OP_PICK)
        return pick_again(e, v->def);
    return v->def && v->def->code == RG_OP_TABLE ? table_again(e, v->def) : ad_recall(e, v);
}

/* Exact for every pair of bounds of up to 64 bits: the distance is taken modulo 2^64 and only used
 * where the loop runs at all. */
ir_value *
ad_for_count(const ir_emit *e, ir_value *lo, ir_value *hi, int64_t step)
{
    uint64_t magnitude = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    ir_value *runs = ir_emit_2(e, step > 0 ? RG_OP_LT : RG_OP_GT, lo, hi);
    ir_value *first = ir_emit_cast(e, RG_U64, lo), *last = ir_emit_cast(e, RG_U64, hi);
    ir_value *distance = step > 0 ? ir_emit_2(e, RG_OP_SUB, last, first) : ir_emit_2(e, RG_OP_SUB, first, last);
    if (magnitude != 1) {
        ir_value *one = ir_emit_const(e, RG_U64, 1);
        distance = ir_emit_2(e, RG_OP_SUB, distance, one);
        distance = ir_emit_2(e, RG_OP_DIV, distance, ir_emit_const(e, RG_U64, magnitude));
        distance = ir_emit_2(e, RG_OP_ADD, distance, one);
    }
    return ir_emit_3(e, RG_OP_SELECT, runs, ir_emit_cast(e, RG_I64, distance), ir_emit_int(e, RG_I64, 0));
}

/* -- a builder in the midst of a region ---------------------------------------------------------------------- */
rg_builder *
ad_midst_open(ad_midst *m, ir_fn *fn, ir_region *region, ir_op *after, pass_context *c)
{
    *m = (ad_midst){.region = region, .tail = after ? after->next : region->first, .tail_last = region->last};
    region->last = after;
    if (after)
        after->next = NULL;
    else
        region->first = NULL;
    if (m->tail)
        m->tail->prev = NULL;
    m->b = ir_builder_on(fn->module, c->diags, c->scratch);
    ir_builder_enter(m->b, fn, region);
    return m->b;
}

void
ad_midst_close(ad_midst *m)
{
    ir_builder_leave(m->b);
    if (!m->tail)
        return;
    m->tail->prev = m->region->last;
    if (m->region->last)
        m->region->last->next = m->tail;
    else
        m->region->first = m->tail;
    m->region->last = m->tail_last;
}
