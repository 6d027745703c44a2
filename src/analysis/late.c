/* See late.h. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/late.h"

#include "analysis/access.h"
#include "analysis/effects.h"

static const ir_op *
reduction_of(const ir_op *op)
{
    const ir_op *def = op->args[op->nargs - 1]->def;
    return def && def->code == RG_OP_LANES_REDUCE && def->rmw == RG_RMW_ADD ? def : NULL;
}

static bool
can_wait(const ir_late *late, const ir_op *op)
{
    if (ir_access_does(op) != IR_ADDS || op->masked || ir_lanes_of(op))
        return false;
    const ir_op *sum = reduction_of(op);
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    return sum && sum->parent == op->parent && (d == RG_F16 || ir_bits(d) >= 32) && late->no_order(late->user, op);
}

/* What find_sums and drop_others write. */
typedef struct marks {
    const ir_late *late;
    bool *formed;
} marks;

static bool
find_sums(ir_op *op, void *user)
{
    marks *m = user;
    if (can_wait(m->late, op))
        m->formed[op->args[op->nargs - 1]->id] = true;
    return true;
}

/* a sum that something else has a use for is formed where it stands */
static bool
drop_others(ir_op *op, void *user)
{
    marks *m = user;
    uint32_t n = can_wait(m->late, op) ? op->nargs - 1 : op->nargs;
    for (uint32_t i = 0; i < n; i++)
        m->formed[op->args[i]->id] = false;
    return true;
}

ir_late
ir_late_find(const ir_region *body, ir_no_order *no_order, void *user, arena *in)
{
    ir_late late = {.body = body, .no_order = no_order, .user = user};
    marks m = {&late, arena_new_n(in, bool, body->fn->next_id)};
    ir_walk((ir_region *)body, find_sums, &m); /* only looked at */
    ir_walk((ir_region *)body, drop_others, &m);
    late.formed = m.formed;
    return late;
}

bool
ir_is_late(const ir_late *late, const ir_op *op)
{
    return can_wait(late, op) && late->formed[op->args[op->nargs - 1]->id];
}

ir_share
ir_share_of(const ir_op *op)
{
    const ir_value *part = reduction_of(op)->args[0];
    const ir_op *choice = part->def;
    uint64_t bits;
    bool masked = choice && choice->code == RG_OP_SELECT && choice->args[0]->type.lanes && ir_is_const(choice->args[2], &bits) &&
                  bits == ir_identity((rg_dtype)part->type.dtype, RG_RMW_ADD);
    return masked ? (ir_share){choice->args[1], choice->args[0]} : (ir_share){part, NULL};
}

bool
ir_meets_again(const ir_late *late, const ir_op *op)
{
    for (const ir_op *next = op->next; next && !ir_ends_late(next); next = next->next)
        if (can_wait(late, next) && access_same(op, next))
            return true;
    return false;
}

bool
ir_ends_late(const ir_op *op)
{
    return ir_is_loop(op) || op->code == RG_OP_EXIT_IF;
}
