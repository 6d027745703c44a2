/* Where values go that control hands on. SPDX-License-Identifier: Apache-2.0 */
#include "ir/edges.h"

uint32_t
ir_own_operands(const ir_op *op)
{
    switch (op->code) {
    case RG_OP_YIELD:
        return op->parent->op ? 0 : op->nargs;
    case RG_OP_IF:
    case RG_OP_EXIT_IF:
        return 1;
    case RG_OP_FOR:
    case RG_OP_LOOP:
    case RG_OP_PARALLEL:
    case RG_OP_UNWIND:
        return ir_first_init(op);
    default:
        return op->nargs;
    }
}

uint32_t
ir_first_carried(const ir_op *op)
{
    bool counted = op->code == RG_OP_FOR || op->code == RG_OP_UNWIND;
    return counted ? 1 : op->code == RG_OP_LOOP ? 0 : op->regions[0]->nparams;
}

ir_value *
ir_handed_to(const ir_op *op, uint32_t i)
{
    const ir_op *owner = op->nregions ? op : op->parent->op;
    uint32_t own = ir_own_operands(op);
    if (!owner || i < own)
        return NULL;
    bool param = owner->code == RG_OP_LOOP && op->code != RG_OP_EXIT_IF;
    return param ? owner->regions[0]->params[i - own] : owner->results[i - own];
}

ir_op *
ir_next_exit(const ir_op *loop, const ir_op *exit)
{
    ir_op *op = exit ? exit->next : loop->regions[0]->first;
    while (op && op->code != RG_OP_EXIT_IF)
        op = op->next;
    return op;
}

/* operand `at` of `by`, if it is there already */
static bool
take_operand(ir_source *s, ir_op *by, uint32_t at)
{
    if (!by || at >= by->nargs)
        return false;
    s->by = by;
    s->at = at;
    s->value = by->args[at];
    return true;
}

bool
ir_next_source(const ir_value *to, ir_source *s)
{
    ir_op *op = to->def ? to->def : to->region->op;
    uint32_t k = to->index, n = s->number++;
    if (!op || !op->nregions)
        return false;
    if (!to->def) {
        uint32_t first = ir_first_carried(op);
        if (k < first || n > 1)
            return false;
        k -= first;
        return n ? take_operand(s, ir_terminator(op->regions[0]), k) : take_operand(s, op, ir_first_init(op) + k);
    }
    if (k >= ir_value_results(op))
        return false;
    if (op->code == RG_OP_LOOP)
        return take_operand(s, ir_next_exit(op, n ? s->by : NULL), 1 + k);
    if (n > 1)
        return false;
    return n && op->code != RG_OP_IF ? take_operand(s, op, ir_first_init(op) + k) : take_operand(s, ir_terminator(op->regions[n]), k);
}

bool
ir_next_edge(const ir_op *op, ir_edge *e)
{
    if (!op->nregions)
        return false;
    const ir_region *body = op->regions[0];
    uint32_t first = ir_first_carried(op), params = body->nparams - first;
    while (!e->to || !ir_next_source(e->to, &e->from)) {
        uint32_t i = e->next++;
        if (i >= params + ir_value_results(op))
            return false;
        e->to = i < params ? body->params[first + i] : op->results[i - params];
        e->from = (ir_source){0};
    }
    return true;
}

/* whether all exits give the parameter for that result, and no exit gives it for another one */
static bool
leaves_as(const ir_op *loop, const ir_value *param, uint32_t result)
{
    ir_for_exits (exit, loop)
        for (uint32_t k = 0; k < loop->nresults; k++)
            if ((exit->args[1 + k] == param) != (k == result))
                return false;
    return true;
}

bool
ir_stays_in_place(const ir_op *op, uint32_t i)
{
    const ir_op *loop = op->parent->op;
    const ir_value *v = op->args[i];
    if (!loop || loop->code != RG_OP_LOOP || v->def || v->region != op->parent)
        return false;
    if (op->code == RG_OP_EXIT_IF)
        return i > 0 && leaves_as(loop, v, i - 1);
    return op->code == RG_OP_YIELD && ir_handed_to(op, i) == v;
}

bool
ir_asks_first(const ir_op *exit)
{
    const ir_region *body = exit->parent;
    const ir_value *v = exit->args[0];
    const ir_op *before = exit->prev, *yield = ir_terminator(body);
    while (before && ir_is_no_step(before))
        before = before->prev;
    if (exit->code != RG_OP_EXIT_IF || before || v->def || v->region != body)
        return false;
    return yield && !ir_stays_in_place(yield, v->index);
}
