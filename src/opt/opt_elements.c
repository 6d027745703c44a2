/* Local arrays whose subscripts are all known become scalars. SPDX-License-Identifier: Apache-2.0
 *
 *   %a = array                                         for ... (%v0 = 0, %v1 = 0) {
 *   %r = for ... (%v: f64[2] = %a) {                     %y = add %v1, %s
 *     %x = extract %v[1]  %y = add %x, %s          ->    yield %v0, %y
 *     %w = insert %v[1], %y                            }
 *     yield %w
 *   }
 *
 * Arrays that are handed from one to the other (inserted into, carried, yielded, copied) stay or go
 * together. Before differentiation, after opt_unroll: what is carried, recorded and recomputed is
 * then decided element by element. */
#include "ir/edges.h"
#include "opt/edit.h"
#include "opt/pass.h"

enum { LONGEST = 32 };

typedef struct splitting {
    edit edit;
    uint32_t size;
    uint32_t *leader;    /* by id: another array of its family, or itself */
    bool *stays;         /* by leader's id */
    ir_value ***element; /* by id: its elements, where it goes */
} splitting;

/* -- families ---------------------------------------------------------------------------------- */

static uint32_t
leader_of(splitting *s, uint32_t id)
{
    while (s->leader[id] != id)
        id = s->leader[id] = s->leader[s->leader[id]];
    return id;
}

static void
stay(splitting *s, const ir_value *v)
{
    s->stays[leader_of(s, v->id)] = true;
}

static void
stay_all(splitting *s, ir_value *const *v, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (ir_is_array(v[k]))
            stay(s, v[k]);
}

static void
join_groups(splitting *s, const ir_value *x, const ir_value *y)
{
    if (!ir_is_array(x))
        return;
    uint32_t a = leader_of(s, x->id), b = leader_of(s, y->id);
    s->stays[a] |= s->stays[b];
    s->leader[b] = a;
}

static void
look_at_subscript(splitting *s, const ir_op *op)
{
    uint64_t index;
    if (!ir_is_const(op->args[1], &index) || index >= op->args[0]->type.length || op->args[0]->type.lanes)
        stay(s, op->args[0]);
}

static bool
note_array_use(ir_op *op, void *user)
{
    splitting *s = user;
    switch ((int)op->code) {
    case RG_OP_ARRAY:
        if (op->results[0]->type.length > LONGEST)
            stay(s, op->results[0]);
        return true;
    case RG_OP_COPY:
        if (!ir_is_table(op->args[0]))
            join_groups(s, op->args[0], op->results[0]);
        else if (op->results[0]->type.length > LONGEST)
            stay(s, op->results[0]);
        return true;
    case RG_OP_INSERT:
        join_groups(s, op->args[0], op->results[0]);
        look_at_subscript(s, op);
        return true;
    case RG_OP_EXTRACT:
        if (!ir_is_table(op->args[0]))
            look_at_subscript(s, op);
        return true;
    case RG_OP_IF:
    case RG_OP_FOR:
    case RG_OP_LOOP:
        if (op->records)
            stay_all(s, op->args, op->nargs);
        for (ir_edge e = {0}; ir_next_edge(op, &e);)
            join_groups(s, e.from.value, e.to);
        return true;
    case RG_OP_YIELD:
    case RG_OP_EXIT_IF:
    case RG_OP_TABLE:
        return true;
    }
    stay_all(s, op->args, op->nargs); /* calls, recalls, unwinds */
    stay_all(s, op->results, op->nresults);
    for (uint32_t k = 0; k < op->nregions; k++) {
        stay_all(s, op->regions[k]->params, op->regions[k]->nparams);
        stay_all(s, ir_terminator(op->regions[k])->args, ir_terminator(op->regions[k])->nargs);
    }
    return true;
}

/* -- elements ---------------------------------------------------------------------------------- */

static bool
goes(splitting *s, const ir_value *v)
{
    return ir_is_array(v) && v->id < s->size && !ir_is_table(v) && !s->stays[leader_of(s, v->id)];
}

static ir_value **
new_elements(splitting *s, const ir_value *v)
{
    return s->element[v->id] = arena_new_n(s->edit.scratch, ir_value *, v->type.length);
}

static ir_value *
constant(splitting *s, ir_op *at, rg_dtype d, const void *data, uint32_t i)
{
    uint64_t bits = 0;
    if (data)
        memcpy(&bits, (const char *)data + (size_t)i * ir_bytes(d), ir_bytes(d));
    return edit_const(&s->edit, at, ir_scalar(d), ir_is_float(d) ? bits : ir_wrap(d, bits));
}

/* array, copy, insert: what the elements are now */
static void
make_elements(splitting *s, ir_op *op)
{
    const ir_value *v = op->results[0];
    ir_value **element = new_elements(s, v);
    const void *table = op->nargs && ir_is_table(op->args[0]) ? op->args[0]->def->attr.data : NULL;
    for (uint32_t i = 0; i < v->type.length; i++)
        element[i] = op->code == RG_OP_ARRAY || table
                         ? constant(s, op, (rg_dtype)v->type.dtype, table, i)
                         : s->element[op->args[0]->id][i];
    uint64_t index;
    if (op->code == RG_OP_INSERT && ir_is_const(op->args[1], &index))
        element[index] = op->args[2];
}

/* -- lists of values in which arrays stand as their elements ----------------------------------- */

static uint32_t
length_of(splitting *s, ir_value *const *v, uint32_t n)
{
    uint32_t length = 0;
    for (uint32_t i = 0; i < n; i++)
        length += goes(s, v[i]) ? v[i]->type.length : 1;
    return length;
}

static bool
any_goes(splitting *s, ir_value *const *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (goes(s, v[i]))
            return true;
    return false;
}

static void
expand_args(splitting *s, ir_op *op)
{
    ir_value **old = op->args;
    uint32_t n = op->nargs;
    if (!any_goes(s, old, n))
        return;
    op->args_cap = length_of(s, old, n);
    op->args = arena_new_n(s->edit.fn->module->arena, ir_value *, op->args_cap);
    op->nargs = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!goes(s, old[i]))
            ir_op_arg(op, s->edit.fn, old[i]);
        else
            for (uint32_t k = 0; k < old[i]->type.length; k++)
                ir_op_arg(op, s->edit.fn, edit_now(&s->edit, s->element[old[i]->id][k]));
}

static void
expand_results(splitting *s, ir_op *op)
{
    ir_value **old = op->results;
    uint32_t n = op->nresults;
    if (!any_goes(s, old, n))
        return;
    op->results_cap = length_of(s, old, n);
    op->results = arena_new_n(s->edit.fn->module->arena, ir_value *, op->results_cap);
    op->nresults = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!goes(s, old[i])) {
            old[i]->index = op->nresults;
            op->results[op->nresults++] = old[i];
            continue;
        }
        ir_value **element = new_elements(s, old[i]);
        ir_type type = ir_scalar((rg_dtype)old[i]->type.dtype);
        for (uint32_t k = 0; k < old[i]->type.length; k++)
            element[k] = ir_op_result(op, s->edit.fn, type, NULL);
    }
}

static void
expand_params(splitting *s, ir_region *r)
{
    ir_value **old = r->params;
    uint32_t n = r->nparams;
    if (!any_goes(s, old, n))
        return;
    r->params_cap = length_of(s, old, n);
    r->params = arena_new_n(s->edit.fn->module->arena, ir_value *, r->params_cap);
    r->nparams = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!goes(s, old[i])) {
            old[i]->index = r->nparams;
            r->params[r->nparams++] = old[i];
            continue;
        }
        ir_value **element = new_elements(s, old[i]);
        ir_type type = ir_scalar((rg_dtype)old[i]->type.dtype);
        for (uint32_t k = 0; k < old[i]->type.length; k++)
            element[k] = ir_region_param(r, type, NULL);
    }
}

static void
split_region(splitting *s, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(&s->edit, op);
        uint64_t index;
        bool made = op->code == RG_OP_ARRAY || op->code == RG_OP_COPY || op->code == RG_OP_INSERT;
        if (made && goes(s, op->results[0])) {
            make_elements(s, op);
            ir_remove(op);
            continue;
        }
        if (op->code == RG_OP_EXTRACT && goes(s, op->args[0]) && ir_is_const(op->args[1], &index)) {
            ir_value *v = s->element[op->args[0]->id][index];
            edit_replace(&s->edit, op->results[0], edit_now(&s->edit, v));
            ir_remove(op);
            continue;
        }
        expand_args(s, op);
        for (uint32_t k = 0; k < op->nregions; k++) {
            expand_params(s, op->regions[k]);
            split_region(s, op->regions[k]);
        }
        expand_results(s, op);
    }
}

/* -- a function -------------------------------------------------------------------------------- */

static bool
find_going(ir_op *op, void *user)
{
    splitting *s = user;
    for (uint32_t k = 0; k < op->nresults; k++)
        if (goes(s, op->results[k]))
            return false;
    return true;
}

static bool
split_arrays(ir_fn *fn, arena *scratch)
{
    splitting s = {.size = fn->next_id};
    edit_start(&s.edit, fn, scratch);
    s.leader = arena_new_n(s.edit.scratch, uint32_t, s.size + 1);
    s.stays = arena_new_n(s.edit.scratch, bool, s.size + 1);
    s.element = arena_new_n(s.edit.scratch, ir_value **, s.size + 1);
    for (uint32_t id = 0; id < s.size; id++)
        s.leader[id] = id;
    stay_all(&s, fn->body->params, fn->body->nparams);
    stay_all(&s, ir_terminator(fn->body)->args, ir_terminator(fn->body)->nargs);
    ir_walk(fn->body, note_array_use, &s);
    if (!ir_walk(fn->body, find_going, &s)) {
        s.edit.changed = true;
        split_region(&s, fn->body);
    }
    return edit_finish(&s.edit);
}

bool
opt_elements(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next)
        if (fn->kernel)
            changed |= split_arrays(fn, c->scratch);
    return changed;
}
