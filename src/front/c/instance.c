/* Instances of C functions as IR functions. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/instance.h"

/* -- what may be a function ------------------------------------------------------------------------ */
uint32_t
fc_result_leaves(const decl *fn)
{
    return fn->type->kind == TYPE_VOID ? 0 : fc_type_leaves(fn->type);
}

static const char *
why_not(const decl *fn)
{
    front_error error;
    if (!fn->body)
        return "it has no body here";
    if (fn->variadic)
        return "it has a variable number of arguments";
    if (fn->active)
        return "it leads to a call of itself";
    if (fn->type->kind == TYPE_POINTER)
        return "it returns a pointer";
    if (fn->type->kind != TYPE_VOID && fc_type_problem(fn->type, &error))
        return "its result has a type that is not compiled";
    return NULL;
}

bool
fc_can_stay(gen *g, const decl *fn, rg_place where)
{
    const char *reason = why_not(fn);
    if (!reason && fc_function_has_parallel((decl *)fn))
        reason = "it holds a parallel loop";
    if (reason)
        fc_fail(g, ERR_DERIVE_FUNCTION, where, fn->name, reason);
    return !reason;
}

/* -- the shape of arguments -------------------------------------------------------------------------- */
static bool
known_int(rg_value v, int64_t *out)
{
    uint64_t bits = 0;
    if (v && !rg_value_is_const(v, &bits))
        return false;
    *out = (int64_t)bits;
    return true;
}

static ctype *
row_type(gen *g, ctype *elem, int64_t count)
{
    ctype *t = arena_one(g->arena, ctype);
    *t = (ctype){.kind = TYPE_ARRAY, .elem = elem, .length = count, .name = elem->name};
    return t;
}

static void
find_leaves(gen *g, argument *a)
{
    object *o = fc_object_new(g, OBJECT_VALUE, a->param->name, a->whole, 0, NULL);
    a->nleaves = o->nleaves;
    a->leaf = arena_new_n(g->arena, rg_type, o->nleaves + 1);
    for (uint32_t i = 0; i < o->nleaves; i++) {
        const leaf *l = &o->leaves[i];
        a->leaf[i] = (rg_type){l->dtype, l->rank ? fc_elements_below(l, 0) : 0};
        a->floats |= fc_is_float_dtype(l->dtype);
    }
}

static bool
classify_array(gen *g, argument *a, int64_t wanted, const node *n)
{
    a->given.at = fc_pointed(g, &a->given.at, n);
    const place *p = &a->given.at;
    const leaf *l = &p->object->leaves[p->leaf];
    if (p->refused)
        return false;
    a->array = true;
    a->constant = a->param->type->const_elements || fc_is_deep_constant(a->param->type->elem);
    a->single = p->n == 0 || p->fixed;
    a->whole = a->param->type->elem;
    if (a->single)
        return true;
    a->count = p->n <= l->rank ? l->dim[p->n - 1] : -1;
    if (!known_int(p->index[p->n - 1], &a->start) || a->start < 0)
        a->start = -1;
    if (a->count < 0 && wanted == PASS_BUFFER && p->object->kind == OBJECT_BUFFER && !p->object->rows) {
        a->buffer = a->constant = true;
        a->start = 0;
        return true;
    }
    if (a->count < 0) { /* an array of the kernel: its elements from here on */
        a->loads_here = true;
        a->count = wanted;
        a->start = 0;
    }
    if (a->count <= 0) {
        fc_fail(g, ERR_DERIVE_EXTENT, n->place, a->param->name);
        return false;
    }
    a->whole = row_type(g, a->whole, a->count);
    return true;
}

/* an array that is written must not be reached through another argument */
static bool
check_aliases(gen *g, const decl *fn, const node *call, const argument *args)
{
    for (uint32_t i = 0; i < fn->nparams; i++)
        for (uint32_t k = 0; k < i; k++) {
            const argument *x = &args[i], *y = &args[k];
            if (!x->array || !y->array || (x->constant && y->constant) ||
                x->given.at.object != y->given.at.object || x->given.at.leaf != y->given.at.leaf)
                continue;
            fc_fail(g, ERR_DERIVE_ALIAS, call->list[i]->place, x->param->name, fn->name);
            return false;
        }
    return true;
}

void
fc_by_value(gen *g, decl *fn, argument *args)
{
    for (uint32_t i = 0; i < fn->nparams; i++) {
        args[i] = (argument){.param = fn->params[i], .constant = true, .single = true, .whole = fn->params[i]->type};
        find_leaves(g, &args[i]);
    }
}

bool
fc_classify(gen *g, decl *fn, const node *call, const int64_t *rows, argument *args)
{
    value *given = arena_new_n(g->arena, value, fn->nparams + 1);
    if (!fc_arguments(g, fn, call, given))
        return false;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        argument *a = &args[i];
        *a = (argument){.param = fn->params[i], .given = given[i], .constant = true, .single = true};
        a->whole = fn->params[i]->type;
        if (a->whole->kind == TYPE_POINTER && !classify_array(g, a, rows ? rows[i] : -1, call->list[i]))
            return false;
        if (a->buffer)
            a->nleaves = 0;
        else
            find_leaves(g, a);
    }
    return check_aliases(g, fn, call, args);
}

rg_type
fc_adjoint_leaf(rg_type t)
{
    return (rg_type){ir_adjoint_dtype(t.dtype), t.length};
}

/* -- passing, and what comes back ---------------------------------------------------------------------- */
/* the place of the whole row that an array argument points into */
static place
row_of(const argument *a)
{
    place row = a->given.at;
    if (a->single)
        return row;
    row.n--;
    row.type = a->whole;
    return row;
}

/* `count` elements from the pointer on, one by one */
static rg_value
load_elements(gen *g, const argument *a, uint32_t which)
{
    const place *p = &a->given.at;
    const leaf *l = &p->object->leaves[p->leaf + which];
    uint32_t below = fc_elements_below(l, p->n);
    rg_value array = rg_build_array(g->b, a->leaf[which].dtype, a->leaf[which].length);
    for (uint32_t i = 0; i < a->leaf[which].length; i++) {
        place e = fc_place_move(g, p, fc_int_value(g, RG_I32, i / below), NULL);
        e = fc_place_below(g, l, &e, i % below);
        array = rg_build_insert(g->b, array, fc_int_value(g, RG_I64, i), fc_load_leaf(g, &e, which));
    }
    return array;
}

static rg_value
passed_leaf(gen *g, const argument *a, uint32_t which)
{
    if (!a->array)
        return a->given.type->kind == TYPE_SCALAR ? a->given.scalar : a->given.leaves[which];
    if (a->loads_here)
        return load_elements(g, a, which);
    place row = row_of(a);
    return fc_load_leaf(g, &row, which);
}

/* the buffers of an array of the kernel, and the pointer's subscripts */
static void
pass_buffer(gen *g, const argument *a, rg_values *out)
{
    const place *p = &a->given.at;
    uint32_t n = fc_type_leaves(p->type);
    for (uint32_t k = 0; k < n; k++)
        list_push(g->arena, out, p->object->leaves[p->leaf + k].value);
    for (uint32_t i = 0; i < p->n; i++)
        list_push(g->arena, out,
                  p->index[i] ? fc_convert(g, RG_I64, p->index[i]) : fc_int_value(g, RG_I64, 0));
}

void
fc_pass(gen *g, decl *fn, argument *args, rg_values *out)
{
    for (uint32_t i = 0; i < fn->nparams; i++) {
        for (uint32_t k = 0; k < args[i].nleaves; k++)
            list_push(g->arena, out, passed_leaf(g, &args[i], k));
        if (args[i].buffer)
            pass_buffer(g, &args[i], out);
    }
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const place *p = &args[i].given.at;
        if (args[i].array && args[i].start < 0)
            list_push(g->arena, out, fc_convert(g, RG_I64, p->index[p->n - 1]));
    }
}

static void
store_elements(gen *g, const argument *a, uint32_t which, rg_value array)
{
    const place *p = &a->given.at;
    const leaf *l = &p->object->leaves[p->leaf + which];
    uint32_t below = fc_elements_below(l, p->n);
    for (uint32_t i = 0; i < a->leaf[which].length; i++) {
        place e = fc_place_move(g, p, fc_int_value(g, RG_I32, i / below), NULL);
        e = fc_place_below(g, l, &e, i % below);
        fc_store_leaf(g, &e, which, rg_build_extract(g->b, array, fc_int_value(g, RG_I64, i)));
    }
}

void
fc_write_back(gen *g, decl *fn, argument *args, const rg_value *results, uint32_t *at, const node *n)
{
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const argument *a = &args[i];
        if (!a->array || a->constant || a->buffer)
            continue;
        place row = row_of(a);
        bool may = fc_may_write(g, &row, n);
        for (uint32_t k = 0; k < a->nleaves; k++) {
            rg_value v = results[(*at)++];
            if (may && a->loads_here)
                store_elements(g, a, k, v);
            else if (may)
                fc_store_leaf(g, &row, k, v);
        }
    }
}

/* -- the function ----------------------------------------------------------------------------------------- */
rg_fn
fc_function_open(gen *g, aside *a, const decl *fn)
{
    *a = (aside){g->frame, g->on_break, g->on_continue, g->in_thread, g->scope, g->constants.n};
    g->frame = NULL;
    g->on_break = g->on_continue = 0;
    g->in_thread = true;
    g->scope = ++g->instances;
    rg_build_at(g->b, fn->place);
    const char *name = fc_format(g->arena, "%s.%u", fn->name, g->scope);
    return rg_build_function_begin(g->b, rg_str_of(name));
}

void
fc_function_close(gen *g, aside *a, const rg_values *results)
{
    rg_build_function_end(g->b, (uint32_t)results->n, results->at);
    while (g->constants.n > a->constants) {
        object_undo undo = list_pop(&g->constants);
        undo.variable->object = undo.before;
    }
    g->frame = a->frame;
    g->on_break = a->on_break;
    g->on_continue = a->on_continue;
    g->in_thread = a->in_thread;
    g->scope = a->scope;
}

void
fc_leaf_params(gen *g, const argument *a, rg_values *out)
{
    for (uint32_t k = 0; k < a->nleaves; k++)
        list_push(g->arena, out, rg_build_param_value(g->b, rg_str_of(a->param->name), a->leaf[k]));
}

void
fc_leaf_adjoint_params(gen *g, const argument *a, rg_values *out)
{
    for (uint32_t k = 0; k < a->nleaves; k++)
        if (fc_leaf_floats(a, k))
            list_push(g->arena, out,
                      rg_build_param_value(g->b, rg_str_of(a->param->name), fc_adjoint_leaf(a->leaf[k])));
}

void
fc_object_leaves(gen *g, const object *o, rg_values *out)
{
    place whole = fc_place_of((object *)o);
    for (uint32_t k = 0; k < o->nleaves; k++)
        list_push(g->arena, out, fc_load_leaf(g, &whole, k));
}

static object *
object_with(gen *g, const argument *a, const rg_value *leaves, bool writes)
{
    value v = {.type = a->whole};
    if (a->whole->kind == TYPE_SCALAR)
        v.scalar = leaves[0];
    else
        v.leaves = (rg_value *)leaves;
    if (!writes)
        return fc_object_of_value(g, a->param->name, v);
    object *o = fc_object_local(g, a->param->name, a->whole);
    for (uint32_t k = 0; k < o->nleaves; k++)
        rg_build_set(g->b, o->leaves[k].var, leaves[k]);
    return o;
}

object *
fc_bind_argument(gen *g, decl *d, const argument *a, const rg_value *leaves, rg_value start, bool writes)
{
    if (!a->array) {
        value v = {.type = d->type};
        if (d->type->kind == TYPE_SCALAR)
            v.scalar = leaves[0];
        else
            v.leaves = (rg_value *)leaves;
        fc_bind_scalar(g, d, v);
        return NULL;
    }
    object *o = object_with(g, a, leaves, writes);
    place at = fc_place_of(o);
    if (!a->single) {
        if (!start && a->start > 0)
            start = fc_int_value(g, RG_I64, a->start);
        at = fc_place_element(g, &at, start);
    }
    fc_pointer_declare(g, d, NULL, &at);
    return o;
}

/* Declares the parameters of an array of the kernel; the place in it that the pointer means. */
static place
buffer_params(gen *g, decl *d, const argument *a)
{
    const place *p = &a->given.at;
    object *o = arena_one(g->arena, object);
    *o = *p->object;
    o->name = d->name;
    o->number = g->objects++;
    o->read_only = true;
    o->choice = NULL;
    o->leaves = arena_new_n(g->arena, leaf, o->nleaves + 1);
    memcpy(o->leaves, p->object->leaves, o->nleaves * sizeof(leaf));
    uint32_t n = fc_type_leaves(p->type);
    for (uint32_t k = 0; k < n; k++) {
        leaf *l = &o->leaves[p->leaf + k];
        rg_build_buffer b = {.name = rg_str_of(l->name), .dtype = l->dtype, .rank = l->rank};
        l->value = rg_build_param_buffer(g->b, &b);
    }
    place at = *p;
    at.object = o;
    for (uint32_t i = 0; i < p->n; i++)
        at.index[i] = rg_build_param_value(g->b, rg_str_of(d->name), (rg_type){RG_I64, 0});
    return at;
}

rg_fn
fc_instance(gen *g, decl *fn, argument *args)
{
    aside saved;
    rg_fn made = fc_function_open(g, &saved, fn);
    rg_values given = {0}, results = {0};
    object **objects = arena_new_n(g->arena, object *, fn->nparams + 1);
    place *buffers = arena_new_n(g->arena, place, fn->nparams + 1);
    for (uint32_t i = 0; i < fn->nparams; i++) {
        fc_leaf_params(g, &args[i], &given);
        if (args[i].buffer)
            buffers[i] = buffer_params(g, fn->params[i], &args[i]);
    }
    size_t leaf = 0;
    rg_value *starts = arena_new_n(g->arena, rg_value, fn->nparams + 1);
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (args[i].array && args[i].start < 0)
            starts[i] = rg_build_param_value(g->b, rg_str_of(args[i].param->name), (rg_type){RG_I64, 0});
    fc_hoist(g, fn, true);
    for (uint32_t i = 0; i < fn->nparams; i++) {
        if (args[i].buffer) {
            fc_pointer_declare(g, fn->params[i], NULL, &buffers[i]);
            continue;
        }
        objects[i] = fc_bind_argument(g, fn->params[i], &args[i], &given.at[leaf], starts[i], !args[i].constant);
        leaf += args[i].nleaves;
    }
    frame f = {.fn = fn};
    fn->active = true;
    fc_function_body(g, fn, &f);
    fn->active = false;
    if (f.result)
        fc_object_leaves(g, f.result, &results);
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (args[i].array && !args[i].constant)
            fc_object_leaves(g, objects[i], &results);
    fc_function_close(g, &saved, &results);
    return made;
}
