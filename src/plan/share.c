/* What only one arm of an if records, and what only the other: one result of the if. SPDX-License-Identifier: Apache-2.0
 *
 *     if %c { %a = .. } else { %b = .. }                     %r = if %c { %a = ..  yield %a } else { %b = ..  yield %b }
 *     if %c { recall %a .. } else { recall %b .. }     →     if %c { recall %r .. } else { recall %r .. }
 *
 * A frame would have a place for each of them, which holds nothing where the other arm ran. The reverse asks for either only
 * where its arm ran. This is for floating-point numbers alone: lanes whose arm did not run compute with the other arm's value, which
 * does no harm in arithmetic, but would in a subscript. The plan comes before, as it decides for each value by itself whether it is
 * recorded; lanes come behind, as they do away with the arms. */
#include "diff/ad.h"
#include "ir/recall.h"

typedef struct sharing {
    ir_fn *fn;
    vec(ir_op *) recalls;
    vec(ir_value *) waiting; /* values without a partner in the other arm; NULL: has found one */
    map result_of;           /* value of an arm -> what stands for it */
} sharing;

static bool
note_recalled_number(ir_op *op, void *user)
{
    sharing *s = user;
    ir_op *by;
    if (op->code != RG_OP_RECALL || op->args[0]->type.kind != IR_SCALAR || !ir_is_float(ir_dtype(op->args[0])))
        return true;
    const ir_op *around = op->args[0]->region->op;
    if (around && around->code == RG_OP_IF && ir_recall_owner(op, &by))
        vec_push(&s->recalls, op);
    return true;
}

static ir_value *
take_partner(sharing *s, const ir_value *v)
{
    for (size_t i = 0; i < s->waiting.n; i++) {
        ir_value *w = s->waiting.at[i];
        if (!w || w->region == v->region || w->region->op != v->region->op || !ir_type_eq(w->type, v->type))
            continue;
        s->waiting.at[i] = NULL;
        return w;
    }
    return NULL;
}

static ir_value *
share(sharing *s, ir_value *v, ir_value *partner)
{
    ir_op *branch = v->region->op;
    ir_op_arg(ir_terminator(v->region), s->fn, v);
    ir_op_arg(ir_terminator(partner->region), s->fn, partner);
    return ir_op_result(branch, s->fn, v->type, v->name);
}

/* Gives v, of an arm, a result that stands for it, or has it wait for a partner. */
static void
find_result(sharing *s, ir_value *v)
{
    ir_value *result = ir_yielded_as(v, v->region->op), *partner = result ? NULL : take_partner(s, v);
    if (partner) {
        result = share(s, v, partner);
        map_set(&s->result_of, map_ptr(partner), result);
    } else if (!result) {
        vec_push(&s->waiting, v);
        result = v;
    }
    map_set(&s->result_of, map_ptr(v), result);
}

/* out of one if; returns whether there was any */
static bool
share_once(ir_fn *fn, arena *scratch)
{
    sharing s = {.fn = fn, .recalls.in = scratch, .waiting.in = scratch, .result_of.in = scratch};
    bool changed = false;
    ir_walk(fn->body, note_recalled_number, &s);
    for (size_t i = 0; i < s.recalls.n; i++)
        if (!map_get(&s.result_of, map_ptr(s.recalls.at[i]->args[0])))
            find_result(&s, s.recalls.at[i]->args[0]);
    for (size_t i = 0; i < s.recalls.n; i++) {
        ir_value **v = &s.recalls.at[i]->args[0], *result = map_get(&s.result_of, map_ptr(*v));
        changed |= result != *v;
        *v = result;
    }
    return changed;
}

bool
ad_share(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        while (share_once(fn, c->scratch))
            changed = true;
    return changed;
}
