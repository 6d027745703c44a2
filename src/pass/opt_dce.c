/* Dead code elimination: liveness over values, from effects backwards, then one sweep.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   for (%k = .., %a = .., %b = ..)  { ... yield %a1, %b1 }      only %b's result is used, and %a
 * feeds nothing but itself: %a goes, with its chain
 *
 * An op is live if it has an effect or a live result, or holds a live op; a carried value if its
 * result or its parameter is. Loops without effects are assumed to end. A value that is recalled is
 * used. */
#include "pass/edit.h"
#include "pass/pass.h"

typedef struct liveness {
    uint8_t *values; /* by id */
    map ops;         /* live ops */
    vec(ir_value *) todo;
    bool changed;
} liveness;

static void mark_op(liveness *l, ir_op *op);

static void
mark(liveness *l, ir_value *v)
{
    if (l->values[v->id])
        return;
    l->values[v->id] = 1;
    vec_push(&l->todo, v);
}

static bool
is_live(const liveness *l, const ir_op *op)
{
    return map_get(&l->ops, map_ptr(op)) != NULL;
}

/* operands that an op needs whichever of its results are used */
static void
mark_own_operands(liveness *l, ir_op *op)
{
    uint32_t n = op->nargs;
    switch (op->code) {
    case RG_OP_YIELD:
        n = op->parent->op ? 0 : n; /* a function's results are always wanted */
        break;
    case RG_OP_IF:
    case RG_OP_EXIT_IF:
        n = 1;
        break;
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        n = 2;
        break;
    case RG_OP_LOOP:
        n = 0;
        break;
    case RG_OP_PARALLEL:
        n = 2 * op->attr.rank;
        if (n < op->nargs && op->args[n]->type.kind == IR_TRACE)
            n++;
        break;
    default:
        break;
    }
    for (uint32_t k = 0; k < n; k++)
        mark(l, op->args[k]);
}

static void
mark_op(liveness *l, ir_op *op)
{
    for (; op && !is_live(l, op); op = op->parent->op) {
        map_set(&l->ops, map_ptr(op), op);
        mark_own_operands(l, op);
        if (op->code == RG_OP_LOOP)
            ir_for_ops(inner, op->regions[0]) if (inner->code == RG_OP_EXIT_IF) mark_op(l, inner);
    }
}

/* Carried value k of a for, loop or unwind, or reduction k of a parallel. */
static void
mark_carried(liveness *l, ir_op *op, uint32_t init, uint32_t k)
{
    mark(l, op->args[init + k]);
    mark(l, ir_terminator(op->regions[0])->args[k]);
}

static uint32_t
first_init(const ir_op *op)
{
    uint32_t first = op->code == RG_OP_FOR || op->code == RG_OP_UNWIND ? 2 : 0;
    if (op->code == RG_OP_PARALLEL) {
        first = 2 * op->attr.rank;
        if (first < op->nargs && op->args[first]->type.kind == IR_TRACE)
            first++;
    }
    return first;
}

static void
mark_result(liveness *l, ir_value *v)
{
    ir_op *op = v->def;
    mark_op(l, op);
    if (v->type.kind == IR_TRACE && op->nregions)
        return;
    switch (op->code) {
    case RG_OP_IF:
        mark(l, ir_terminator(op->regions[0])->args[v->index]);
        mark(l, ir_terminator(op->regions[1])->args[v->index]);
        break;
    case RG_OP_LOOP:
        ir_for_ops(inner, op->regions[0]) if (inner->code == RG_OP_EXIT_IF)
            mark(l, inner->args[1 + v->index]);
        break;
    case RG_OP_FOR:
    case RG_OP_UNWIND:
    case RG_OP_PARALLEL:
        mark_carried(l, op, first_init(op), v->index);
        break;
    default:
        break;
    }
}

static void
mark_param(liveness *l, ir_value *v)
{
    ir_op *op = v->region->op;
    if (!op)
        return;
    mark_op(l, op);
    switch (op->code) {
    case RG_OP_LOOP:
        mark_carried(l, op, 0, v->index);
        break;
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        if (v->index > 0)
            mark_carried(l, op, 2, v->index - 1);
        break;
    default:
        break;
    }
}

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
    default:
        return ir_ops[op->code].flags & (IR_EFFECT | IR_WRITE);
    }
}

static bool
mark_root(ir_op *op, void *user)
{
    if (has_effect(op))
        mark_op(user, op);
    return true;
}

/* -- the sweep
 * ---------------------------------------------------------------------------------------- */

static void
drop_carried(liveness *l, ir_op *op, uint32_t init, uint32_t param, uint32_t k)
{
    edit_drop_arg(op, init + k);
    edit_drop_arg(ir_terminator(op->regions[0]), k);
    edit_drop_param(op->regions[0], param + k);
    l->changed = true;
}

static void
sweep_if(liveness *l, ir_op *op)
{
    for (uint32_t k = op->nresults; k-- > 0;) {
        if (l->values[op->results[k]->id])
            continue;
        edit_drop_arg(ir_terminator(op->regions[0]), k);
        edit_drop_arg(ir_terminator(op->regions[1]), k);
        edit_drop_result(op, k);
        l->changed = true;
    }
}

static void
sweep_exits(liveness *l, ir_op *op)
{
    for (uint32_t k = op->nresults; k-- > 0;) {
        if (op->results[k]->type.kind == IR_TRACE || l->values[op->results[k]->id])
            continue;
        ir_for_ops(inner, op->regions[0]) if (inner->code == RG_OP_EXIT_IF)
            edit_drop_arg(inner, 1 + k);
        edit_drop_result(op, k);
        l->changed = true;
    }
}

static void
sweep_loop(liveness *l, ir_op *op)
{
    sweep_exits(l, op);
    for (uint32_t k = op->nargs; k-- > 0;)
        if (!l->values[op->regions[0]->params[k]->id])
            drop_carried(l, op, 0, 0, k);
}

/* for and unwind: a carried value is both a parameter and a result */
static void
sweep_counted(liveness *l, ir_op *op)
{
    for (uint32_t k = op->nargs - 2; k-- > 0;) {
        if (l->values[op->regions[0]->params[1 + k]->id] || l->values[op->results[k]->id])
            continue;
        drop_carried(l, op, 2, 1, k);
        edit_drop_result(op, k);
    }
}

static void
sweep_parallel(liveness *l, ir_op *op)
{
    uint32_t init = first_init(op), n = op->nargs - init;
    for (uint32_t k = n; k-- > 0;) {
        if (l->values[op->results[k]->id])
            continue;
        uint8_t *reduce = arena_new_n(op->parent->fn->module->arena, uint8_t, n);
        memcpy(reduce, op->reduce, k);
        memcpy(reduce + k, op->reduce + k + 1, --n - k);
        op->reduce = reduce;
        edit_drop_arg(op, init + k);
        edit_drop_arg(ir_terminator(op->regions[0]), k);
        edit_drop_result(op, k);
        l->changed = true;
    }
}

/* A trace that nobody unwinds is not recorded. */
static void
sweep_trace(liveness *l, ir_op *op)
{
    const ir_value *last = op->records && op->nresults ? op->results[op->nresults - 1] : NULL;
    if (!last || last->type.kind != IR_TRACE || l->values[last->id])
        return;
    op->records = false;
    edit_drop_result(op, op->nresults - 1);
    l->changed = true;
}

static void
sweep_op(liveness *l, ir_op *op)
{
    switch (op->code) {
    case RG_OP_IF:
        sweep_if(l, op);
        break;
    case RG_OP_LOOP:
        sweep_loop(l, op);
        break;
    case RG_OP_FOR:
    case RG_OP_UNWIND:
        sweep_counted(l, op);
        break;
    case RG_OP_PARALLEL:
        sweep_parallel(l, op);
        break;
    case RG_OP_RMW:
        if (op->nresults && !l->values[op->results[0]->id]) {
            edit_drop_result(op, 0);
            l->changed = true;
        }
        break;
    default:
        break;
    }
    sweep_trace(l, op);
}

static bool
sweep(ir_op *op, void *user)
{
    liveness *l = user;
    if (op->code == RG_OP_YIELD)
        return true;
    if (is_live(l, op)) {
        sweep_op(l, op);
        return true;
    }
    ir_remove(op);
    l->changed = true;
    return true;
}

static void
release_liveness(void *user)
{
    liveness *l = user;
    map_free(&l->ops);
    mem_free(l->values);
    vec_free(&l->todo);
}

static bool
dce_region(ir_fn *fn, ir_region *body)
{
    liveness l = {.values = mem_zalloc(fn->next_id + 1)};
    mem_owner owner;
    mem_own(&owner, release_liveness, &l);
    ir_walk(body, mark_root, &l);
    while (l.todo.n) {
        ir_value *v = vec_pop(&l.todo);
        if (v->def)
            mark_result(&l, v);
        else
            mark_param(&l, v);
    }
    ir_walk(body, sweep, &l);
    mem_disown(&owner);
    release_liveness(&l);
    return l.changed;
}

bool
opt_dce(ir_module *m)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        changed |= dce_region(fn, fn->body);
        if (fn->shape)
            changed |= dce_region(fn, fn->shape);
    }
    return changed;
}
