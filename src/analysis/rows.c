/* Accesses that go along a row. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rows.h"

#include "analysis/access.h"

enum { DEPTH = 8 };

/* whether numbers keep their distance when they are cast */
static bool
keeps_steps(const ir_op *loop, const ir_op *cast)
{
    const ir_value *from = cast->args[0], *to = cast->results[0];
    unsigned bits = ir_bits(ir_dtype(from));
    if (!ir_is_integer(from->type) || !ir_is_integer(to->type) || ir_bits(ir_dtype(to)) < 32)
        return false;
    bool wraps = bits < ir_bits(ir_dtype(to)) && !(bits == 32 && ir_is_signed(ir_dtype(from)));
    return !wraps || from == loop->regions[0]->params[0];
}

static bool
step_along(const ir_op *loop, const ir_value *v, int *by, unsigned depth)
{
    const ir_region *body = loop->regions[0];
    const ir_op *op = v->def;
    int of[2] = {0, 0};
    *by = 0;
    if (!ir_region_inside(v->region, body))
        return true;
    if (v == body->params[0]) {
        *by = 1;
        return true;
    }
    if (!op || op->nargs > 2 || !depth || !(op->code == RG_OP_CONST || ir_is_arithmetic(op)))
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!step_along(loop, op->args[i], &of[i], depth - 1))
            return false;
    if (!of[0] && !of[1])
        return true;
    *by = op->code == RG_OP_SUB ? of[0] - of[1] : of[0] + of[1];
    bool sum = (op->code == RG_OP_ADD || op->code == RG_OP_SUB) && ir_bits(ir_dtype(v)) >= 32;
    return (*by == 0 || *by == 1) && (sum || (op->code == RG_OP_CAST && keeps_steps(loop, op)));
}

bool
rows_step(const ir_op *loop, const ir_value *v, int *by)
{
    return step_along(loop, v, by, DEPTH);
}

/* a sum of unsigned numbers that is narrower than addresses */
static bool
may_wrap(const ir_op *loop, const ir_value *subscript)
{
    rg_dtype d = ir_dtype(subscript);
    return subscript != loop->regions[0]->params[0] && !ir_is_signed(d) && ir_bits(d) < 64;
}

/* the update that an arm of an if is; NULL: it is something else */
static const ir_op *
update_of(const ir_region *arm)
{
    const ir_op *op = arm->first;
    return op->code == RG_OP_RMW && !op->nresults && op->next->code == RG_OP_YIELD ? op : NULL;
}

const ir_op *
rows_plain(const ir_op *loop, const ir_op *op)
{
    if (op->code != RG_OP_IF || op->parent != loop->regions[0] || ir_region_inside(op->args[0]->region, loop->regions[0]))
        return op;
    const ir_op *plain = update_of(op->regions[0]), *atomic = update_of(op->regions[1]);
    return plain && atomic && !plain->atomic && atomic->atomic && access_same(plain, atomic) ? plain : op;
}

bool
rows_goes_along(const ir_op *loop, const ir_op *op)
{
    const ir_region *body = loop->regions[0];
    const ir_op *in_body = op->parent == body ? op : op->parent->op;
    if (!ir_is_access(op) || (in_body != op && (!in_body || rows_plain(loop, in_body) != op)) || op->beside > 1)
        return false;
    if (op->args[0]->type.kind != IR_BUFFER || ir_region_inside(op->args[0]->region, body) ||
        (op->masked && ir_region_inside(op->args[op->nargs - 1]->region, body)))
        return false;
    uint32_t rank = op->args[0]->type.rank;
    for (uint32_t k = 1; k <= rank; k++) {
        int by;
        if (!rows_step(loop, op->args[k], &by) || by != (k == rank))
            return false;
    }
    return rank > 0 && !may_wrap(loop, op->args[rank]);
}

bool
rows_may_wait(ir_footprints *f, const ir_op *loop, const ir_op *access)
{
    const ir_effects *own = ir_footprint(f, access);
    ir_for_ops(op, loop->regions[0])
    {
        const ir_effects *does = ir_footprint(f, op);
        if (does->guards || does->order)
            return false;
        const ir_op *plain = rows_plain(loop, op);
        if (!(ir_is_access(plain) && access_same(plain, access)) && ir_effects_conflict(does, own))
            return false;
    }
    return true;
}
