/* Parallel loops over several indices become loops over one, for warps. SPDX-License-Identifier: Apache-2.0
 *
 *   parallel (%i, %j) = (%a, %b) to (%m, %n) {        %rows = max(%m - %a, 0)   %row = max(%n - %b, 0)
 *     ... %i, %j ...                                  %total = mul %rows, %row  %few = lt %total, 2^31
 *   }                                                 parallel (%t: i64) = (0) to (%total) {
 *                                          ->           %i', %j' = if %few { division in 32 bits } else { in 64 }
 *                                                       ... %a + %i', %b + %j' ...
 *                                                     }
 *
 * Groups of threads end where a row ends, and a warp whose last lanes are idle costs as much as a full one: rows of
 * five threads would leave six sevenths of a GPU idle. So warps go on across rows. A GPU divides 64 bits in a hundred
 * instructions, 32 bits in some fifteen; which of them is asked once per warp.
 *
 * Rows of a known multiple of a warp's threads stay: there is nothing to gain, and subscripts stay successive. Threads keep their
 * order, so a loop that rewinds another's threads still does. */
#include "ir/recall.h"
#include "opt/edit.h"
#include "opt/pass.h"

static bool
keeps_its_axes(const ir_op *parallel)
{
    uint64_t row;
    uint32_t rank = parallel->attr.rank;
    if (rank < 2 || parallel->regions[0]->nparams > rank)
        return true;
    /* both or neither; the other one stands before, so it has one index by now if it was changed */
    if (parallel->rewinds)
        return ir_trace_maker(parallel->args[2 * rank])->attr.rank > 1;
    return ir_known_axis(parallel, rank - 1, &row) && row % parallel->parent->fn->module->target->warp == 0;
}

/* threads along an axis, i64 */
static ir_value *
threads_along(edit *e, ir_op *at, const ir_op *parallel, uint32_t k)
{
    ir_type wide = ir_scalar(RG_I64);
    uint64_t count;
    if (ir_known_axis(parallel, k, &count))
        return edit_const(e, at, wide, count);
    ir_value *lo = parallel->args[k], *hi = parallel->args[parallel->attr.rank + k];
    ir_value *some = edit_scalar(e, at, RG_OP_LT, ir_scalar(RG_BOOL), lo, hi, NULL);
    ir_value *from = lo, *to = hi, *zero = edit_const(e, at, wide, 0);
    if (lo->type.dtype != RG_I64) {
        from = edit_scalar(e, at, RG_OP_CAST, wide, lo, NULL, NULL);
        to = edit_scalar(e, at, RG_OP_CAST, wide, hi, NULL, NULL);
    }
    return edit_scalar(e, at, RG_OP_SELECT, wide, some, edit_scalar(e, at, RG_OP_SUB, wide, to, from, NULL), zero);
}

/* Where thread `number` stands along each axis, in numbers of type d, before `at`. */
static void
split_thread_number(edit *e, ir_op *at, ir_value *number, ir_value *const *counts, uint32_t rank, rg_dtype d, ir_value **places)
{
    ir_type type = ir_scalar(d);
    number = number->type.dtype == d ? number : edit_scalar(e, at, RG_OP_CAST, type, number, NULL, NULL);
    for (uint32_t k = rank; k-- > 1;) {
        ir_value *count = edit_scalar(e, at, RG_OP_CAST, type, counts[k], NULL, NULL);
        ir_value *row = edit_scalar(e, at, RG_OP_DIV, type, number, count, NULL);
        ir_value *before = edit_scalar(e, at, RG_OP_MUL, type, row, count, NULL);
        places[k] = edit_scalar(e, at, RG_OP_SUB, type, number, before, NULL);
        number = row;
    }
    places[0] = number;
}

/* one arm of the choice: the places as the loop's own indices are */
static void
fill_arm(edit *e, ir_region *arm, ir_value *number, ir_value *const *counts, uint32_t rank, rg_dtype d, ir_type index)
{
    ir_value *places[RG_MAX_RANK];
    ir_op *yield = ir_op_new(e->fn, RG_OP_YIELD, rank, 0, arm->op->loc);
    ir_append(arm, yield);
    split_thread_number(e, yield, number, counts, rank, d, places);
    for (uint32_t k = 0; k < rank; k++) {
        bool is = places[k]->type.dtype == index.dtype;
        ir_op_arg(yield, e->fn, is ? places[k] : edit_scalar(e, yield, RG_OP_CAST, index, places[k], NULL, NULL));
    }
}

/* the loop's body gets one index; what the others are is computed at its beginning */
static void
flatten_body(edit *e, ir_op *op, ir_value *few, ir_value *const *counts)
{
    uint32_t rank = op->attr.rank;
    ir_region *body = op->regions[0];
    ir_type index = body->params[0]->type;
    ir_op *first = body->first, *choice = ir_op_new(e->fn, RG_OP_IF, 1, 2, op->loc);
    ir_value **was = arena_new_n(e->scratch, ir_value *, rank);
    memcpy(was, body->params, rank * sizeof(*was));
    body->nparams = 0;
    ir_value *number = ir_region_param(body, ir_scalar(RG_I64), NULL);
    ir_op_arg(choice, e->fn, few);
    ir_insert_before(first, choice);
    fill_arm(e, choice->regions[0], number, counts, rank, RG_U32, index);
    fill_arm(e, choice->regions[1], number, counts, rank, RG_U64, index);
    for (uint32_t k = 0; k < rank; k++) {
        ir_value *place = ir_op_result(choice, e->fn, index, NULL), *lo = op->args[k];
        uint64_t bits;
        bool from_zero = ir_is_const(lo, &bits) && !bits;
        ir_value *now = from_zero ? place : edit_scalar(e, first, RG_OP_ADD, index, place, lo, NULL);
        now->name = was[k]->name;
        edit_replace(e, was[k], now);
    }
}

static void
flatten(edit *e, ir_op *op)
{
    uint32_t rank = op->attr.rank;
    ir_type wide = ir_scalar(RG_I64);
    ir_value *counts[RG_MAX_RANK], *total = NULL;
    for (uint32_t k = 0; k < rank; k++) {
        counts[k] = threads_along(e, op, op, k);
        total = total ? edit_scalar(e, op, RG_OP_MUL, wide, total, counts[k], NULL) : counts[k];
    }
    ir_value *few = edit_scalar(e, op, RG_OP_LT, ir_scalar(RG_BOOL), total, edit_const(e, op, wide, (uint64_t)1 << 31), NULL);
    flatten_body(e, op, few, counts);
    op->args[0] = edit_const(e, op, wide, 0);
    op->args[1] = total;
    for (uint32_t k = 2; k < 2 * rank; k++)
        edit_drop_arg(op, 2);
    op->attr.rank = 1;
    e->changed = true;
}

static void
flatten_in(edit *e, ir_region *r)
{
    ir_for_ops(op, r)
    {
        edit_operands(e, op);
        if (op->code == RG_OP_PARALLEL && !keeps_its_axes(op))
            flatten(e, op);
        for (uint32_t i = 0; i < op->nregions; i++)
            flatten_in(e, op->regions[i]);
    }
}

bool
lower_domain(ir_module *m, pass_context *c)
{
    if (!m->target->warp)
        return false;
    return edit_kernels(m, c->scratch, flatten_in);
}
