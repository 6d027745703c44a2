/* Dead code elimination: liveness from effects backwards, then one sweep. SPDX-License-Identifier: Apache-2.0
 *
 *   %a, %b = for .. (%a0 = .., %b0 = ..) { .. yield %a1, %b1 }      ->      %b = for .. (%b0 = ..) { .. yield %b1 }
 *
 * where nothing uses %a and %a1 depends on nothing but %a0: the carried value goes with all that computes it.
 *
 * Tasks that rewind one and the same task, in a loop's full iterations and in its partial last one, stay or go together:
 * frames on the workers' tapes are taken back last to first, used or not. */
#include "ir/edges.h"
#include "ir/recall.h"
#include "opt/edit.h"
#include "analysis/live.h"
#include "opt/pass.h"

typedef struct dce {
    live live;
    vec(ir_op *) rewinding;
    bool changed;
} dce;

/* Ops whose effect is all in what they hold, or in their result. */
static bool
has_own_effect(const ir_op *op)
{
    switch (op->code) {
    case RG_OP_EXIT_IF:
    case RG_OP_PARALLEL:
    case RG_OP_UNWIND:
    case RG_OP_TEMP:
    case RG_OP_SLOT:
    case RG_OP_SLOT_LOAD:
    case RG_OP_TAPE_BEGIN:
        return false;
    case RG_OP_YIELD:
        return op->parent->op == NULL;
    case RG_OP_CALL: /* one that runs again has no effects but on adjoints */
        return !op->silent || op->adjoints;
    default:
        return ir_ops[op->code].flags & (IR_EFFECT | IR_WRITE);
    }
}

static bool
mark_root(ir_op *op, void *user)
{
    dce *d = user;
    if (has_own_effect(op))
        live_op(&d->live, op);
    if (op->code == RG_OP_PARALLEL && op->rewinds && ir_first_init(op) > 2 * op->attr.rank) /* of a trace */
        vec_push(&d->rewinding, op);
    return true;
}

static void
mark_rewinding(dce *d)
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < d->rewinding.n; i++) {
            ir_op *op = d->rewinding.at[i];
            const ir_op *maker = ir_trace_maker(op->args[2 * op->attr.rank]);
            if (live_has_op(&d->live, op) || !d->live.values[maker->results[maker->nresults - 1]->id])
                continue;
            live_op(&d->live, op);
            more = true;
        }
        live_spread(&d->live);
    }
}

/* -- the sweep
 * ---------------------------------------------------------------------------------------- */

static void
drop_sources(dce *d, const ir_value *v)
{
    for (ir_source s = {0}; ir_next_source(v, &s);)
        edit_drop_arg(s.by, s.at);
    d->changed = true;
}

static void
drop_reduction(ir_op *op, uint32_t k)
{
    uint32_t n = ir_value_results(op);
    uint8_t *reduce = arena_new_n(op->parent->fn->module->arena, uint8_t, n);
    memcpy(reduce, op->reduce, k);
    memcpy(reduce + k, op->reduce + k + 1, n - 1 - k);
    op->reduce = reduce;
}

/* Results; of a for or an unwind parameter and result are one carried value, and go together. */
static void
sweep_results(dce *d, ir_op *op)
{
    bool counted = op->code == RG_OP_FOR || op->code == RG_OP_UNWIND;
    for (uint32_t k = ir_value_results(op); k-- > 0;) {
        const ir_value *result = op->results[k], *param = counted ? op->regions[0]->params[1 + k] : result;
        if (d->live.values[result->id] || d->live.values[param->id])
            continue;
        drop_sources(d, param);
        if (counted)
            edit_drop_param(op->regions[0], 1 + k);
        if (op->code == RG_OP_PARALLEL)
            drop_reduction(op, k);
        edit_drop_result(op, k);
    }
}

static void
sweep_params(dce *d, ir_op *op)
{
    for (uint32_t k = op->nargs; k-- > 0;) {
        if (d->live.values[op->regions[0]->params[k]->id])
            continue;
        drop_sources(d, op->regions[0]->params[k]);
        edit_drop_param(op->regions[0], k);
    }
}

/* A trace that nobody unwinds is not recorded. */
static void
sweep_trace(dce *d, ir_op *op)
{
    const ir_value *last = op->records && op->nresults ? op->results[op->nresults - 1] : NULL;
    if (!last || last->type.kind != IR_TRACE || d->live.values[last->id])
        return;
    op->records = false;
    edit_drop_result(op, op->nresults - 1);
    d->changed = true;
}

static void
sweep_op(dce *d, ir_op *op)
{
    if (op->nregions)
        sweep_results(d, op);
    if (op->code == RG_OP_LOOP)
        sweep_params(d, op);
    if (op->code == RG_OP_RMW && op->nresults && !d->live.values[op->results[0]->id]) {
        edit_drop_result(op, 0);
        d->changed = true;
    }
    sweep_trace(d, op);
}

static bool
sweep(ir_op *op, void *user)
{
    dce *d = user;
    if (op->code == RG_OP_YIELD)
        return true;
    if (live_has_op(&d->live, op)) {
        sweep_op(d, op);
        return true;
    }
    ir_remove(op);
    d->changed = true;
    return true;
}

static bool
dce_region(ir_fn *fn, ir_region *body, arena *scratch)
{
    dce d = {.rewinding.in = scratch};
    live_start(&d.live, fn, scratch);
    ir_walk(body, mark_root, &d);
    live_spread(&d.live);
    mark_rewinding(&d);
    ir_walk(body, sweep, &d);
    return d.changed;
}

bool
opt_dce(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        changed |= dce_region(fn, fn->body, c->scratch);
        if (fn->shape)
            changed |= dce_region(fn, fn->shape, c->scratch);
    }
    return changed;
}
