/* Rewriting whole functions: replacement, dense numbers, which parameters are touched.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir.h"

void
ir_replace_in(ir_region *r, ir_value **map)
{
    ir_for_ops(op, r)
    {
        for (uint32_t i = 0; i < op->nargs; i++)
            while (map[op->args[i]->id])
                op->args[i] = map[op->args[i]->id];
        for (uint32_t i = 0; i < op->nregions; i++)
            ir_replace_in(op->regions[i], map);
    }
}

void
ir_replace_all(ir_fn *fn, ir_value **map)
{
    ir_replace_in(fn->body, map);
    if (fn->shape)
        ir_replace_in(fn->shape, map);
}

/* An op's results come after all that its regions define, as they do when it runs. */
static void
renumber_in(ir_region *r, uint32_t *next)
{
    for (uint32_t i = 0; i < r->nparams; i++)
        r->params[i]->id = (*next)++;
    ir_for_ops(op, r)
    {
        for (uint32_t i = 0; i < op->nregions; i++)
            renumber_in(op->regions[i], next);
        for (uint32_t i = 0; i < op->nresults; i++)
            op->results[i]->id = (*next)++;
    }
}

void
ir_renumber(ir_fn *fn)
{
    uint32_t next = 0;
    renumber_in(fn->body, &next);
    if (fn->shape)
        renumber_in(fn->shape, &next);
    fn->next_id = next;
}

/* the parameters that buffer v may be */
static void
mark_params(ir_fn *fn, const ir_value *v, bool reads, bool writes)
{
    if (!v->def) {
        if (v->region == fn->body) {
            fn->params[v->index].read |= reads;
            fn->params[v->index].written |= writes;
        }
    } else if (v->def->code == RG_OP_PICK) {
        for (uint32_t i = 1; i < v->def->nargs; i++)
            mark_params(fn, v->def->args[i], reads, writes);
    }
}

static bool
scan_access(ir_op *op, void *user)
{
    uint8_t flags = ir_ops[op->code].flags;
    if ((flags & (IR_READ | IR_WRITE)) && op->plane == RG_PRIMAL && op->nargs)
        mark_params(user, op->args[0], flags & IR_READ, flags & IR_WRITE);
    for (uint32_t i = 0; op->code == RG_OP_CALL && i < op->nargs; i++)
        if (op->args[i]->type.kind == IR_BUFFER)
            mark_params(user, op->args[i], true, false); /* functions only read */
    return true;
}

void
ir_fn_scan_params(ir_fn *fn)
{
    for (uint32_t i = 0; i < fn->body->nparams; i++)
        fn->params[i].read = fn->params[i].written = false;
    ir_walk(fn->body, scan_access, fn);
}

static bool
count_direction(ir_op *op, void *user)
{
    uint32_t *of = user;
    uint32_t least = op->beside ? op->beside : op->direction + 1u;
    if (least > of[op->plane])
        of[op->plane] = least;
    return true;
}

void
ir_directions(const ir_fn *fn, uint32_t of[RG_PLANE_COUNT])
{
    for (unsigned plane = 0; plane < RG_PLANE_COUNT; plane++)
        of[plane] = 1;
    ir_walk(fn->body, count_direction, of);
}
