/* Adjoints that are taken are cleared late, for warps. SPDX-License-Identifier: Apache-2.0
 *
 *   %g: f32x32 = load.adj %y[%i] if %m               %g: f32x32 = load.adj %y[%i] if %m
 *   store.adj %y[%i], 0 if %m                  ->    ... (nothing that may touch the element)
 *   ...                                              store.adj %y[%i], 0 if %m
 *
 * A GPU writes to a line slowly while it is being read: at the end of the block what was read has long arrived. Where
 * nothing in between waits for it, the store does: what is 0 need not be cleared, so that it depends on the bits
 * that were read. */
#include "analysis/access.h"
#include "ir/emit.h"
#include "opt/pass.h"

enum {
    LOOK = 128,  /* ops between the two */
    FAR = 4096   /* ops that a store passes over */
};

/* -- what waits -------------------------------------------------------------------------------------- */

typedef struct waiting {
    bool *comes; /* by value: what follows from the load */
    bool effect; /* memory is written, or control goes, by it: the machine keeps a later store behind */
} waiting;

static void follow_zeros(waiting *w, const ir_op *op);

static bool
uses_waiting(const waiting *w, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        if (w->comes[op->args[i]->id])
            return true;
    return false;
}

static bool
is_effect(const ir_op *op)
{
    return ir_access_does(op) & IR_CHANGES || op->code == RG_OP_TAPE_PUSH ||
           op->code == RG_OP_SLOT_STORE || op->code == RG_OP_LANES_ANY || op->nregions;
}

static void
follow_zeros(waiting *w, const ir_op *op)
{
    bool used = uses_waiting(w, op);
    w->effect |= used && is_effect(op);
    for (uint32_t i = 0; i < op->nregions && !w->effect; i++)
        ir_for_ops(inner, op->regions[i]) {
            follow_zeros(w, inner);
            used |= uses_waiting(w, inner);
        }
    for (uint32_t i = 0; i < op->nresults; i++)
        w->comes[op->results[i]->id] = used;
}

static bool
is_waited_for(arena *scratch, const ir_op *load, const ir_op *zero)
{
    arena_mark mark = arena_here(scratch);
    waiting w = {.comes = arena_new_n(scratch, bool, zero->parent->fn->next_id)};
    w.comes[load->results[0]->id] = true;
    for (const ir_op *op = load->next; op != zero && !w.effect; op = op->next)
        follow_zeros(&w, op);
    arena_release(scratch, mark);
    return w.effect;
}

/* -- the change ------------------------------------------------------------------------------------------ */

/* only where what was read has a bit set: -0 becomes 0 */
static void
clear_what_is_set(ir_op *zero, const ir_op *load)
{
    ir_fn *fn = zero->parent->fn;
    ir_value *v = load->results[0];
    rg_dtype bits = ir_bits((rg_dtype)v->type.dtype) == 64 ? RG_I64 : RG_I32;
    ir_emit e = ir_emit_before(zero);
    ir_value *held = ir_emit_value(&e, RG_OP_BITCAST, ir_scalar(bits), 1, &v);
    ir_value *set = ir_emit_2(&e, RG_OP_NE, held, ir_emit_int(&e, bits, 0));
    if (zero->masked) {
        zero->args[zero->nargs - 1] = ir_emit_2(&e, RG_OP_AND, zero->args[zero->nargs - 1], set);
        return;
    }
    ir_op_arg(zero, fn, set);
    zero->masked = true;
}

/* Each thread's own 0. */
static bool
is_zeroing(const ir_op *op)
{
    uint64_t bits;
    if (op->code != RG_OP_STORE)
        return false;
    const ir_value *stored = op->args[op->nargs - 1 - op->masked];
    if (stored->def && stored->def->code == RG_OP_SPLAT)
        stored = stored->def->args[0];
    rg_dtype d = (rg_dtype)stored->type.dtype;
    return ir_is_const(stored, &bits) && !bits && (d == RG_F32 || d == RG_F64);
}

/* of the same elements before `zero`, if nothing writes to them between */
static const ir_op *
find_load(ir_footprints *f, const ir_op *zero)
{
    ir_op *op = zero->prev;
    for (int n = 0; op && n < LOOK; op = op->prev, n++) {
        if (op->code == RG_OP_LOAD && op->results[0]->type.lanes && access_same(op, zero))
            return op;
        if (op->code != RG_OP_LOAD && !access_passes(f, zero, op))
            return NULL;
    }
    return NULL;
}

static bool
clear_late(ir_footprints *f, ir_op *zero)
{
    const ir_op *load = find_load(f, zero);
    ir_op *at = zero->next;
    if (!load)
        return false;
    for (int n = 0; n < FAR && at->next && access_passes(f, zero, at); n++)
        at = at->next;
    bool moves = at != zero->next, waits = is_waited_for(f->in, load, at);
    if (moves) {
        ir_remove(zero);
        ir_insert_before(at, zero);
    }
    if (!waits)
        clear_what_is_set(zero, load);
    return moves || !waits;
}

static bool
clear_late_in(ir_footprints *f, ir_region *r)
{
    bool changed = false;
    for (ir_op *op = r->last, *prev; op; op = prev) {
        prev = op->prev;
        for (uint32_t i = 0; i < op->nregions; i++)
            changed |= clear_late_in(f, op->regions[i]);
        if (is_zeroing(op) && op->next)
            changed |= clear_late(f, op);
    }
    return changed;
}

bool
opt_late_zeros(ir_module *m, pass_context *c)
{
    bool changed = false;
    ir_footprints footprints = ir_footprints_in(c->scratch);
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        changed |= clear_late_in(&footprints, fn->body);
    return changed;
}
