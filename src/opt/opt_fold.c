/* Folding: scalars (fold_scalar.c), ifs on constants, loops that run never or once.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   if %true { A  yield %x } else { B  yield %y }            ->   A, result = %x
 *   %r: i32 = if %c { yield 1 } else { yield 0 }             ->   %r = select %c, 1, 0
 *   for %i = 0 to 0 step 1 (%a = %x) { ... }                 ->   result = %x
 *
 * Ifs with float results stay: choosing between floats is a branch until differentiation is over. A
 * region is not deleted while something in it is recalled; the recall stands in dead code and goes
 * first. */
#include "ir/edges.h"
#include "ir/recall.h"
#include "opt/fold_scalar.h"
#include "opt/pass.h"

static void fold_region(edit *e, ir_region *r);

/* -- ifs
 * -----------------------------------------------------------------------------------------------
 */

/* Replaces a region op by the region's ops; returns where folding goes on. */
static ir_op *
splice_all(edit *e, ir_op *op, ir_region *r, const ir_op *end)
{
    ir_op *first = edit_splice(op, r, end);
    ir_op *next = first == op ? op->next : first;
    ir_remove(op);
    e->changed = true;
    return next;
}

static ir_op *
splice_branch(edit *e, ir_op *op, bool taken)
{
    ir_region *r = op->regions[taken ? 0 : 1];
    ir_op *yield = ir_terminator(r);
    for (uint32_t k = 0; k < op->nresults; k++)
        edit_replace(e, op->results[k], yield->args[k]);
    return splice_all(e, op, r, NULL);
}

/* v, which an arm of an if yields: it is the arm's own or visible around the if */
static bool
is_outer(const ir_value *v, const ir_op *op)
{
    return ir_is_const(v, NULL) || v->region->op != op;
}

/* v, which is_outer(), as a value before `at` */
static ir_value *
hoisted(edit *e, ir_op *at, ir_value *v)
{
    uint64_t bits;
    return !edit_visible(v, at) && ir_is_const(v, &bits) ? edit_const(e, at, v->type, bits) : v;
}

/* What result k of an if is without the if, or NULL. */
static ir_value *
chosen(edit *e, ir_op *op, uint32_t k)
{
    ir_value *x = edit_now(e, ir_terminator(op->regions[0])->args[k]);
    ir_value *y = edit_now(e, ir_terminator(op->regions[1])->args[k]);
    if (!is_outer(x, op) || !is_outer(y, op))
        return NULL;
    if (ir_same_value(x, y))
        return hoisted(e, op, x);
    if (x->type.kind != IR_SCALAR || ir_is_float((rg_dtype)x->type.dtype))
        return NULL;
    return edit_scalar(e, op, RG_OP_SELECT, x->type, op->args[0], hoisted(e, op, x),
                       hoisted(e, op, y));
}

static void
fold_if_results(edit *e, ir_op *op)
{
    for (uint32_t k = op->nresults; k-- > 0;) {
        ir_value *v = chosen(e, op, k);
        if (!v)
            continue;
        edit_replace(e, op->results[k], v);
        edit_drop_arg(ir_terminator(op->regions[0]), k);
        edit_drop_arg(ir_terminator(op->regions[1]), k);
        edit_drop_result(op, k);
    }
}

static ir_op *
fold_if(edit *e, ir_op *op)
{
    uint64_t taken;
    if (ir_is_const(op->args[0], &taken) && !edit_any_recalled(e, op->regions[taken & 1 ? 1 : 0]))
        return splice_branch(e, op, taken & 1);
    fold_region(e, op->regions[0]);
    fold_region(e, op->regions[1]);
    fold_if_results(e, op);
    return op->next;
}

/* -- loops
 * --------------------------------------------------------------------------------------------- */

/* The parameter of a carried value that no iteration changes is its initial value. */
static void
fold_unchanged(edit *e, ir_op *op, uint32_t init, uint32_t param)
{
    ir_region *body = op->regions[0];
    ir_op *yield = ir_terminator(body);
    for (uint32_t k = op->nargs - init; k-- > 0;) {
        ir_value *p = body->params[param + k], *start = op->args[init + k];
        ir_value *next = edit_now(e, yield->args[k]);
        bool array = p->type.kind == IR_ARRAY;
        if ((next != p && !ir_same_value(next, start)) || (array && edit_is_recalled(e, p)))
            continue;
        if (array && next != p)
            continue;
        edit_replace(e, p, start);
        if (op->code != RG_OP_LOOP) {
            edit_replace(e, op->results[k], start);
            edit_drop_result(op, k);
        }
        edit_drop_arg(op, init + k);
        edit_drop_arg(yield, k);
        edit_drop_param(body, param + k);
    }
}

/* 0 or 1 iteration, or 2 for more or unknown */
static unsigned
iterations_up_to_two(const ir_op *op)
{
    uint64_t lo, hi;
    if (!ir_is_const(op->args[0], &lo) || !ir_is_const(op->args[1], &hi))
        return op->args[0] == op->args[1] ? 0 : 2;
    bool is_signed = ir_is_signed((rg_dtype)op->args[0]->type.dtype);
    bool up = op->attr.step > 0;
    uint64_t from = up ? lo : hi, to = up ? hi : lo;
    if (is_signed ? (int64_t)from >= (int64_t)to : from >= to)
        return 0;
    uint64_t step = up ? (uint64_t)op->attr.step : 0 - (uint64_t)op->attr.step;
    return to - from <= step ? 1 : 2;
}

static ir_op *
never(edit *e, ir_op *op)
{
    for (uint32_t k = 0; k + 2 < op->nargs; k++)
        edit_replace(e, op->results[k], op->args[2 + k]);
    ir_op *next = op->next;
    ir_remove(op);
    e->changed = true;
    return next;
}

static ir_op *
replace_by_body(edit *e, ir_op *op)
{
    ir_region *body = op->regions[0];
    ir_op *yield = ir_terminator(body);
    edit_replace(e, body->params[0], op->args[0]);
    for (uint32_t k = 0; k + 2 < op->nargs; k++) {
        edit_replace(e, body->params[1 + k], op->args[2 + k]);
        edit_replace(e, op->results[k], yield->args[k]);
    }
    return splice_all(e, op, body, NULL);
}

static ir_op *
fold_for(edit *e, ir_op *op)
{
    unsigned count = op->records ? 2 : iterations_up_to_two(op);
    if (count == 0 && !edit_any_recalled(e, op->regions[0]))
        return never(e, op);
    if (count == 1)
        return replace_by_body(e, op);
    fold_unchanged(e, op, 2, 1);
    fold_region(e, op->regions[0]);
    return op->next;
}

static ir_op *
fold_unwind(edit *e, ir_op *op)
{
    uint64_t count;
    if (ir_is_const(op->args[1], &count) && (int64_t)count <= 0 &&
        !edit_any_recalled(e, op->regions[0]))
        return never(e, op);
    fold_unchanged(e, op, 2, 1);
    fold_region(e, op->regions[0]);
    return op->next;
}

/* Drops exits that are never taken (but the last one: a loop has an exit); returns the first exit
 * of all if that is always taken. */
static ir_op *
fold_exits(edit *e, ir_op *op)
{
    ir_op *first = NULL;
    unsigned exits = 0;
    ir_for_exits (exit, op)
        exits++;
    for (ir_op *inner = op->regions[0]->first, *next; inner; inner = next) {
        uint64_t taken;
        next = inner->next;
        if (inner->code != RG_OP_EXIT_IF)
            continue;
        if (!ir_is_const(edit_now(e, inner->args[0]), &taken)) {
            first = first ? first : inner;
        } else if (taken & 1) {
            return first ? NULL : inner;
        } else if (exits > 1) {
            exits--;
            ir_remove(inner);
            e->changed = true;
        }
    }
    return NULL;
}

static bool
same_at_exits(edit *e, const ir_op *loop, uint32_t a, uint32_t b)
{
    ir_for_exits (exit, loop)
        if (!ir_same_value(edit_now(e, exit->args[1 + a]), edit_now(e, exit->args[1 + b])))
            return false;
    return true;
}

/* Results that are the same at every exit become one. */
static void
fold_same_results(edit *e, ir_op *op)
{
    enum { MOST = 64 }; /* results that are compared with each other */
    for (uint32_t b = op->nresults < MOST ? op->nresults : MOST; b-- > 1;) {
        uint32_t a = 0;
        ir_type type = op->results[b]->type;
        if (type.kind != IR_SCALAR)
            continue;
        while (a < b && !(ir_type_eq(op->results[a]->type, type) && same_at_exits(e, op, a, b)))
            a++;
        if (a == b)
            continue;
        edit_replace(e, op->results[b], op->results[a]);
        ir_for_exits (exit, op)
            edit_drop_arg(exit, 1 + b);
        edit_drop_result(op, b);
    }
}

static bool
recalled_after(const edit *e, const ir_op *op)
{
    for (op = op->next; op; op = op->next) {
        for (uint32_t k = 0; k < op->nresults; k++)
            if (edit_is_recalled(e, op->results[k]))
                return true;
        for (uint32_t k = 0; k < op->nregions; k++)
            if (edit_any_recalled(e, op->regions[k]))
                return true;
    }
    return false;
}

static ir_op *
fold_loop(edit *e, ir_op *op)
{
    ir_region *body = op->regions[0];
    fold_unchanged(e, op, 0, 0);
    fold_region(e, body);
    fold_same_results(e, op);
    ir_op *leave = fold_exits(e, op);
    if (!leave || op->records || recalled_after(e, leave))
        return op->next;
    for (uint32_t k = 0; k < op->nargs; k++)
        edit_replace(e, body->params[k], op->args[k]);
    for (uint32_t k = 0; k < op->nresults; k++)
        edit_replace(e, op->results[k], leave->args[1 + k]);
    return splice_all(e, op, body, leave);
}

/* -- conditions of iterations that were not left
 * ---------------------------------------------------------------------------------------- */

/* Whether v must be so if `condition` is `holds`; *is receives it. */
static bool
follows_from(const ir_value *v, const ir_value *condition, bool holds, bool *is)
{
    const ir_op *op = condition->def;
    if (v == condition)
        return *is = holds, true;
    if (op && op->code == RG_OP_NOT)
        return follows_from(v, op->args[0], !holds, is);
    if (op && op->code == (holds ? RG_OP_AND : RG_OP_OR))
        return follows_from(v, op->args[0], holds, is) || follows_from(v, op->args[1], holds, is);
    return false;
}

/* An iteration that is unwound in full took none of its loop's exits. */
static ir_value *
fold_recall(edit *e, ir_op *op)
{
    ir_op *by = NULL;
    const ir_value *v = op->args[0];
    bool is;
    if (v->type.kind != IR_SCALAR || v->type.dtype != RG_BOOL || !v->region->op || v->region->op->code != RG_OP_LOOP)
        return NULL;
    const ir_op *owner = ir_recall_owner(op, &by);
    if (!owner || owner->code != RG_OP_LOOP || v->region != owner->regions[0])
        return NULL;
    ir_for_exits (exit, owner)
        if (follows_from(v, exit->args[0], false, &is))
            return edit_const(e, op, v->type, is);
    return NULL;
}

/* -- single ops
 * ---------------------------------------------------------------------------------------- */

static uint64_t
table_element(const ir_op *table, uint64_t index)
{
    rg_dtype d = (rg_dtype)table->results[0]->type.dtype;
    uint64_t bits = 0;
    memcpy(&bits, (const char *)table->attr.data + index * ir_bytes(d), ir_bytes(d));
    return ir_is_float(d) ? bits : ir_wrap(d, bits);
}

/* An element of a table, or the one that was inserted last. */
static ir_value *
fold_extract(edit *e, ir_op *op)
{
    ir_op *array = op->args[0]->def;
    uint64_t index;
    if (!array)
        return NULL;
    if (array->code == RG_OP_TABLE && ir_is_const(op->args[1], &index) &&
        index < array->results[0]->type.length)
        return edit_const(e, op, op->results[0]->type, table_element(array, index));
    if (array->code == RG_OP_INSERT && !array->masked && !op->masked &&
        ir_same_value(edit_now(e, array->args[1]), op->args[1]))
        return edit_now(e, array->args[2]);
    return NULL;
}

static ir_value *
fold_pick(ir_op *op)
{
    uint64_t bits;
    if (ir_is_const(op->args[0], &bits)) {
        int64_t selector = (int32_t)bits, last = (int64_t)op->nargs - 2;
        return op->args[1 + (selector < 0 ? 0 : selector > last ? last : selector)];
    }
    for (uint32_t k = 2; k < op->nargs; k++)
        if (op->args[k] != op->args[1])
            return NULL;
    return op->args[1];
}

static ir_value *
fold_value(edit *e, ir_op *op)
{
    switch (op->code) {
    case RG_OP_EXTRACT:
        return fold_extract(e, op);
    case RG_OP_PICK:
        return fold_pick(op);
    case RG_OP_RECALL:
        return fold_recall(e, op);
    default:
        return fold_scalar(e, op);
    }
}

/* What is the same in all lanes, or their numbers, is not recalled in lanes. NULL: it is neither. */
static ir_value *
recall_without_lanes(edit *e, ir_op *op, ir_value *v)
{
    ir_value *was = edit_now(e, v->def->args[0]);
    if (!edit_visible(was, op) && !ir_is_const(was, NULL)) {
        ir_op *recall = ir_op_new(e->fn, RG_OP_RECALL, 1, 0, op->loc);
        ir_op_arg(recall, e->fn, was);
        ir_insert_before(op, recall);
        e->recalled[was->id] = 1;
        was = ir_op_result(recall, e->fn, was->type, was->name);
    }
    uint64_t bits;
    if (!edit_visible(was, op) && ir_is_const(was, &bits))
        was = edit_const(e, op, was->type, bits);
    return edit_in_lanes(e, op, v->type, was);
}

/* A recall of what is in scope, or of a constant, is that; whether op was one. */
static bool
drop_recall(edit *e, ir_op *op)
{
    uint64_t bits;
    ir_value *v = op->code == RG_OP_RECALL ? op->args[0] : NULL;
    if (!v)
        return false;
    if (edit_visible(v, op))
        edit_replace(e, op->results[0], v);
    else if (v->type.kind == IR_SCALAR && ir_is_const(v, &bits))
        edit_replace(e, op->results[0], edit_const(e, op, v->type, bits));
    else if (v->def && v->def->code == RG_OP_SPLAT)
        edit_replace(e, op->results[0], recall_without_lanes(e, op, v));
    else
        return false;
    ir_remove(op);
    return true;
}

static ir_op *
fold_op(edit *e, ir_op *op)
{
    edit_operands(e, op);
    switch (op->code) {
    case RG_OP_IF:
        return fold_if(e, op);
    case RG_OP_FOR:
        return fold_for(e, op);
    case RG_OP_LOOP:
        return fold_loop(e, op);
    case RG_OP_UNWIND:
        return fold_unwind(e, op);
    case RG_OP_PARALLEL:
        fold_region(e, op->regions[0]);
        return op->next;
    default:
        break;
    }
    ir_op *next = op->next;
    if (drop_recall(e, op))
        return next;
    ir_value *same = fold_value(e, op);
    if (same) {
        edit_replace(e, op->results[0], edit_in_lanes(e, op, op->results[0]->type, same));
        ir_remove(op);
    }
    return next;
}

static void
fold_region(edit *e, ir_region *r)
{
    for (ir_op *op = r->first; op;)
        op = fold_op(e, op);
}

bool
opt_fold(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        edit e;
        edit_start(&e, fn, c->scratch);
        fold_region(&e, fn->body);
        if (fn->shape)
            fold_region(&e, fn->shape);
        changed |= edit_finish(&e);
    }
    return changed;
}
