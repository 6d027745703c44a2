/* Dead code elimination: liveness from effects backwards, then one sweep. SPDX-License-Identifier: Apache-2.0
 *
 *   %a, %b = for .. (%a0 = .., %b0 = ..) { .. yield %a1, %b1 }      ->      %b = for .. (%b0 = ..) { .. yield %b1 }
 *
 * where nothing uses %a and %a1 depends on nothing but %a0: the carried value goes with all that computes it.
 *
 * Tasks that rewind one and the same task, in a loop's full iterations and in its partial last one, stay or go together:
 * frames on the workers' tapes are taken back last to first, used or not. */
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
has_effect(const ir_op *op)
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
    if (has_effect(op))
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
drop_carried(dce *d, ir_op *op, uint32_t init, uint32_t param, uint32_t k)
{
    edit_drop_arg(op, init + k);
    edit_drop_arg(ir_terminator(op->regions[0]), k);
    edit_drop_param(op->regions[0], param + k);
    d->changed = true;
}

static void
sweep_if(dce *d, ir_op *op)
{
    for (uint32_t k = op->nresults; k-- > 0;) {
        if (d->live.values[op->results[k]->id])
            continue;
        edit_drop_arg(ir_terminator(op->regions[0]), k);
        edit_drop_arg(ir_terminator(op->regions[1]), k);
        edit_drop_result(op, k);
        d->changed = true;
    }
}

static void
sweep_exits(dce *d, ir_op *op)
{
    for (uint32_t k = op->nresults; k-- > 0;) {
        if (op->results[k]->type.kind == IR_TRACE || d->live.values[op->results[k]->id])
            continue;
        ir_for_ops(inner, op->regions[0]) if (inner->code == RG_OP_EXIT_IF)
            edit_drop_arg(inner, 1 + k);
        edit_drop_result(op, k);
        d->changed = true;
    }
}

static void
sweep_loop(dce *d, ir_op *op)
{
    sweep_exits(d, op);
    for (uint32_t k = op->nargs; k-- > 0;)
        if (!d->live.values[op->regions[0]->params[k]->id])
            drop_carried(d, op, 0, 0, k);
}

/* for and unwind: a carried value is both a parameter and a result */
static void
sweep_counted(dce *d, ir_op *op)
{
    for (uint32_t k = op->nargs - 2; k-- > 0;) {
        if (d->live.values[op->regions[0]->params[1 + k]->id] || d->live.values[op->results[k]->id])
            continue;
        drop_carried(d, op, 2, 1, k);
        edit_drop_result(op, k);
    }
}

static void
sweep_parallel(dce *d, ir_op *op)
{
    uint32_t init = ir_first_init(op), n = op->nargs - init;
    for (uint32_t k = n; k-- > 0;) {
        if (d->live.values[op->results[k]->id])
            continue;
        uint8_t *reduce = arena_new_n(op->parent->fn->module->arena, uint8_t, n);
        memcpy(reduce, op->reduce, k);
        memcpy(reduce + k, op->reduce + k + 1, --n - k);
        op->reduce = reduce;
        edit_drop_arg(op, init + k);
        edit_drop_arg(ir_terminator(op->regions[0]), k);
        edit_drop_result(op, k);
        d->changed = true;
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
    switch (op->code) {
    case RG_OP_IF:
        sweep_if(d, op);
        break;
    case RG_OP_LOOP:
        sweep_loop(d, op);
        break;
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        sweep_counted(d, op);
        break;
    case RG_OP_PARALLEL:
        sweep_parallel(d, op);
        break;
    case RG_OP_RMW:
        if (op->nresults && !d->live.values[op->results[0]->id]) {
            edit_drop_result(op, 0);
            d->changed = true;
        }
        break;
    default:
        break;
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

static void
release_dce(void *user)
{
    dce *d = user;
    live_release(&d->live);
    vec_free(&d->rewinding);
}

static bool
dce_region(ir_fn *fn, ir_region *body)
{
    dce d = {0};
    live_start(&d.live, fn);
    mem_owner owner;
    mem_own(&owner, release_dce, &d);
    ir_walk(body, mark_root, &d);
    live_spread(&d.live);
    mark_rewinding(&d);
    ir_walk(body, sweep, &d);
    mem_disown(&owner);
    release_dce(&d);
    return d.changed;
}

bool
opt_dce(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        changed |= dce_region(fn, fn->body);
        if (fn->shape)
            changed |= dce_region(fn, fn->shape);
    }
    return changed;
}
