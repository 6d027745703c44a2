/* Slices of loop bodies. SPDX-License-Identifier: Apache-2.0 */
#include "plan/slice.h"

static void
mark(ad_slice *s, bool *of, const ir_value *v)
{
    if (of[v->id])
        return;
    of[v->id] = true;
    vec_push(&s->marked, (size_t)(&of[v->id] - s->marks));
}

/* all marks false, for ids below n */
static void
clear_marks(ad_slice *s, size_t n)
{
    if (n > s->room) {
        mem_free(s->marks);
        s->marks = NULL;
        s->room = n + n / 2;
        s->marks = mem_zalloc(3 * s->room);
    } else {
        for (size_t i = 0; i < s->marked.n; i++)
            s->marks[s->marked.at[i]] = false;
    }
    vec_clear(&s->marked);
}

void
ad_slice_open(ad_slice *s, ir_fn *fn, const ir_op *loop, const ir_writes *writes)
{
    clear_marks(s, (size_t)fn->next_id + 1);
    vec_clear(&s->wanted);
    vec_clear(&s->kept);
    vec_clear(&s->todo);
    vec_clear(&s->outside);
    mem_free(s->state);
    s->state = NULL;
    s->state = mem_zalloc(loop->regions[0]->nparams + 1);
    s->fn = fn;
    s->loop = loop;
    s->writes = writes;
    s->needed = s->marks;
    s->is_kept = s->needed + s->room;
    s->early = s->is_kept + s->room;
    s->arrays = false;
    s->possible = true;
    s->ops = 0;
    s->cost = 0;
}

void
ad_slice_free(void *slice)
{
    ad_slice *s = slice;
    mem_free(s->marks);
    mem_free(s->state);
    s->marks = s->state = NULL;
    s->room = 0;
    vec_free(&s->marked);
    vec_free(&s->wanted);
    vec_free(&s->kept);
    vec_free(&s->todo);
    vec_free(&s->outside);
}

static bool
inside(const ad_slice *s, const ir_value *v)
{
    return ir_region_inside(v->region, s->loop->regions[0]);
}

/* -- what is needed ------------------------------------------------------------------------------------------- */
static void
need(ad_slice *s, ir_value *v)
{
    if (s->needed[v->id])
        return;
    mark(s, s->needed, v);
    s->arrays |= v->type.kind == IR_ARRAY;
    if (inside(s, v)) {
        vec_push(&s->todo, v);
        return;
    }
    /* where it is reversed, an array of outside may have been consumed */
    if (v->type.kind == IR_ARRAY && !(v->def && v->def->code == RG_OP_TABLE))
        s->possible = false;
    vec_push(&s->outside, v);
}

static void
need_operands(ad_slice *s, const ir_op *op, uint32_t first)
{
    for (uint32_t i = first; i < op->nargs; i++)
        need(s, op->args[i]);
}

/* a loop in the body is needed with all that it carries */
static void
need_loop(ad_slice *s, const ir_op *loop)
{
    const ir_region *body = loop->regions[0];
    need_operands(s, loop, 0);
    need_operands(s, ir_terminator(body), 0);
    ir_for_ops(op, body) if (op->code == RG_OP_EXIT_IF) need_operands(s, op, 0);
    for (uint32_t i = 0; i < body->nparams; i++)
        mark(s, s->needed, body->params[i]);
    for (uint32_t i = 0; i < loop->nresults; i++)
        mark(s, s->needed, loop->results[i]);
}

static bool
is_loop(const ir_op *op)
{
    return (op->code == RG_OP_FOR || op->code == RG_OP_LOOP) && !op->records;
}

/* what decides whether v's region is entered */
static void
need_around(ad_slice *s, const ir_value *v)
{
    for (const ir_op *op = v->region->op; op != s->loop; op = op->parent->op) {
        if (op->code == RG_OP_IF)
            need(s, op->args[0]);
        else if (is_loop(op))
            need_loop(s, op);
        else
            s->possible = false;
    }
}

static void
need_param(ad_slice *s, const ir_value *v)
{
    const ir_op *loop = s->loop;
    if (v->region != loop->regions[0] || ad_recomputable(loop, v, s->writes) == AD_INDUCTION)
        return;
    s->state[v->index] = true;
    s->possible &= v->type.kind == IR_SCALAR || (v->type.kind == IR_ARRAY && loop->code == RG_OP_FOR);
    need(s, ir_terminator(loop->regions[0])->args[v->index - (loop->code == RG_OP_FOR)]);
}

static bool
is_array_op(const ir_op *op)
{
    return op->code == RG_OP_ARRAY || op->code == RG_OP_TABLE || op->code == RG_OP_COPY ||
           op->code == RG_OP_EXTRACT || op->code == RG_OP_INSERT;
}

/* whether each iteration can hand v on: nothing but ifs lies between it and the body */
static bool
can_be_kept(const ad_slice *s, const ir_value *v)
{
    const ir_region *r = v->region;
    while (r->op != s->loop && r->op->code == RG_OP_IF)
        r = r->op->parent;
    return r->op == s->loop && v->type.kind == IR_SCALAR && !v->def->nregions;
}

static bool
must_be_kept(const ad_slice *s, const ir_value *v)
{
    const ir_op *op = v->def;
    return op && op->code != RG_OP_IF && !is_loop(op) && !is_array_op(op) &&
           ad_recomputable(s->loop, v, s->writes) == AD_NOT;
}

static void
keep(ad_slice *s, ir_value *v)
{
    s->possible &= can_be_kept(s, v);
    mark(s, s->is_kept, v);
    vec_push(&s->kept, v);
}

static void
need_result(ad_slice *s, const ir_value *v)
{
    const ir_op *op = v->def;
    s->ops++;
    if (op->code == RG_OP_IF) {
        need(s, op->args[0]);
        need(s, ir_terminator(op->regions[0])->args[v->index]);
        need(s, ir_terminator(op->regions[1])->args[v->index]);
    } else if (is_loop(op)) {
        need_loop(s, op);
        s->cost += 100; /* nobody knows how often it runs */
    } else {
        s->cost += op->code == RG_OP_CONST ? 0 : ad_cost_of_op(op);
        need_operands(s, op, 0);
    }
}

/* -- what wanted values need, at the granularity of ops of the body's top level -------------------------------- */
static bool
is_needed(const ad_slice *s, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nresults; i++)
        if (s->needed[op->results[i]->id] && !s->is_kept[op->results[i]->id])
            return true;
    return false;
}

static void find_early_in(ad_slice *s, const ir_region *r);

static void
operands_are_early(ad_slice *s, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        mark(s, s->early, op->args[i]);
    for (uint32_t i = 0; i < op->nregions; i++)
        find_early_in(s, op->regions[i]);
}

static void
find_early_in(ad_slice *s, const ir_region *r)
{
    ir_for_ops(op, r) if (op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF || is_needed(s, op))
        operands_are_early(s, op);
}

static bool
is_early(const ad_slice *s, const ir_op *op)
{
    for (uint32_t i = 0; i < op->nresults; i++)
        if (s->early[op->results[i]->id])
            return true;
    return s->arrays; /* in place: the order of ops counts */
}

static void
find_early(ad_slice *s)
{
    for (size_t i = 0; i < s->wanted.n; i++)
        mark(s, s->early, s->wanted.at[i]);
    for (const ir_op *op = s->loop->regions[0]->last; op; op = op->prev)
        if (is_needed(s, op) && is_early(s, op))
            operands_are_early(s, op);
}

void
ad_slice_want(ad_slice *s, ir_value *v)
{
    for (size_t i = 0; i < s->wanted.n; i++)
        if (s->wanted.at[i] == v)
            return;
    vec_push(&s->wanted, v);
    s->possible &= v->type.kind == IR_SCALAR;
    need(s, v);
}

void
ad_slice_solve(ad_slice *s)
{
    while (s->todo.n) {
        ir_value *v = vec_pop(&s->todo);
        if (must_be_kept(s, v)) {
            keep(s, v);
            continue;
        }
        need_around(s, v);
        if (v->def)
            need_result(s, v);
        else
            need_param(s, v);
    }
    find_early(s);
}

/* -- copies ----------------------------------------------------------------------------------------------------- */
static void copy_region(const ad_slice *s, const ir_region *from, ir_value **map, ir_region *into);

static ir_value *
now(ir_value **map, ir_value *v)
{
    return map[v->id] ? map[v->id] : v;
}

/* an if with the results that are needed */
static void
copy_if(const ad_slice *s, const ir_op *op, ir_value **map, ir_region *into)
{
    ir_op *copy = ir_op_like(s->fn, op);
    ir_op_arg(copy, s->fn, now(map, op->args[0]));
    ir_append(into, copy);
    for (uint32_t arm = 0; arm < 2; arm++) {
        const ir_op *end = ir_terminator(op->regions[arm]);
        copy_region(s, op->regions[arm], map, copy->regions[arm]);
        ir_op *yield = ir_op_like(s->fn, end);
        for (uint32_t i = 0; i < end->nargs; i++)
            if (s->needed[op->results[i]->id])
                ir_op_arg(yield, s->fn, now(map, end->args[i]));
        ir_append(copy->regions[arm], yield);
    }
    for (uint32_t i = 0; i < op->nresults; i++)
        if (s->needed[op->results[i]->id])
            map[op->results[i]->id] = ir_op_result(copy, s->fn, op->results[i]->type, op->results[i]->name);
}

static void
copy_loop(const ad_slice *s, const ir_op *op, ir_value **map, ir_region *into)
{
    const ir_region *body = op->regions[0];
    ir_op *copy = ir_op_like(s->fn, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        ir_op_arg(copy, s->fn, now(map, op->args[i]));
    ir_append(into, copy);
    for (uint32_t i = 0; i < body->nparams; i++)
        map[body->params[i]->id] =
            ir_region_param(copy->regions[0], body->params[i]->type, body->params[i]->name);
    copy_region(s, body, map, copy->regions[0]);
    ir_op_clone(s->fn, ir_terminator(body), map, copy->regions[0]);
    for (uint32_t i = 0; i < op->nresults; i++)
        map[op->results[i]->id] = ir_op_result(copy, s->fn, op->results[i]->type, op->results[i]->name);
}

static void
copy_op(const ad_slice *s, const ir_op *op, ir_value **map, ir_region *into)
{
    if (op->code == RG_OP_IF)
        copy_if(s, op, map, into);
    else if (is_loop(op))
        copy_loop(s, op, map, into);
    else
        ir_op_clone(s->fn, op, map, into);
}

static void
copy_region(const ad_slice *s, const ir_region *from, ir_value **map, ir_region *into)
{
    ir_for_ops(op, from) if (op->code == RG_OP_EXIT_IF || is_needed(s, op)) copy_op(s, op, map, into);
}

void
ad_slice_copy(const ad_slice *s, ad_slice_part part, ir_value **map, ir_region *into)
{
    ir_for_ops(op, s->loop->regions[0])
        if (is_needed(s, op) && is_early(s, op) == (part == AD_SLICE_WANTED))
            copy_op(s, op, map, into);
}
