/* Inlining: every call becomes the called function's body. SPDX-License-Identifier: Apache-2.0
 *
 *   %y: f64 = call @square(%x)      ->      %y: f64 = mul %x, %x      (its place says where it was inlined)
 *
 * Calls of derivatives, and of functions with derivatives of their own, stay: differentiation has rules for them. A call
 * that repeats another one is inlined without assertions and prints. Recursive calls stay (front ends refuse them). */
#include "opt/edit.h"
#include "opt/pass.h"

/* The place numbers of one call: inlined chains of the callee, continued by the call. */
typedef struct chain {
    ir_module *m;
    const ir_op *call;
    map numbers; /* in the callee → here */
} chain;

static uint32_t
continue_chain(chain *c, uint32_t inlined)
{
    void *known = map_get(&c->numbers, inlined);
    if (known)
        return (uint32_t)(uintptr_t)known;
    ir_inline link = {c->call->attr.fn->name, c->call->loc};
    if (inlined) {
        link.callee = c->m->inlines.at[inlined].callee;
        link.at = c->m->inlines.at[inlined].at;
        link.at.inlined = continue_chain(c, link.at.inlined);
    }
    if (!c->m->inlines.n)
        vec_push(&c->m->inlines, (ir_inline){0});
    vec_push(&c->m->inlines, link);
    uint32_t now = (uint32_t)c->m->inlines.n - 1;
    map_set(&c->numbers, inlined, (void *)(uintptr_t)now);
    return now;
}

static bool
move_place(ir_op *op, void *user)
{
    op->loc.inlined = continue_chain(user, op->loc.inlined);
    return true;
}

static void
silence_region(ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (uint32_t k = 0; k < op->nregions; k++)
            silence_region(op->regions[k]);
        op->silent |= op->code == RG_OP_CALL;
        if (op->code == RG_OP_ASSERT || op->code == RG_OP_PRINT)
            ir_remove(op);
    }
}

/* What a forward sweep calls belongs to it, reverse sweeps of its derivatives too. */
static bool
order_derivatives(ir_op *op, void *user)
{
    (void)user;
    op->ordered |= op->code == RG_OP_UNWIND || op->code == RG_OP_CALL;
    return true;
}

static void
replace_call(edit *e, ir_op *call)
{
    const ir_fn *callee = call->attr.fn;
    ir_value **map = arena_new_n(e->scratch, ir_value *, callee->next_id + 1);
    for (uint32_t k = 0; k < call->nargs; k++)
        map[callee->body->params[k]->id] = call->args[k];
    ir_region *copy = ir_region_new(e->fn, NULL);
    ir_for_ops(op, callee->body) ir_op_clone(e->fn, op, map, copy);
    chain c = {.m = e->fn->module, .call = call, .numbers.in = e->scratch};
    ir_walk(copy, move_place, &c);
    if (call->silent)
        silence_region(copy);
    if (call->ordered || !call->silent)
        ir_walk(copy, order_derivatives, NULL);
    const ir_op *yield = ir_terminator(copy);
    for (uint32_t k = 0; k < call->nresults; k++)
        edit_replace(e, call->results[k], yield->args[k]);
    edit_splice(call, copy, NULL);
    ir_remove(call);
    e->changed = true;
}

/* Functions that are being inlined into, innermost first. */
typedef struct busy {
    const ir_fn *fn;
    const struct busy *outer;
} busy;

static bool
is_busy(const busy *b, const ir_fn *fn)
{
    for (; b; b = b->outer)
        if (b->fn == fn)
            return true;
    return false;
}

static bool inline_into(ir_fn *fn, const busy *outer, arena *scratch);

static void
inline_region(edit *e, ir_region *r, const busy *b)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(e, op);
        for (uint32_t k = 0; k < op->nregions; k++)
            inline_region(e, op->regions[k], b);
        if (op->code != RG_OP_CALL || ir_call_stays(op) || is_busy(b, op->attr.fn))
            continue;
        inline_into(op->attr.fn, b, e->scratch);
        replace_call(e, op);
    }
}

static bool
holds_call(ir_op *op, void *user)
{
    *(bool *)user |= op->code == RG_OP_CALL;
    return !*(bool *)user;
}

static bool
inline_into(ir_fn *fn, const busy *outer, arena *scratch)
{
    bool some = false;
    ir_walk(fn->body, holds_call, &some);
    if (!some)
        return false;
    edit e;
    edit_start(&e, fn, scratch);
    inline_region(&e, fn->body, &(busy){fn, outer});
    return edit_finish(&e);
}

bool
opt_inline(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        changed |= inline_into(fn, NULL, c->scratch);
    return changed;
}
