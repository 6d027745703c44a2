/* How a recall reaches its value, and how values are carried out of regions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/edges.h"
#include "ir/recall.h"

ir_op *
ir_trace_maker(const ir_value *trace)
{
    while (trace->def && trace->def->code == RG_OP_RECALL && trace->def->nargs)
        trace = trace->def->args[0];
    return trace->def;
}

/* the innermost op around `inside` that unwinds what `maker` recorded */
static ir_op *
find_unwinding(const ir_op *inside, const ir_op *maker)
{
    for (const ir_region *r = inside->parent; r && r->op; r = r->op->parent) {
        r = ir_around_branches(r);
        ir_op *op = r->op;
        if (!op)
            break;
        bool unwinds = op->code == RG_OP_UNWIND || (op->code == RG_OP_PARALLEL && op->rewinds);
        uint32_t trace = op->code == RG_OP_UNWIND ? 0 : 2 * op->attr.rank;
        if (unwinds && ir_trace_maker(op->args[trace]) == maker)
            return op;
    }
    return NULL;
}

void
ir_recall_steps(const ir_op *recall, ir_steps *steps)
{
    vec_clear(steps);
    const ir_region *seen = ir_common_region(recall->args[0]->region, recall->parent);
    for (ir_region *r = recall->args[0]->region; r->op && r != seen; r = r->op->parent) {
        ir_op *by = r->op->records ? find_unwinding(recall, r->op) : NULL;
        vec_push(steps, ((ir_step){r->op, by}));
    }
}

bool
ir_recall_leaves_branches(const ir_op *recall)
{
    const ir_region *from = recall->args[0]->region;
    return ir_only_branches_between(from, ir_common_region(from, recall->parent));
}

ir_op *
ir_recall_owner(const ir_op *recall, ir_op **unwound_by)
{
    if (ir_recall_leaves_branches(recall))
        return NULL;
    ir_op *first = ir_around_branches(recall->args[0]->region)->op;
    ir_op *by = first->records ? find_unwinding(recall, first) : NULL;
    if (!by)
        return NULL;
    *unwound_by = by;
    return first;
}

ir_value *
ir_zero_before(ir_fn *fn, ir_op *at, ir_type type)
{
    return ir_emit_zero(&(ir_emit){fn, at->parent, at, at->loc}, type);
}

ir_value *
ir_op_result_before_trace(ir_fn *fn, ir_op *op, ir_type type, const char *name)
{
    ir_value *made = ir_op_result(op, fn, type, name);
    if (op->records) {
        uint32_t n = op->nresults;
        ir_value *trace = op->results[n - 2];
        op->results[n - 2] = made;
        op->results[n - 1] = trace;
        made->index = n - 2;
        trace->index = n - 1;
    }
    return made;
}

static void
lift_exits(ir_fn *fn, ir_value *v, ir_op *loop)
{
    ir_for_exits (exit, loop)
        ir_op_arg(exit, fn, !v->def || ir_stands_before(v->def, exit) ? v : ir_zero_before(fn, exit, v->type));
}

ir_value *
ir_yielded_as(const ir_value *v, const ir_op *branch)
{
    if (branch->code != RG_OP_IF)
        return NULL;
    const ir_op *end = ir_terminator(v->region);
    for (uint32_t k = 0; k < end->nargs && k < branch->nresults; k++)
        if (end->args[k] == v)
            return branch->results[k];
    return NULL;
}

static void
lift_arms(ir_fn *fn, ir_value *v, ir_op *branch)
{
    for (uint32_t i = 0; i < 2; i++) {
        ir_op *end = ir_terminator(branch->regions[i]);
        ir_op_arg(end, fn, v->region == branch->regions[i] ? v : ir_zero_before(fn, end, v->type));
    }
}

static uint64_t
lift_key(const ir_value *v, const ir_op *through)
{
    return hash_u64(map_ptr(through), v->id);
}

ir_value *
ir_lift_apart(ir_fn *fn, ir_value *v, ir_op *through, map *done)
{
    uint64_t key = lift_key(v, through);
    ir_value *lifted = map_get(done, key);
    if (lifted)
        return lifted;
    assert((through->code == RG_OP_IF || through->code == RG_OP_LOOP) && "nothing else is left early");
    if (through->code == RG_OP_IF)
        lift_arms(fn, v, through);
    else
        lift_exits(fn, v, through);
    lifted = ir_op_result_before_trace(fn, through, v->type, v->name);
    map_set(done, key, lifted);
    return lifted;
}

ir_value *
ir_lift(ir_fn *fn, ir_value *v, ir_op *through, map *done)
{
    /* a local array that is yielded once is an earlier lift's, and cannot be yielded twice */
    bool array = v->type.kind == IR_ARRAY;
    bool number = v->type.kind == IR_SCALAR && ir_is_float((rg_dtype)v->type.dtype);
    uint64_t key = lift_key(v, through);
    ir_value *yielded = number || array ? ir_yielded_as(v, through) : NULL;
    if (yielded && !map_get(done, key))
        map_set(done, key, yielded);
    return ir_lift_apart(fn, v, through, done);
}

static bool
see_through(ir_op *op, void *user)
{
    ir_value **map = user;
    if (op->code == RG_OP_RECALL && ir_region_inside(op->parent, op->args[0]->region))
        map[op->results[0]->id] = op->args[0];
    return true;
}

static void
remove_seen(ir_region *r, ir_value *const *map)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t i = 0; i < op->nregions; i++)
            remove_seen(op->regions[i], map);
        if (op->code == RG_OP_RECALL && map[op->results[0]->id])
            ir_remove(op);
    }
}

void
ir_see_through_recalls(ir_fn *fn, arena *scratch)
{
    ir_value **map = arena_new_n(scratch, ir_value *, fn->next_id + 1);
    ir_walk(fn->body, see_through, map);
    ir_replace_all(fn, map);
    remove_seen(fn->body, map);
}
