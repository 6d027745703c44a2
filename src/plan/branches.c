/* What only branches part from where it is recalled. SPDX-License-Identifier: Apache-2.0
 *
 *     if %a { .. } else { %c = eq %n, %two   if %c .. }      →     %c1 = eq %n, %two
 *     if %a { .. } else { %c1 = recall %c    if %c1 .. }
 *
 * No tape holds such a value: each branch around it yields it, one result for each of them. In a chain of else-ifs or
 * the cases of a switch that are results in number of the square of its length. So what takes a few operations of
 * values that the recall can see is computed once more. */
#include "diff/emit.h"
#include "plan/recompute.h"
#include "ir/recall.h"

enum { MOST = 4 /* operations, as simple as comparisons are */ };

typedef struct branches {
    ir_fn *fn;
    ir_value **replace; /* by id */
    uint32_t ids;
} branches;

/* What it costs to have v in the region; above MOST: too much. */
static int32_t
cost(const ir_value *v, const ir_region *region, int32_t depth)
{
    if (ir_is_const(v, NULL) || ir_region_inside(region, v->region))
        return 0;
    if (!v->def || v->type.kind != IR_SCALAR || ir_ops[v->def->code].form == IR_OTHER || depth > MOST)
        return MOST + 1;
    int32_t sum = ir_cost(v->def);
    for (uint32_t i = 0; i < v->def->nargs && sum <= MOST; i++)
        sum += cost(v->def->args[i], region, depth + 1);
    return sum;
}

static ir_value *
make_condition(const ir_emit *e, ir_value *v)
{
    uint64_t bits;
    if (ir_region_inside(e->region, v->region))
        return v;
    if (ir_is_const(v, &bits))
        return ir_emit_const(e, (rg_dtype)v->type.dtype, bits);
    ir_op *copy = ir_op_like(e->fn, v->def);
    for (uint32_t i = 0; i < v->def->nargs; i++)
        ir_op_arg(copy, e->fn, make_condition(e, v->def->args[i]));
    ir_emit_place(e, copy);
    return ir_op_result(copy, e->fn, v->type, v->name);
}

static bool
each_recall(ir_op *op, void *user)
{
    branches *b = user;
    ir_op *by;
    if (op->code != RG_OP_RECALL || op->args[0]->type.kind != IR_SCALAR || cost(op->args[0], op->parent, 0) > MOST ||
        ir_recall_owner(op, &by))
        return true;
    ir_emit e = {b->fn, op->parent, op, op->loc};
    b->replace[op->results[0]->id] = make_condition(&e, op->args[0]);
    return true;
}

bool
ad_branches(ir_fn *fn, arena *scratch)
{
    branches b = {fn, NULL, fn->next_id};
    bool changed = false;
    b.replace = arena_new_n(scratch, ir_value *, b.ids + 1);
    ir_walk(fn->body, each_recall, &b);
    for (uint32_t i = 0; i < b.ids; i++)
        changed |= b.replace[i] != NULL;
    if (changed) {
        ir_value **replace = arena_new_n(scratch, ir_value *, fn->next_id + 1);
        memcpy(replace, b.replace, sizeof(*replace) * b.ids);
        ir_replace_all(fn, replace);
    }
    return changed;
}
