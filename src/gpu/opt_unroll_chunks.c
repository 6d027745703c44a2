/* Chunks of iterations become straight code. SPDX-License-Identifier: Apache-2.0
 *
 *   for %j = 0 to 4 step 1 (%a = %a0) {               %x0 = load %x[%base]
 *     %k = add %base, %j   %x = load %x[%k]   ->      %b0 = fma %x0, %a0, %w
 *     %b = fma %x, %a, %w   yield %b                  %k1 = add %base, 1   %x1 = load %x[%k1]
 *   }                                                 %b1 = fma %x1, %b0, %w   ..
 *   tape_push %c, %a0                                 tape_push %c, %a0
 *
 * For warps. A recording sweep runs its loop R iterations at a time (ad/chunks.c): they need no counter, and what
 * they load may be asked for at once. Where they are long some of them stay a loop. What records dropped frames again
 * runs seldom and stays as it is. */
#include "opt/edit.h"
#include "opt/pass.h"

enum { MOST_OPS = 640 };

static bool
count_op(ir_op *op, void *user)
{
    *(uint32_t *)user += ir_ops[op->code].flags & IR_FUNCTION ? (uint32_t)op->parent->fn->module->target->function : op->code != RG_OP_CONST;
    return op->code != RG_OP_FOR && op->code != RG_OP_LOOP && op->code != RG_OP_SLOT;
}

static bool
is_recorded(const ir_op *group)
{
    ir_for_ops (op, group->parent)
        if (op->code == RG_OP_TAPE_PUSH && !op->again)
            return true;
    return false;
}

/* iterations to be straight code, of *count in all; 0: it is no chunk, or each is long */
static uint64_t
straight_iterations(const ir_op *op, uint64_t *count)
{
    uint64_t lo;
    uint32_t ops = 0;
    if (op->code != RG_OP_FOR || !ir_is_const(op->args[0], &lo) || !ir_is_const(op->args[1], count) || lo || *count > 256 ||
        op->attr.step != 1 || op->records || !is_recorded(op) || !ir_walk(op->regions[0], count_op, &ops))
        return 0;
    uint64_t n = *count;
    while (n > 1 && n * ops > MOST_OPS)
        n = n % 2 ? 1 : n / 2;
    return n > 1 ? n : 0;
}

static void
unroll_whole(edit *e, ir_op *loop, uint64_t count, ir_value **carried, ir_value **map)
{
    const ir_op *last = ir_terminator(loop->regions[0])->prev;
    for (uint32_t k = 0; k < loop->nresults; k++)
        carried[k] = loop->args[2 + k];
    for (uint64_t i = 0; i < count; i++)
        edit_copy_iteration(e, loop, loop, last, edit_const(e, loop, loop->args[0]->type, i), carried, map);
    for (uint32_t k = 0; k < loop->nresults; k++)
        edit_replace(e, loop->results[k], carried[k]);
    ir_remove(loop);
}

static void
unroll_part(edit *e, ir_op *loop, uint64_t count, ir_value **carried, ir_value **map)
{
    ir_region *body = loop->regions[0];
    ir_op *yield = ir_terminator(body), *last = yield->prev;
    for (uint32_t k = 0; k < loop->nresults; k++)
        carried[k] = yield->args[k];
    for (uint64_t i = 1; i < count; i++) {
        ir_value *by = edit_const(e, yield, loop->args[0]->type, i), *index = body->params[0];
        index = edit_scalar(e, yield, RG_OP_ADD, index->type, index, by, NULL);
        edit_copy_iteration(e, loop, yield, last, index, carried, map);
    }
    for (uint32_t k = 0; k < loop->nresults; k++)
        yield->args[k] = carried[k];
    loop->attr.step = (int64_t)count;
}

static void
unroll(edit *e, ir_op *loop)
{
    uint64_t count, n = straight_iterations(loop, &count);
    if (!n || !ir_terminator(loop->regions[0])->prev)
        return;
    ir_value **carried = arena_new_n(e->scratch, ir_value *, loop->nresults + 1);
    ir_value **map = arena_new_n(e->scratch, ir_value *, e->fn->next_id);
    (n == count ? unroll_whole : unroll_part)(e, loop, n, carried, map);
    e->changed = true;
}

static void
unroll_region(edit *e, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(e, op);
        for (uint32_t k = 0; k < op->nregions; k++)
            unroll_region(e, op->regions[k]);
        unroll(e, op);
    }
}

bool
opt_unroll_chunks(ir_module *m, pass_context *c)
{
    return edit_kernels(m, unroll_region);
}
