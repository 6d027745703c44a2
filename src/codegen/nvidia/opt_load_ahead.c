/* Loads behind a loop go out before it. SPDX-License-Identifier: Apache-2.0
 *
 *   %v: f32x32 = for .. { .. }                    %s: f32x32 = load.adj %y[%i] if %m
 *   %s: f32x32 = load.adj %y[%i] if %m      ->    %v: f32x32 = for .. { .. }
 *   ... (uses of %s)                              ... (uses of %s)
 *
 * The seed of a gradient is wanted when the forward sweep is done, and a warp would wait for it with nothing else to do. In
 * a register it is there by then. Of a few loads behind a task's loop this is worth it; more take registers that the
 * loop may have use for. */
#include "analysis/access.h"
#include "opt/pass.h"

enum { MOST = 6, CLOSURE = 8 };

typedef struct ahead {
    ir_footprints footprints;
    bool *behind;  /* by value: made by the loop, or behind it */
    ir_op *moves[MOST * (CLOSURE + 1)];
    uint32_t n, loads;
    bool changed;
} ahead;

static bool
passes_all_to(ahead *a, const ir_op *loop, const ir_op *load)
{
    for (const ir_op *op = loop; op != load; op = op->next)
        if (!access_passes(&a->footprints, load, op))
            return false;
    return true;
}

static bool
is_listed(const ahead *a, const ir_op *op)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->moves[i] == op)
            return true;
    return false;
}

/* lists what op needs of what stands behind the loop, then op; false: that cannot move */
static bool
list_needed(ahead *a, ir_op *op, uint32_t most)
{
    if (is_listed(a, op))
        return true;
    for (uint32_t i = 0; i < op->nargs; i++) {
        ir_op *def = op->args[i]->def;
        if (!a->behind[op->args[i]->id])
            continue;
        bool cheap = def && ir_is_arithmetic(def) && !(ir_ops[def->code].flags & IR_FUNCTION);
        if (!cheap || def->code == RG_OP_DIV || def->code == RG_OP_REM || !list_needed(a, def, most))
            return false;
    }
    if (a->n == most)
        return false;
    a->moves[a->n++] = op;
    return true;
}

static void
mark_behind(ahead *a, const ir_op *from, const ir_op *to, bool is)
{
    for (const ir_op *op = from; op != to; op = op->next)
        for (uint32_t i = 0; i < op->nresults; i++)
            a->behind[op->results[i]->id] = is;
}

static void
load_ahead(ahead *a, ir_op *loop)
{
    ir_op *end = loop->next;
    a->n = a->loads = 0;
    while (end && !ir_is_loop(end) && end->code != RG_OP_YIELD)
        end = end->next;
    mark_behind(a, loop, end, true);
    for (ir_op *op = loop->next; op != end && a->loads <= MOST; op = op->next) {
        uint32_t before = a->n;
        if (op->code != RG_OP_LOAD || !op->results[0]->type.lanes || !op->masked || !passes_all_to(a, loop, op))
            continue;
        if (a->loads < MOST && list_needed(a, op, (a->loads + 1) * (CLOSURE + 1)))
            a->loads++;
        else if (a->loads == MOST)
            a->loads++; /* one more than is worth it */
        else
            a->n = before;
    }
    mark_behind(a, loop, end, false);
    for (uint32_t i = 0; i < a->n && a->loads <= MOST; i++) {
        ir_remove(a->moves[i]);
        ir_insert_before(loop, a->moves[i]);
        a->changed = true;
    }
}

static bool
see_task(ir_op *task, void *user)
{
    if (task->code == RG_OP_PARALLEL)
        for (ir_op *op = task->regions[0]->last; op; op = op->prev)
            if (ir_is_loop(op))
                load_ahead(user, op);
    return true;
}

bool
opt_load_ahead(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        ahead a = {.footprints = ir_footprints_in(c->scratch), .behind = arena_new_n(c->scratch, bool, fn->next_id)};
        ir_walk(fn->body, see_task, &a);
        changed |= a.changed;
    }
    return changed;
}
