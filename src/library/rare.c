/* Choices after rare branches move into them. SPDX-License-Identifier: Apache-2.0
 *
 *   %s = if %any { %a = call @slow.x16(%x)        %s = if %any { %a = call @slow.x16(%x)
 *     yield %a } else { yield %zeros }        ->    %c = select %mask, %a, %fast
 *   %r = select %mask, %s, %fast                    yield %c } else { yield %fast }
 */
#include "library/rare.h"

#include "analysis/uses.h"
#include "opt/edit.h"

static bool
calls(const ir_region *r)
{
    ir_for_ops (op, r)
        if (op->code == RG_OP_CALL)
            return true;
    return false;
}

/* whether v is there before `at`, an op of the function's body */
static bool
is_before(const ir_value *v, const ir_op *at)
{
    if (!v->def)
        return true;
    ir_for_ops (op, at->parent) {
        if (op == at)
            return false;
        if (op == v->def)
            return true;
    }
    return false;
}

/* the choice that is the only use of a slow path's result; NULL: there is none, or it comes from elsewhere */
static ir_op *
choice_of(const ir_op *rare, const ir_value *result, const uint32_t *uses)
{
    for (ir_op *op = rare->next; op; op = op->next)
        if (op->code == RG_OP_SELECT && op->args[1] == result)
            return uses[result->id] == 1 && is_before(op->args[0], rare) && is_before(op->args[2], rare) ? op : NULL;
    return NULL;
}

static void
move_choice(edit *e, ir_op *rare, uint32_t i, ir_op *choice)
{
    ir_op *slow = ir_terminator(rare->regions[0]), *fast = ir_terminator(rare->regions[1]);
    slow->args[i] = edit_scalar(e, slow, RG_OP_SELECT, choice->results[0]->type, choice->args[0], slow->args[i],
                                choice->args[2]);
    fast->args[i] = choice->args[2];
    edit_replace(e, choice->results[0], rare->results[i]);
    ir_remove(choice);
}

void
math_choose_in_slow_paths(ir_fn *fn, arena *scratch)
{
    edit e;
    edit_start(&e, fn, scratch);
    const uint32_t *uses = ir_count_uses(e.scratch, fn);
    for (ir_op *op = fn->body->first; op; op = op->next) {
        edit_operands(&e, op);
        if (op->code != RG_OP_IF || !calls(op->regions[0]))
            continue;
        for (uint32_t i = 0; i < op->nresults; i++) {
            ir_op *choice = choice_of(op, op->results[i], uses);
            if (choice)
                move_choice(&e, op, i, choice);
        }
    }
    edit_finish(&e);
}
