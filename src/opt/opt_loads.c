/* Elements that were loaded or stored before are not loaded again. SPDX-License-Identifier: Apache-2.0
 *
 *   %x = load %a[%i]                       %x = load %a[%i]
 *   if %c { %y = load %a[%i] .. }    ->    if %c { .. }            %y is %x
 *   store %a[%i], %z                       store %a[%i], %z
 *   %w = load %a[%i]                                               %w is %z, if it does not stay there
 *
 * Before differentiation: one value is recorded instead of two, and added to one adjoint. What is known where a region begins is
 * known in it, but for what its loop changes. Threads begin without knowledge: what all of them read is for opt_hoist, which
 * looks after the number of their arguments. What was stored: stored.h. */
#include "analysis/access.h"
#include "opt/edit.h"
#include "opt/stored.h"

enum { MOST_KNOWN = 64 /* elements; the one that was met first is forgotten */ };

typedef enum answer { UNASKED, YES, NO } answer;

typedef struct known_element {
    const ir_op *access; /* that has met it last */
    ir_value *value;
    answer serves;       /* instead of a load */
} known_element;

typedef struct knowledge {
    uint32_t n;
    known_element at[MOST_KNOWN]; /* in the order in which they were met */
} knowledge;

typedef struct loads {
    edit edit;
    ir_footprints footprints;
    stored stored;
    knowledge known;
} loads;

/* -- what is known ------------------------------------------------------------------------------------------------- */

static void
note_element(knowledge *k, const ir_op *access, ir_value *value)
{
    if (k->n == MOST_KNOWN)
        memmove(k->at, k->at + 1, --k->n * sizeof *k->at);
    k->at[k->n++] = (known_element){access, value, access->code == RG_OP_LOAD ? YES : UNASKED};
}

static bool
serves(const loads *l, known_element *e)
{
    if (e->serves == UNASKED)
        e->serves = stored_serves(&l->stored, e->access) ? YES : NO;
    return e->serves == YES;
}

/* Whether the region stores to the element behind the load. If the load of an update stands in the same arm as its store, the reverse
 * of an update with slope 1 is nothing, and needs no condition; if the load stood outside, the reverse would need the condition. */
static bool
is_replaced(const ir_op *load)
{
    for (const ir_op *op = load->next; op; op = op->next)
        if (op->code == RG_OP_STORE && access_same(op, load))
            return true;
    return false;
}

static ir_value *
known_value(loads *l, const ir_op *load)
{
    const ir_op *around = load->parent->op;
    bool inside = around && around->code == RG_OP_IF && is_replaced(load);
    for (uint32_t i = l->known.n; i-- > 0;) {
        known_element *e = &l->known.at[i];
        if (inside && e->access->parent != load->parent)
            continue;
        bool fits = ir_type_eq(e->value->type, load->results[0]->type) && e->access->in_row >= load->in_row;
        if (fits && access_same(e->access, load) && serves(l, e))
            return e->value;
    }
    return NULL;
}

static void
forget_changed(loads *l, const ir_op *op)
{
    knowledge *k = &l->known;
    const ir_effects *does = ir_footprint(&l->footprints, op);
    uint32_t n = 0;
    if (!does->at.n)
        return;
    for (uint32_t i = 0; i < k->n; i++)
        if (access_stands(&l->footprints, k->at[i].access, op))
            k->at[n++] = k->at[i];
    k->n = n;
}

/* -- the walk ------------------------------------------------------------------------------------------------------ */

static void
share_load(loads *l, ir_op *load)
{
    ir_value *value = known_value(l, load);
    if (value && !edit_is_recalled(&l->edit, load->results[0])) {
        edit_replace(&l->edit, load->results[0], value);
        ir_remove(load);
    } else {
        note_element(&l->known, load, load->results[0]);
    }
}

static void share_in(loads *l, ir_region *r);

static void
share_inside(loads *l, ir_op *op)
{
    knowledge before = l->known;
    for (uint32_t i = 0; i < op->nregions; i++) {
        l->known = before;
        l->known.n = op->code == RG_OP_PARALLEL ? 0 : before.n;
        share_in(l, op->regions[i]);
    }
    l->known = before;
}

static void
share_in(loads *l, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(&l->edit, op);
        if (op->code == RG_OP_LOAD && op->args[0]->type.kind == IR_BUFFER && !op->atomic) {
            share_load(l, op);
            continue;
        }
        if (op->code != RG_OP_IF) /* which changes nothing before its arms begin */
            forget_changed(l, op);
        if (op->nregions)
            share_inside(l, op);
        if (op->code == RG_OP_IF)
            forget_changed(l, op);
        if (op->code == RG_OP_STORE && op->args[0]->type.kind == IR_BUFFER && !op->masked)
            note_element(&l->known, op, op->args[op->nargs - 1]);
    }
}

bool
opt_loads(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        loads l = {.footprints = ir_footprints_in(c->scratch)};
        edit_start(&l.edit, fn, c->scratch);
        stored_begin(&l.stored, fn, c);
        share_in(&l, fn->body);
        changed |= edit_finish(&l.edit);
    }
    return changed;
}
