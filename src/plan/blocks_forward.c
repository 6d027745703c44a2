/* The forward sweep in blocks of iterations. SPDX-License-Identifier: Apache-2.0
 *
 *   for records %i (%a = %a0) {..}           ->  %q = count / R
 *                                                %a1 = for records %g = 0 to %q (%a = %a0) {
 *                                                    for %j = 0 to R {..}  }
 *                                                for %j = %q R to count (%a = %a1) {..}
 *   where code is short, the iterations of a block are straight code; and where nobody asks for %a but the reverse:
 *                                                %a1 = for records %g = 0 to %q (%a = %a0) {
 *                                                    if %g < (count % R ? %q : %q - 1) {.. .. ..} }
 *   loop records (%a = %a0) {.. exit_if ..}  ->  loop records (%a = %a0) {
 *                                                    %done, .. = loop (%j = 0, %a) { exit_if %j == R .. }
 *                                                    exit_if %done ..  }
 *
 * Either way only full blocks record, and the state at the start of the partial last one is at hand
 * behind the loop: as its results. Where iterations must keep values, they are straight code in a block, so that its frame
 * has room for all, and those left over record each for itself. */
#include "plan/blocks.h"

ir_value *
ad_block_divide(const ir_emit *e, rg_op code, ir_value *number, uint32_t by)
{
    ir_value *n = ir_emit_cast(e, RG_U64, number); /* unsigned: a shift, for powers of two */
    return ir_emit_cast(e, RG_I64, ir_emit_2(e, code, n, ir_emit_const(e, RG_U64, by)));
}

static ir_emit
at_end(const ad_block *c, ir_region *r)
{
    return (ir_emit){c->fn, r, NULL, c->loop->loc};
}

static ir_emit
before_loop(const ad_block *c)
{
    return (ir_emit){c->fn, c->loop->parent, c->loop, c->loop->loc};
}

static ir_op *
new_op(const ir_emit *e, rg_op code, uint32_t regions)
{
    ir_op *op = ir_op_new(e->fn, code, 0, regions, e->loc);
    ir_emit_place(e, op);
    return op;
}

static ir_op *
yield_in(const ad_block *c, ir_region *r)
{
    ir_emit e = at_end(c, r);
    return new_op(&e, RG_OP_YIELD, 0);
}

/* a `for` over i64 that carries what the old loop carries, from these values on */
static ir_op *
new_for(const ad_block *c, const ir_emit *e, ir_value *lo, ir_value *hi, ir_value *const *from)
{
    const ir_region *body = c->loop->regions[0];
    ir_op *op = new_op(e, RG_OP_FOR, 1);
    op->attr.step = 1;
    ir_op_arg(op, c->fn, lo);
    ir_op_arg(op, c->fn, hi);
    ir_region_param(op->regions[0], ir_scalar(RG_I64), NULL);
    for (uint32_t p = 1; p < body->nparams; p++) {
        const ir_value *v = body->params[p];
        ir_op_arg(op, c->fn, from[p - 1]);
        ir_region_param(op->regions[0], v->type, v->name);
        ir_op_result(op, c->fn, v->type, v->name);
    }
    return op;
}

/* an array that is recalled is not the one that the iterations go on with */
static ir_value *
kept_copy(const ir_emit *e, ir_value *v)
{
    if (v->type.kind != IR_ARRAY)
        return v;
    ir_op *copy = new_op(e, RG_OP_COPY, 0);
    ir_op_arg(copy, e->fn, v);
    return ir_op_result(copy, e->fn, v->type, v->name);
}

/* -- opening ---------------------------------------------------------------------------------------------------- */
static void
open_for(ad_block *c, const ir_emit *e)
{
    ir_op *loop = c->loop;
    ir_value *count = ad_for_count(e, loop->args[0], loop->args[1], loop->attr.step);
    ir_value *full = ad_block_divide(e, RG_OP_DIV, count, c->size);
    c->blocks = new_for(c, e, ir_emit_int(e, RG_I64, 0), full, loop->args + 2);
}

/* results: those of the old loop, then the needed state at the start of the partial block */
static void
open_loop(ad_block *c, const ir_emit *e)
{
    const ir_op *loop = c->loop;
    const ir_region *body = loop->regions[0];
    c->blocks = new_op(e, RG_OP_LOOP, 1);
    for (uint32_t p = 0; p < body->nparams; p++) {
        ir_op_arg(c->blocks, c->fn, loop->args[p]);
        ir_region_param(c->blocks->regions[0], body->params[p]->type, body->params[p]->name);
    }
    for (uint32_t i = 0; i < ir_value_results(loop); i++)
        ir_op_result(c->blocks, c->fn, loop->results[i]->type, loop->results[i]->name);
    for (uint32_t p = 0; p < body->nparams; p++)
        if (c->slice.of.state[p])
            c->rest[p] = ir_op_result(c->blocks, c->fn, body->params[p]->type, body->params[p]->name);
}

static void
open_blocks(ad_block *c)
{
    uint32_t n = c->loop->regions[0]->nparams;
    c->start = arena_new_n(c->scratch, ir_value *, n + 1);
    c->rest = arena_new_n(c->scratch, ir_value *, n + 1);
    ir_emit e = before_loop(c);
    if (c->loop->code == RG_OP_FOR)
        open_for(c, &e);
    else
        open_loop(c, &e);
    c->blocks->records = true;
    c->blocks->block = c->size;
    c->trace = ir_op_result(c->blocks, c->fn, ir_trace(), NULL);
    ir_emit inside = at_end(c, c->blocks->regions[0]);
    for (uint32_t p = 0; p < n; p++) {
        if (!c->slice.of.state[p])
            continue;
        c->start[p] = kept_copy(&inside, c->blocks->regions[0]->params[p]);
        if (c->loop->code == RG_OP_FOR)
            c->rest[p] = kept_copy(&e, c->blocks->results[p - 1]);
    }
}

/* -- filling ---------------------------------------------------------------------------------------------------- */
/* appends the old body but its yield for iteration `number`; the carried values are in map */
static void
copy_for_body(const ad_block *c, ir_value *number, ir_value **map, ir_region *into)
{
    const ir_op *loop = c->loop;
    const ir_value *index = loop->regions[0]->params[0];
    rg_dtype dtype = (rg_dtype)index->type.dtype;
    ir_emit e = at_end(c, into);
    ir_value *steps = ir_emit_2(&e, RG_OP_MUL, ir_emit_cast(&e, dtype, number),
                             ir_emit_const(&e, dtype, (uint64_t)loop->attr.step));
    map[index->id] = ir_emit_2(&e, RG_OP_ADD, loop->args[0], steps);
    for (const ir_op *op = loop->regions[0]->first; op->next; op = op->next)
        ir_op_clone(c->fn, op, map, into);
}

static ir_value **
block_loop(ad_block *c, ir_value *base, ir_value **map, ir_region *into)
{
    ir_emit e = at_end(c, into);
    ir_value *size = ir_emit_int(&e, RG_I64, c->size);
    ir_op *block = new_for(c, &e, ir_emit_int(&e, RG_I64, 0), size, c->blocks->regions[0]->params + 1);
    ir_region *r = block->regions[0];
    for (uint32_t p = 1; p < r->nparams; p++)
        map[c->loop->regions[0]->params[p]->id] = r->params[p];
    ir_emit inside = at_end(c, r);
    copy_for_body(c, ir_emit_2(&inside, RG_OP_ADD, base, r->params[0]), map, r);
    ir_op_clone(c->fn, ir_terminator(c->loop->regions[0]), map, r);
    return block->results;
}

static ir_value **
straight_block(ad_block *c, ir_value *base, ir_value **map, ir_region *into)
{
    const ir_region *body = c->loop->regions[0];
    const ir_op *end = ir_terminator(body);
    size_t n = c->slice.kept.n;
    ir_emit e = at_end(c, into);
    ir_value **carried = arena_new_n(c->scratch, ir_value *, end->nargs + 1);
    c->kept = arena_new_n(c->scratch, ir_value *, n * c->size + 1);
    memcpy(carried, c->blocks->regions[0]->params + 1, end->nargs * sizeof(*carried));
    for (uint32_t j = 0; j < c->size; j++) {
        for (uint32_t i = 0; i < end->nargs; i++)
            map[body->params[1 + i]->id] = carried[i];
        copy_for_body(c, ir_emit_2(&e, RG_OP_ADD, base, ir_emit_int(&e, RG_I64, j)), map, into);
        for (uint32_t i = 0; i < end->nargs; i++)
            carried[i] = map[end->args[i]->id] ? map[end->args[i]->id] : end->args[i];
        for (size_t i = 0; i < n; i++)
            c->kept[j * n + i] = map[c->top[i]->id];
    }
    return carried;
}

/* whether the block at hand is not the last, or iterations are left over */
static ir_value *
is_block_followed(const ad_block *c, const ir_emit *e)
{
    ir_emit before = {c->fn, c->blocks->parent, c->blocks, c->loop->loc};
    ir_value *count = ad_for_count(&before, c->loop->args[0], c->loop->args[1], c->loop->attr.step);
    ir_value *rest = ad_block_divide(&before, RG_OP_REM, count, c->size), *blocks = c->blocks->args[1];
    ir_value *none = ir_emit_2(&before, RG_OP_EQ, rest, ir_emit_int(&before, RG_I64, 0));
    ir_value *but_last = ir_emit_2(&before, RG_OP_SUB, blocks, ir_emit_int(&before, RG_I64, 1));
    ir_value *wanted = ir_emit_3(&before, RG_OP_SELECT, none, but_last, blocks);
    return ir_emit_2(e, RG_OP_LT, c->blocks->regions[0]->params[0], wanted);
}

static void
yield_block(const ad_block *c, ir_region *r, ir_value *const *carried)
{
    ir_op *yield = yield_in(c, r);
    for (uint32_t p = 1; p < c->blocks->regions[0]->nparams; p++)
        ir_op_arg(yield, c->fn, carried[p - 1]);
}

static ir_value **
fill_for(ad_block *c, ir_value **map)
{
    ir_region *r = c->blocks->regions[0], *into = r;
    ir_emit e = at_end(c, r);
    ir_op *branch = NULL;
    if (c->needless) {
        ir_value *wanted = is_block_followed(c, &e);
        branch = new_op(&e, RG_OP_IF, 2);
        ir_op_arg(branch, c->fn, wanted);
        into = branch->regions[0];
    }
    ir_emit inside = at_end(c, into);
    ir_value *base = ir_emit_2(&inside, RG_OP_MUL, r->params[0], ir_emit_int(&inside, RG_I64, c->size));
    ir_value **carried = (c->straight ? straight_block : block_loop)(c, base, map, into);
    yield_block(c, into, carried);
    if (branch) {
        yield_block(c, branch->regions[1], r->params + 1);
        for (uint32_t p = 1; p < r->nparams; p++)
            (void)ir_op_result(branch, c->fn, r->params[p]->type, r->params[p]->name);
        yield_block(c, r, branch->results);
    }

    ir_emit after = before_loop(c);
    rg_dtype dtype = (rg_dtype)c->loop->args[0]->type.dtype;
    ir_value *done = ir_emit_2(&after, RG_OP_MUL, c->blocks->args[1], ir_emit_int(&after, RG_I64, c->size));
    ir_value *past = ir_emit_2(&after, RG_OP_MUL, ir_emit_cast(&after, dtype, done),
                            ir_emit_const(&after, dtype, (uint64_t)c->loop->attr.step));
    c->left->args[0] = ir_emit_2(&after, RG_OP_ADD, c->loop->args[0], past);
    for (uint32_t p = 1; p < r->nparams; p++)
        c->left->args[1 + p] = c->blocks->results[p - 1];
    ir_emit_place(&after, c->left);
    return c->left->results;
}

/* leaves the loop over iterations: the carried values, whether by an exit of the old loop, its results */
static ir_op *
leave_block(const ad_block *c, const ir_emit *e, ir_value *when, const ir_op *block, bool done)
{
    ir_op *leave = new_op(e, RG_OP_EXIT_IF, 0);
    ir_op_arg(leave, c->fn, when);
    for (uint32_t p = 1; p < block->regions[0]->nparams; p++)
        ir_op_arg(leave, c->fn, block->regions[0]->params[p]);
    ir_emit before = *e;
    before.before = leave;
    ir_op_arg(leave, c->fn, ir_emit_const(&before, RG_BOOL, done));
    return leave;
}

/* the loop over the iterations of one block: what it carries is what it yields first */
static ir_op *
open_forward_block(const ad_block *c, const ir_emit *e)
{
    const ir_region *r = c->blocks->regions[0];
    ir_op *block = new_op(e, RG_OP_LOOP, 1);
    ir_emit before = *e;
    before.before = block;
    ir_op_arg(block, c->fn, ir_emit_int(&before, RG_I64, 0));
    ir_region_param(block->regions[0], ir_scalar(RG_I64), NULL);
    for (uint32_t p = 0; p < r->nparams; p++) {
        ir_op_arg(block, c->fn, r->params[p]);
        ir_region_param(block->regions[0], r->params[p]->type, r->params[p]->name);
        ir_op_result(block, c->fn, r->params[p]->type, r->params[p]->name);
    }
    ir_op_result(block, c->fn, ir_scalar(RG_BOOL), NULL);
    for (uint32_t i = 0; i < ir_value_results(c->loop); i++)
        ir_op_result(block, c->fn, c->loop->results[i]->type, c->loop->results[i]->name);
    return block;
}

static void
copy_loop_body(const ad_block *c, ir_op *block, ir_value **map)
{
    ir_region *r = block->regions[0];
    ir_emit e = at_end(c, r);
    ir_op *leave = leave_block(c, &e, ir_emit_2(&e, RG_OP_EQ, r->params[0], ir_emit_int(&e, RG_I64, c->size)), block, false);
    ir_emit before = {c->fn, r, leave, c->loop->loc};
    for (uint32_t i = 0; i < ir_value_results(c->loop); i++)
        ir_op_arg(leave, c->fn, ir_emit_zero(&before, c->loop->results[i]->type));
    for (uint32_t p = 1; p < r->nparams; p++)
        map[c->loop->regions[0]->params[p - 1]->id] = r->params[p];
    ir_for_ops(op, c->loop->regions[0])
    {
        if (op->code == RG_OP_EXIT_IF) {
            leave = leave_block(c, &e, map[op->args[0]->id] ? map[op->args[0]->id] : op->args[0], block, true);
            for (uint32_t i = 1; i < op->nargs; i++)
                ir_op_arg(leave, c->fn, map[op->args[i]->id] ? map[op->args[i]->id] : op->args[i]);
        } else if (op->code == RG_OP_YIELD) {
            ir_value *next = ir_emit_2(&e, RG_OP_ADD, r->params[0], ir_emit_int(&e, RG_I64, 1));
            ir_op *yield = yield_in(c, r);
            ir_op_arg(yield, c->fn, next);
            for (uint32_t i = 0; i < op->nargs; i++)
                ir_op_arg(yield, c->fn, map[op->args[i]->id] ? map[op->args[i]->id] : op->args[i]);
        } else {
            ir_op_clone(c->fn, op, map, r);
        }
    }
}

static ir_value **
fill_loop(ad_block *c, ir_value **map)
{
    ir_region *r = c->blocks->regions[0];
    ir_emit e = at_end(c, r);
    ir_op *block = open_forward_block(c, &e);
    copy_loop_body(c, block, map);
    ir_op *leave = new_op(&e, RG_OP_EXIT_IF, 0);
    for (uint32_t i = r->nparams; i < block->nresults; i++)
        ir_op_arg(leave, c->fn, block->results[i]);
    for (uint32_t p = 0; p < r->nparams; p++)
        if (c->slice.of.state[p])
            ir_op_arg(leave, c->fn, c->start[p]);
    ir_op *yield = yield_in(c, r);
    for (uint32_t p = 0; p < r->nparams; p++)
        ir_op_arg(yield, c->fn, block->results[p]);
    return c->blocks->results;
}

ir_value **
ad_block_forward(ad_block *c)
{
    open_blocks(c);
    ir_value **map = arena_new_n(c->scratch, ir_value *, c->fn->next_id + 1);
    return c->loop->code == RG_OP_FOR ? fill_for(c, map) : fill_loop(c, map);
}
