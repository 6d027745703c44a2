/* Atomics that need not be: of elements that no other thread touches. SPDX-License-Identifier: Apache-2.0
 *
 *     parallel (%i) ... {                       parallel (%i) ... {
 *       rmw.add.atomic %x[%i], %v                 rmw.add %x[%i], %v
 *       rmw.mul.atomic %x[%i], %w          =>     %1 = load %x[%i]
 *     }                                           %2 = mul %w, %1
 *                                                 store %x[%i], %2
 *                                               }
 * Front ends whose language has no plain update of an element make each an atomic. A thread that has the element to itself may load and
 * store it, which runs in lanes and has the derivative of any other statement; what threads share stays as it is. */
#include "diff/exclusive.h"
#include "opt/edit.h"
#include "opt/pass.h"

typedef struct candidates {
    const ir_op *task;
    vec(ir_op *) updates;
} candidates;

static bool
note_update(ir_op *op, void *user)
{
    candidates *c = user;
    if (op->code == RG_OP_RMW && op->atomic && op->plane == RG_PRIMAL && op->rmw != RG_RMW_CAS && op->args[0]->type.kind == IR_BUFFER)
        vec_push(&c->updates, op);
    return true;
}

/* the combining operation; min and max take the update first, so that of equal ones the element stays */
static rg_op
combining(rg_rmw rmw)
{
    switch (rmw) {
    case RG_RMW_MUL:
        return RG_OP_MUL;
    case RG_RMW_MIN:
        return RG_OP_MIN;
    case RG_RMW_MAX:
        return RG_OP_MAX;
    case RG_RMW_AND:
        return RG_OP_AND;
    case RG_RMW_OR:
        return RG_OP_OR;
    default:
        return RG_OP_XOR;
    }
}

static ir_op *
own_access(edit *e, ir_op *update, rg_op code, ir_value *value)
{
    uint32_t n = 1 + update->args[0]->type.rank;
    ir_op *made = ir_op_new(e->fn, code, n + (value != NULL), 0, update->loc);
    for (uint32_t i = 0; i < n; i++)
        ir_op_arg(made, e->fn, update->args[i]);
    if (value)
        ir_op_arg(made, e->fn, value);
    made->in_row = update->in_row;
    ir_insert_before(update, made);
    return made;
}

static void
load_and_store(edit *e, ir_op *update)
{
    ir_value *given = update->args[1 + update->args[0]->type.rank];
    ir_op *load = own_access(e, update, RG_OP_LOAD, NULL);
    ir_value *old = ir_op_result(load, e->fn, given->type, NULL);
    ir_value *now = update->rmw == RG_RMW_EXCHANGE ? given : edit_scalar(e, update, combining(update->rmw), given->type, given, old, NULL);
    own_access(e, update, RG_OP_STORE, now);
    if (update->nresults)
        edit_replace(e, update->results[0], old);
    ir_remove(update);
}

static void
own_in_task(edit *e, const ir_op *task)
{
    candidates c = {.task = task, .updates.in = e->scratch};
    ir_walk(task->regions[0], note_update, &c);
    bool *own = arena_new_n(e->scratch, bool, c.updates.n + 1);
    for (size_t i = 0; i < c.updates.n; i++) {
        size_t same = 0;
        while (c.updates.at[same]->args[0] != c.updates.at[i]->args[0])
            same++;
        ad_exclusive found = same < i ? (ad_exclusive){.why = own[same] ? NULL : "as before"}
                                      : ad_exclusive_find(NULL, task, c.updates.at[i]->args[0], e->scratch);
        own[i] = !found.why && !found.n;
    }
    for (size_t i = 0; i < c.updates.n; i++) {
        if (!own[i])
            continue;
        e->changed = true;
        c.updates.at[i]->atomic = false;
        if (c.updates.at[i]->rmw != RG_RMW_ADD)
            load_and_store(e, c.updates.at[i]);
    }
}

static void
own_in_region(edit *e, ir_region *r)
{
    ir_for_ops(op, r)
    {
        if (op->code == RG_OP_PARALLEL)
            own_in_task(e, op);
        for (uint32_t i = 0; op->code != RG_OP_PARALLEL && i < op->nregions; i++)
            own_in_region(e, op->regions[i]);
    }
}

bool
ad_own_atomics(ir_module *m, pass_context *c)
{
    return edit_kernels(m, c->scratch, own_in_region);
}
