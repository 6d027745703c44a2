/* Where a recall may stand. SPDX-License-Identifier: Apache-2.0
 *
 * A recall of what it can see is the value itself. Else the value lies in a region that the recall does not see. From the
 * innermost region that holds both, one op after the other leads down to the value:
 *
 *   loops and fors   the recall stands in an unwind of their trace and means that iteration, or
 *                    outside of any and means the last one
 *   parallels        record, and the recall stands in a parallel that rewinds their trace
 *   ifs              mean the branch taken last */
#include "ir/recall.h"
#include "ir/verify/verify.h"

static bool
stands_in_rewind(const ir_op *recall, const ir_op *parallel)
{
    for (const ir_op *op = recall->parent->op; op; op = op->parent->op) {
        uint32_t at = 2 * op->attr.rank;
        if (op->code == RG_OP_PARALLEL && op->rewinds && at < op->nargs &&
            ir_trace_maker(op->args[at]) == parallel)
            return true;
    }
    return false;
}

static bool
check_step(verifier *v, const ir_op *recall, const ir_op *step)
{
    switch (step->code) {
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
        return true;
    case RG_OP_PARALLEL:
        return (step->records && stands_in_rewind(recall, step)) ||
               verify_error(v, recall, E_RECALL,
                            "the value lies in a parallel loop that this place does not rewind");
    default:
        return verify_error(v, recall, E_RECALL, "values of a reverse sweep cannot be recalled");
    }
}

void
verify_region_closed(verifier *v, ir_region *r)
{
    if (v->stage != IR_STAGE_AD || !r->op)
        return;
    bool any = r->op->code == RG_OP_IF || ir_is_loop(r->op);
    map_set(&v->closed, map_ptr(r), any ? r->op->parent : r);
}

/* The innermost region, r or around it, that is open or is not left from every place. What was found is noted, so that
 * many recalls out of deep nests take no time in their depth. */
static ir_region *
next_to_leave(verifier *v, ir_region *r)
{
    for (ir_region *out; (out = map_get(&v->closed, map_ptr(r))) && out != r; r = out) {
        ir_region *further = map_get(&v->closed, map_ptr(out));
        if (further)
            map_set(&v->closed, map_ptr(r), out = further);
    }
    return r;
}

bool
verify_recall(verifier *v, const ir_op *recall)
{
    const ir_value *value = recall->args[0];
    if (value->id < v->fn->next_id && v->visible[value->id] == value)
        return true; /* what can be seen is itself */
    if (value->id >= v->fn->next_id || !v->left[value->id] || value->region->fn != v->fn)
        return verify_error(v, recall, E_RECALL, "the value is not defined before this op");
    ir_region *r = next_to_leave(v, value->region);
    for (; map_get(&v->closed, map_ptr(r)); r = next_to_leave(v, r->op->parent))
        if (!check_step(v, recall, r->op))
            return false;
    return true;
}
