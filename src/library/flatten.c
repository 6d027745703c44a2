/* Ifs become selects. SPDX-License-Identifier: Apache-2.0
 *
 *   %r = if %c { %p = mul %x, %x     ->  %p = mul %x, %x
 *     yield %p                           %r = select %c, %p, %x
 *   } else { yield %x }
 */
#include "library/flatten.h"

#include "opt/edit.h"

static bool
is_straight(const ir_region *r)
{
    ir_for_ops(op, r)
        if (op->code != RG_OP_YIELD && op->code != RG_OP_CONST && ir_ops[op->code].form == IR_OTHER)
            return false;
    return true;
}

static void
become_selects(edit *e, ir_op *op)
{
    ir_op *yields[2] = {ir_terminator(op->regions[0]), ir_terminator(op->regions[1])};
    for (uint32_t i = 0; i < op->nresults; i++) {
        ir_value *sides[2] = {edit_now(e, yields[0]->args[i]), edit_now(e, yields[1]->args[i])};
        ir_value *chosen = edit_scalar(e, op, RG_OP_SELECT, op->results[i]->type, op->args[0], sides[0], sides[1]);
        edit_replace(e, op->results[i], chosen);
    }
    ir_remove(op);
}

static void
flatten_region(edit *e, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(e, op);
        for (uint32_t i = 0; i < op->nregions; i++)
            flatten_region(e, op->regions[i]);
        if (op->code != RG_OP_IF || !is_straight(op->regions[0]) || !is_straight(op->regions[1]))
            continue;
        edit_splice(op, op->regions[0], NULL);
        edit_splice(op, op->regions[1], NULL);
        become_selects(e, op);
    }
}

bool
math_flatten(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        edit e;
        edit_start(&e, fn, c->scratch);
        flatten_region(&e, fn->body);
        changed |= edit_finish(&e);
    }
    return changed;
}
