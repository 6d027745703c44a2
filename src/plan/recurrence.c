/* What iterations of a reverse loop wait for. SPDX-License-Identifier: Apache-2.0
 *
 * An adjoint that one loop carries is multiplied by one number per iteration:
 *
 *   unwind (%g) {                           unwind (%g) {
 *     %a = mul %g, 0.001                      %c = mul 0.001, %f
 *     %b = mul %a, %f              ->         %j = add 1, %c
 *     %h = add %g, %b                         %h = mul %g, %j
 *     yield %h                                yield %h
 *   }                                       }
 *
 * Iterations wait for each other only for %g: what it is multiplied by, %f being recalled, is computed
 * aside, forwards even (derive.c). That is worth an operation more for one adjoint, not for a matrix of
 * them: loops that carry several are left alone, but for sums that nothing else in the loop reads. Such a
 * sum's terms may be added in any order (flag fast), so that a loop without frames runs in vectors. On a GPU sums count:
 * there other warps run while one waits, and each term takes operations more. */
#include "analysis/uses.h"
#include "diff/ad.h"
#include "diff/emit.h"
#include "plan/affine.h"

/* A value that is %g times a factor. */
typedef struct linear {
    ir_value *factor;  /* NULL: 1 */
    ir_value *product; /* NULL: not made yet */
    bool guarded;      /* it is 0 where %g is, whatever the factor */
    uint32_t depth;    /* operations from %g to it, one after the other */
} linear;

typedef struct recurrence {
    ir_fn *fn;
    arena *scratch;
    ir_region *body;
    ir_value *carried; /* %g */
    map known;         /* values of the body that depend on no adjoint: factors */
    map linear;        /* value -> linear */
    bool changed;
} recurrence;

static bool
is_known_before(const recurrence *r, const ir_value *v)
{
    if (v->region != r->body)
        return ir_region_inside(r->body, v->region);
    return map_get(&r->known, map_ptr(v)) != NULL;
}

static linear *
linear_of(const recurrence *r, const ir_value *v)
{
    return map_get(&r->linear, map_ptr(v));
}

/* -- which values are linear -------------------------------------------------------------------------------- */
static bool
is_known_op(const recurrence *r, const ir_op *op)
{
    if (op->code == RG_OP_RECALL || op->code == RG_OP_CONST)
        return true;
    bool known = ir_ops[op->code].form != IR_OTHER;
    for (uint32_t i = 0; known && i < op->nargs; i++)
        known = is_known_before(r, op->args[i]);
    return known;
}

static bool
is_linear_op(const recurrence *r, const ir_op *op)
{
    const ir_value *x = op->nargs > 0 ? op->args[0] : NULL, *y = op->nargs > 1 ? op->args[1] : NULL;
    switch ((rg_op)op->code) {
    case RG_OP_NEG:
        return linear_of(r, x);
    case RG_OP_ADD:
    case RG_OP_SUB:
    case RG_OP_ZERO_GUARD:
        return linear_of(r, x) && linear_of(r, y);
    case RG_OP_MUL:
        return (linear_of(r, x) && is_known_before(r, y)) || (is_known_before(r, x) && linear_of(r, y));
    case RG_OP_DIV:
        return linear_of(r, x) && is_known_before(r, y);
    default:
        return false;
    }
}

static void
note_linear(recurrence *r, const ir_value *v)
{
    linear *l = arena_one(r->scratch, linear);
    for (uint32_t i = 0; v != r->carried && i < v->def->nargs; i++) {
        const linear *from = linear_of(r, v->def->args[i]);
        if (from && from->depth >= l->depth)
            l->depth = from->depth + 1;
    }
    map_set(&r->linear, map_ptr(v), l);
}

static void
look_through(recurrence *r)
{
    map_set(&r->known, map_ptr(r->body->params[0]), r);
    note_linear(r, r->carried);
    ir_for_ops(op, r->body)
    {
        if (op->nresults != 1)
            continue;
        if (is_known_op(r, op))
            map_set(&r->known, map_ptr(op->results[0]), r);
        else if (is_linear_op(r, op))
            note_linear(r, op->results[0]);
    }
}

/* -- whether it is worth it ----------------------------------------------------------------------------------- */
/* %s1 = add %s, ...  yield %s1, and nothing else reads %s */
static bool
is_carried_sum(const uint32_t *uses, const ir_value *param, const ir_value *next)
{
    const ir_op *op = next->def;
    if (!op || op->code != RG_OP_ADD || op->parent != param->region ||
        (op->args[0] != param && op->args[1] != param))
        return false;
    return uses[param->id] == 1 && uses[next->id] == 1;
}

/* The one adjoint that goes from iteration to iteration; NULL: there is none, or too many. */
static ir_value *
only_carried(const uint32_t *uses, const ir_op *unwind)
{
    const ir_region *body = unwind->regions[0];
    const ir_op *yield = ir_terminator(body);
    ir_value *found = NULL;
    for (uint32_t i = 0; i < yield->nargs; i++) {
        ir_value *param = body->params[1 + i];
        if (param->type.kind != IR_SCALAR || !ir_is_float((rg_dtype)param->type.dtype))
            return NULL;
        if (!unwind->parent->fn->module->target->warp && is_carried_sum(uses, param, yield->args[i]))
            continue;
        if (found)
            return NULL;
        found = param;
    }
    return found;
}

/* -- factors ---------------------------------------------------------------------------------------------------- */
/* an operand of a linear op: what it is in the op that makes the factor */
static ir_value *
factor_of(const recurrence *r, const ir_emit *e, ir_value *v)
{
    const linear *l = linear_of(r, v);
    if (!l)
        return v;
    return l->factor ? l->factor : ir_emit_float(e, (rg_dtype)v->type.dtype, 1);
}

static void
make_factor(recurrence *r, ir_op *op)
{
    ir_emit e = {r->fn, r->body, op, op->loc};
    linear *l = linear_of(r, op->results[0]);
    ir_value *args[2];
    l->guarded = op->code == RG_OP_ZERO_GUARD;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const linear *from = linear_of(r, op->args[i]);
        l->guarded |= from && from->guarded;
        args[i] = factor_of(r, &e, op->args[i]);
    }
    l->factor = ir_emit_value(&e, (rg_op)op->code, op->results[0]->type, op->nargs, args);
}

/* v as one product, where its op stands */
static ir_value *
product_of(recurrence *r, ir_value *v, linear *l)
{
    if (l->product)
        return l->product;
    ir_emit e = {r->fn, r->body, v->def, v->def->loc};
    l->product = ir_emit_2(&e, RG_OP_MUL, r->carried, l->factor);
    if (l->guarded)
        l->product = ir_emit_2(&e, RG_OP_ZERO_GUARD, r->carried, l->product);
    return l->product;
}

/* What is linear and read by something that is not. */
static bool
replace_operands(ir_op *op, void *user)
{
    recurrence *r = user;
    if (op->nresults == 1 && linear_of(r, op->results[0]))
        return true;
    for (uint32_t i = 0; i < op->nargs; i++) {
        linear *l = linear_of(r, op->args[i]);
        if (l && l->factor)
            op->args[i] = product_of(r, op->args[i], l);
    }
    return true;
}

static void
shorten(recurrence *r)
{
    enum { WORTH_IT = 2 };
    look_through(r);
    linear *next = linear_of(r, ir_terminator(r->body)->args[r->carried->index - 1]);
    if (!next || next->depth < WORTH_IT)
        return;
    ir_for_ops(op, r->body)
        if (op->nresults == 1 && linear_of(r, op->results[0]))
            make_factor(r, op);
    next->factor = ad_affine(r->fn, next->factor);
    ir_walk(r->body, replace_operands, r);
    r->changed = true;
}

static bool
reorder_sums(const uint32_t *uses, const ir_op *unwind)
{
    const ir_region *body = unwind->regions[0];
    bool any = false;
    for (uint32_t i = 1; i < body->nparams; i++) {
        ir_value *next = ir_terminator(body)->args[i - 1];
        if (body->params[i]->type.kind != IR_SCALAR || !ir_is_float((rg_dtype)body->params[i]->type.dtype) ||
            !is_carried_sum(uses, body->params[i], next))
            continue;
        next->def->fast = any = true;
    }
    return any;
}

typedef struct unwinds {
    arena *scratch;
    uint32_t *uses; /* by id */
    bool changed;
} unwinds;

static bool
reorder_unwind(ir_op *op, void *user)
{
    unwinds *all = user;
    if (op->code != RG_OP_UNWIND || op->ordered)
        return true;
    all->changed |= reorder_sums(all->uses, op);
    ir_value *carried = only_carried(all->uses, op);
    if (!carried)
        return true;
    recurrence r = {.fn = op->parent->fn, .body = op->regions[0], .carried = carried, .scratch = all->scratch};
    r.known.in = r.linear.in = all->scratch;
    shorten(&r);
    all->changed |= r.changed;
    return true;
}

bool
ad_recurrence(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        /* what is made stands in loops that were seen then */
        unwinds all = {.scratch = c->scratch, .uses = ir_count_uses(c->scratch, fn)};
        ir_walk(fn->body, reorder_unwind, &all);
        changed |= all.changed;
    }
    return changed;
}
