/* Loops that count otherwise than upwards by one, written so that they do. SPDX-License-Identifier: Apache-2.0
 *
 *   for %i = %n - 1 to -1 step -1   ->   for %i = 0 to %n step 1
 *   for %i = %n to 0 step -1        ->   for %p = 0 to %n step 1 { %i = add %p, 1 .. }
 *   for %i = %lo to %hi step 3      ->   for %p = 0 to (%hi - %lo + 2) / 3 step 1 { %i = %lo + 3 %p .. }
 */
#include "diff/ascending.h"

#include "analysis/integers.h"
#include "diff/emit.h"

/* v + 1, where that is seen not to wrap, without an addition to what is a difference; NULL: it may wrap */
static ir_value *
one_more(const ir_emit *at, ir_value *v)
{
    rg_dtype d = ir_dtype(v);
    range r = range_of(v), all = range_of_type(d);
    uint64_t by;
    if (v->def && v->def->code == RG_OP_SUB && ir_is_exact_in_subscript(v->def) && ir_is_const(v->def->args[1], &by) && by == 1)
        return v->def->args[0];
    return r.max < all.max ? ir_emit_2(at, RG_OP_ADD, v, ir_emit_int(at, d, 1)) : NULL;
}

/* Downwards by one from `from`, before `to`: the bounds of the index, or of the one below it where it might wrap. */
static ir_value *
turn_around(const ir_emit *at, ir_value *from, ir_value *to, ir_value *bounds[2])
{
    ir_value *end = one_more(at, from), *begin = end ? one_more(at, to) : NULL;
    bounds[0] = begin ? begin : to;
    bounds[1] = begin ? end : from;
    return begin ? NULL : ir_emit_int(at, ir_dtype(from), 1);
}

/* whether a signed type has the number of iterations of two or more steps: not from its first number to its last */
static bool
counts_in_own_type(const ir_op *loop)
{
    const ir_value *least = loop->args[loop->attr.step < 0];
    rg_dtype d = ir_dtype(least);
    return ir_is_signed(d) && range_of(least).min > range_of_type(d).min;
}

ir_op *
ad_ascending(ir_op *loop, arena *scratch)
{
    if (loop->attr.step == 1)
        return loop;
    ir_fn *fn = loop->parent->fn;
    ir_emit at = ir_emit_before(loop);
    ir_value **map = arena_new_n(scratch, ir_value *, fn->next_id), *bounds[2], *past = NULL, *stride = NULL;
    ir_value *from = loop->args[0], *index = loop->regions[0]->params[0];
    int64_t step = loop->attr.step;
    assert(loop->code == RG_OP_FOR && !loop->records && "a loop as it was written");
    if (step == -1) {
        past = turn_around(&at, from, loop->args[1], bounds);
    } else {
        rg_dtype d = counts_in_own_type(loop) ? ir_dtype(index) : RG_I64;
        bounds[0] = ir_emit_int(&at, d, 0);
        bounds[1] = ir_emit_cast(&at, d, ad_for_count(&at, from, loop->args[1], step));
        stride = ir_emit_int(&at, ir_dtype(index), step);
    }
    ir_op *copy = ir_op_like(fn, loop);
    copy->attr.step = 1;
    copy->closed = false;
    ir_op_arg(copy, fn, bounds[0]);
    ir_op_arg(copy, fn, bounds[1]);
    ir_emit_place(&at, copy);
    ir_region *body = copy->regions[0];
    ir_value *count = ir_region_param(body, bounds[0]->type, index->name);
    ir_emit in = {.fn = fn, .region = body, .loc = loop->loc};
    if (stride)
        count = ir_emit_2(&in, RG_OP_MUL, ir_emit_cast(&in, ir_dtype(index), count), stride), past = from;
    map[index->id] = past ? ir_emit_2(&in, RG_OP_ADD, count, past) : count;
    for (uint32_t k = 0; k < loop->nresults; k++) {
        const ir_value *carried = loop->regions[0]->params[1 + k];
        ir_op_arg(copy, fn, loop->args[2 + k]);
        map[carried->id] = ir_region_param(body, carried->type, carried->name);
        ir_op_result(copy, fn, loop->results[k]->type, loop->results[k]->name);
    }
    ir_for_ops(op, loop->regions[0])
        ir_op_clone(fn, op, map, body);
    return copy;
}

void
ad_ascending_undo(ir_op *copy, const ir_op *loop, const ir_op *before)
{
    for (ir_op *op = copy, *previous; copy != loop && op != before; op = previous) {
        previous = op->prev;
        ir_remove(op);
    }
}
