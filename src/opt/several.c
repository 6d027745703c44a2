/* Several iterations of a loop in a row. SPDX-License-Identifier: Apache-2.0 */
#include "opt/several.h"

#include "analysis/integers.h"

bool
several_may_repeat(const ir_op *op)
{
    switch ((int)op->code) {
    case RG_OP_IF:
        return !op->nresults;
    case RG_OP_CONST:
    case RG_OP_LOAD:
    case RG_OP_STORE:
    case RG_OP_RMW:
    case RG_OP_EXTENT:
    case RG_OP_SPLAT:
    case RG_OP_LANE:
    case RG_OP_LANES_ANY:
    case RG_OP_LANES_BITS:
    case RG_OP_LANES_REDUCE:
    case RG_OP_LANE_GET:
    case RG_OP_SLOT_LOAD:
    case RG_OP_SLOT_STORE:
    case RG_OP_YIELD:
        return true;
    }
    return ir_ops[op->code].form != IR_OTHER;
}

bool
several_can_be_counted(const ir_op *loop)
{
    int64_t step = loop->attr.step;
    rg_dtype d = (rg_dtype)loop->args[0]->type.dtype;
    uint64_t bits;
    if ((step != 1 && step != -1) || !ir_is_signed(d))
        return false;
    return d == RG_I64 || (d == RG_I32 && ir_is_const(loop->args[step < 0], &bits) && (int64_t)ir_wrap(d, bits) >= -1);
}

/* How many times n iterations it has. From INT32_MAX down to 0 there are 2^31, a number without a sign. */
static ir_value *
whole_runs(edit *e, ir_op *loop, uint32_t n)
{
    bool down = loop->attr.step < 0;
    ir_value *lo = loop->args[down], *hi = loop->args[!down];
    ir_type type = lo->type;
    ir_type counts = ir_scalar(type.dtype == RG_I64 ? RG_U64 : RG_U32);
    ir_value *zero = edit_const(e, loop, type, 0), *shift = edit_const(e, loop, counts, (uint64_t)__builtin_ctz(n));
    ir_value *some = edit_scalar(e, loop, RG_OP_LT, ir_scalar(RG_BOOL), lo, hi, NULL);
    ir_value *count = edit_scalar(e, loop, RG_OP_SUB, type, hi, lo, NULL);
    count = edit_scalar(e, loop, RG_OP_SELECT, type, some, count, zero);
    count = edit_scalar(e, loop, RG_OP_CAST, counts, count, NULL, NULL);
    count = edit_scalar(e, loop, RG_OP_SHR, counts, count, shift, NULL);
    return edit_scalar(e, loop, RG_OP_CAST, type, count, NULL, NULL);
}

/* the index at which run number `run` begins */
static ir_value *
run_begins(edit *e, const ir_op *loop, ir_op *at, uint32_t n, ir_value *run)
{
    ir_type type = run->type;
    ir_value *by = edit_const(e, at, type, ir_wrap((rg_dtype)type.dtype, (uint64_t)loop->attr.step * n));
    return edit_scalar(e, at, RG_OP_ADD, type, loop->args[0], edit_scalar(e, at, RG_OP_MUL, type, run, by, NULL), NULL);
}

/* Runs are counted, by one: that takes no division. The loop stays, for what is left. */
void
several_run(edit *e, ir_op *loop, uint32_t n)
{
    ir_fn *fn = e->fn;
    const ir_region *body = loop->regions[0];
    uint32_t ncarried = loop->nresults;
    ir_value **map = arena_new_n(e->scratch, ir_value *, fn->next_id);
    ir_value **carried = arena_new_n(e->scratch, ir_value *, ncarried + 1);
    ir_value *runs = whole_runs(e, loop, n), *whole = run_begins(e, loop, loop, n, runs);
    ir_op *several = ir_op_like(fn, loop), *yield = ir_op_new(fn, RG_OP_YIELD, ncarried, 0, loop->loc);
    several->attr.step = 1;
    ir_op_arg(several, fn, edit_const(e, loop, runs->type, 0));
    ir_op_arg(several, fn, runs);
    ir_region *into = several->regions[0];
    ir_value *run = ir_region_param(into, runs->type, NULL);
    for (uint32_t k = 0; k < ncarried; k++) {
        ir_op_arg(several, fn, loop->args[2 + k]);
        carried[k] = ir_region_param(into, body->params[1 + k]->type, body->params[1 + k]->name);
    }
    ir_append(into, yield);
    ir_value *index = run_begins(e, loop, yield, n, run);
    for (uint32_t i = 0; i < n; i++) {
        ir_type type = index->type;
        ir_value *past = i ? edit_const(e, yield, type, ir_wrap((rg_dtype)type.dtype, i * (uint64_t)loop->attr.step)) : NULL;
        ir_value *at = i ? edit_scalar(e, yield, RG_OP_ADD, type, index, past, NULL) : index;
        edit_copy_iteration(e, loop, yield, ir_terminator(body)->prev, at, carried, map);
    }
    for (uint32_t k = 0; k < ncarried; k++)
        ir_op_arg(yield, fn, carried[k]);
    ir_insert_before(loop, several);
    loop->args[0] = whole;
    loop->few = true;
    assert(n <= IR_FEW && "what is left over are few");
    for (uint32_t k = 0; k < ncarried; k++)
        loop->args[2 + k] = ir_op_result(several, fn, loop->results[k]->type, loop->results[k]->name);
}

void
several_run_all(edit *e, ir_op *loop, uint32_t count)
{
    ir_value **map = arena_new_n(e->scratch, ir_value *, e->fn->next_id);
    ir_value **carried = arena_new_n(e->scratch, ir_value *, loop->nresults + 1);
    ir_type type = loop->args[0]->type;
    uint64_t lo = (uint64_t)range_of(loop->args[0]).min;
    for (uint32_t k = 0; k < loop->nresults; k++)
        carried[k] = loop->args[2 + k];
    for (uint32_t i = 0; i < count; i++) {
        ir_value *index = edit_const(e, loop, type, ir_wrap((rg_dtype)type.dtype, lo + i * (uint64_t)loop->attr.step));
        edit_copy_iteration(e, loop, loop, ir_terminator(loop->regions[0])->prev, index, carried, map);
    }
    for (uint32_t k = 0; k < loop->nresults; k++)
        edit_replace(e, loop->results[k], carried[k]);
    ir_remove(loop);
    e->changed = true;
}
