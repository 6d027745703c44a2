/* Functions with derivatives of their own: their calls stay calls, and the user's functions are what the
 * rules of differentiation call. SPDX-License-Identifier: Apache-2.0
 *
 * The IR function of a derivative takes the arguments as they were, what the function returned and left in
 * arrays, and then adjoints or tangents; it binds the user's parameters to these. */
#include "front/c/instance.h"

/* -- whether the user's function has the right form -------------------------------------------------- */
typedef struct checking {
    const decl *fn, *own;
    uint32_t at; /* next parameter of own */
    bool ok;
} checking;

static void
expect(checking *c, const ctype *type, bool pointer, bool writable)
{
    if (!c->ok || c->at >= c->own->nparams) {
        c->ok = false;
        return;
    }
    const ctype *t = c->own->params[c->at++]->type;
    if (pointer) {
        c->ok = t->kind == TYPE_POINTER && fc_same_elements(t->elem, type);
        c->ok = c->ok && !(writable && (t->const_elements || t->elem->constant));
    } else {
        c->ok = t->kind == TYPE_POINTER ? type->kind == TYPE_POINTER && fc_same_elements(t->elem, type->elem)
                                        : t->kind != TYPE_VOID && fc_same_elements(t, type);
    }
}

static bool
check_form(gen *g, const decl *fn, const decl *own, bool vjp, const argument *args)
{
    checking c = {fn, own, 0, own->type->kind == TYPE_VOID || !vjp};
    for (uint32_t i = 0; i < fn->nparams; i++)
        expect(&c, fn->params[i]->type, false, false);
    if (fn->type->kind != TYPE_VOID) {
        expect(&c, fn->type, false, false);
        if (vjp)
            expect(&c, fn->type, false, false);
        else
            c.ok = c.ok && own->type->kind == fn->type->kind && fc_same_elements(own->type, fn->type);
    }
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const argument *a = &args[i];
        const ctype *t = fn->params[i]->type;
        if (a->floats)
            expect(&c, a->array ? t->elem : t, vjp || a->array, vjp || !a->constant);
    }
    c.ok = c.ok && c.at == own->nparams;
    if (!c.ok)
        fc_fail(g, ERR_DERIVE_OWN, own->place, own->name, fn->name);
    return c.ok;
}

/* -- its IR function ------------------------------------------------------------------------------------ */
/* What the derivative is given, leaf by leaf. */
typedef struct surroundings {
    rg_values params, results, extra; /* extra: adjoints of results, or tangents of arguments */
    rg_value *starts;
} surroundings;

static void
declare_results(gen *g, const decl *fn, const argument *args, surroundings *s)
{
    if (fn->type->kind != TYPE_VOID)
        list_push(g->arena, &s->results,
                  rg_build_param_value(g->b, RG_STR("value"), (rg_type){fn->type->dtype, 0}));
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (args[i].array && !args[i].constant)
            fc_leaf_params(g, &args[i], &s->results);
}

static void
declare_all(gen *g, const decl *fn, const argument *args, bool vjp, surroundings *s)
{
    s->starts = arena_new_n(g->arena, rg_value, fn->nparams + 1);
    for (uint32_t i = 0; i < fn->nparams; i++)
        fc_leaf_params(g, &args[i], &s->params);
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (args[i].array && args[i].start < 0)
            s->starts[i] = rg_build_param_value(g->b, RG_STR("start"), (rg_type){RG_I64, 0});
    declare_results(g, fn, args, s);
    if (vjp && fn->type->kind != TYPE_VOID)
        list_push(g->arena, &s->extra,
                  rg_build_param_value(g->b, RG_STR("seed"), (rg_type){ir_adjoint_dtype(fn->type->dtype), 0}));
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (!vjp || (args[i].array && !args[i].constant))
            fc_leaf_adjoint_params(g, &args[i], &s->extra);
}

static void
bind_value(gen *g, decl *d, rg_value v)
{
    fc_bind_scalar(g, d, fc_scalar_value(d->type, fc_convert(g, d->type->dtype, v)));
}

/* the function's arguments (arrays that it may write: as it left them) and its value */
static uint32_t
bind_arguments(gen *g, const decl *fn, decl *own, const argument *args, const surroundings *s)
{
    uint32_t at = 0, leaf = 0, result = fn->type->kind != TYPE_VOID;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const argument *a = &args[i];
        const rg_value *leaves = &s->params.at[leaf];
        leaf += a->nleaves;
        if (a->array && !a->constant) {
            leaves = &s->results.at[result];
            result += a->nleaves;
        }
        fc_bind_argument(g, own->params[at++], a, leaves, s->starts[i],
                         a->array && !own->params[i]->type->const_elements);
    }
    if (fn->type->kind != TYPE_VOID)
        bind_value(g, own->params[at++], s->results.at[0]);
    return at;
}

/* an array or scalar of adjoints or tangents, as the type that the user's function has for it */
static rg_value
as_leaf(gen *g, rg_value v, rg_type t)
{
    rg_type is = rg_value_type(v);
    if (is.dtype == t.dtype)
        return v;
    if (!t.length)
        return fc_convert(g, t.dtype, v);
    rg_value out = rg_build_array(g->b, t.dtype, t.length);
    for (uint32_t i = 0; i < t.length; i++) {
        rg_value index = fc_int_value(g, RG_I64, i);
        out = rg_build_insert(g->b, out, index, fc_convert(g, t.dtype, rg_build_extract(g->b, v, index)));
    }
    return out;
}

static rg_value
zero_leaf(gen *g, rg_type t)
{
    return t.length ? rg_build_array(g->b, t.dtype, t.length) : fc_zero_value(g, t.dtype);
}

/* the leaves that `next` of extra gives, zeros where it is NULL or the leaf is no float */
static rg_value *
leaves_from(gen *g, const argument *a, const rg_value *extra, uint32_t *next)
{
    rg_value *leaves = arena_new_n(g->arena, rg_value, a->nleaves + 1);
    for (uint32_t k = 0; k < a->nleaves; k++)
        leaves[k] = extra && fc_leaf_floats(a, k) ? as_leaf(g, extra[(*next)++], a->leaf[k])
                                                  : zero_leaf(g, a->leaf[k]);
    return leaves;
}

static void
add_float_leaves(gen *g, const argument *a, const object *o, rg_values *out)
{
    rg_values all = {0};
    fc_object_leaves(g, o, &all);
    for (uint32_t k = 0; k < a->nleaves; k++)
        if (fc_leaf_floats(a, k))
            list_push(g->arena, out, as_leaf(g, all.at[k], fc_adjoint_leaf(a->leaf[k])));
}

static rg_fn
derivative_instance(gen *g, const decl *fn, decl *own, const argument *args, bool vjp)
{
    aside saved;
    frame f = {.fn = own};
    surroundings s = {0};
    rg_values out = {0};
    rg_fn made = fc_function_open(g, &saved, own);
    declare_all(g, fn, args, vjp, &s);
    fc_hoist(g, own, true);
    uint32_t at = bind_arguments(g, fn, own, args, &s), next = 0;
    if (vjp && fn->type->kind != TYPE_VOID)
        bind_value(g, own->params[at++], s.extra.at[next++]);
    object **bound = arena_new_n(g->arena, object *, fn->nparams + 1); /* adjoints or tangents */
    for (uint32_t i = 0; i < fn->nparams; i++) {
        argument a = args[i];
        bool written = a.array && !a.constant;
        if (!a.floats)
            continue;
        rg_value *leaves = leaves_from(g, &a, !vjp || written ? s.extra.at : NULL, &next);
        a.array |= vjp; /* adjoints come back through a pointer */
        bound[i] = fc_bind_argument(g, own->params[at++], &a, leaves, s.starts[i], vjp || written);
    }
    own->active = true;
    fc_function_body(g, own, &f);
    own->active = false;
    if (!vjp && f.result) {
        place p = fc_place_of(f.result);
        list_push(g->arena, &out, fc_convert(g, ir_adjoint_dtype(fn->type->dtype), fc_load_leaf(g, &p, 0)));
    }
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (bound[i] && (vjp || (args[i].array && !args[i].constant)))
            add_float_leaves(g, &args[i], bound[i], &out);
    fc_function_close(g, &saved, &out);
    return made;
}

/* -- instances that were made: a derivative may call the function itself -------------------------------------- */
static bool
same_shape(const argument *x, const argument *y)
{
    bool same = x->array == y->array && x->single == y->single && x->start == y->start &&
                x->nleaves == y->nleaves;
    for (uint32_t k = 0; same && k < x->nleaves; k++)
        same = x->leaf[k].dtype == y->leaf[k].dtype && x->leaf[k].length == y->leaf[k].length;
    return same;
}

static rg_fn
find_made(const gen *g, const decl *fn, const argument *args)
{
    for (size_t i = 0; i < g->own.n; i++) {
        const own_instance *made = &g->own.at[i];
        bool same = made->fn == fn;
        for (uint32_t k = 0; same && k < fn->nparams; k++)
            same = same_shape(&made->args[k], &args[k]);
        if (same)
            return made->made;
    }
    return 0;
}

/* -- the call ------------------------------------------------------------------------------------------------ */
static rg_fn
with_derivatives(gen *g, decl *fn, argument *args, rg_place where)
{
    rg_fn made = find_made(g, fn, args), vjp = 0, jvp = 0;
    if (made)
        return made;
    made = fc_instance(g, fn, args);
    list_push(g->arena, &g->own, ((own_instance){fn, args, made}));
    if (fn->vjp && fc_can_stay(g, fn->vjp, where) && check_form(g, fn, fn->vjp, true, args))
        vjp = derivative_instance(g, fn, fn->vjp, args, true);
    if (fn->jvp && fc_can_stay(g, fn->jvp, where) && check_form(g, fn, fn->jvp, false, args))
        jvp = derivative_instance(g, fn, fn->jvp, args, false);
    if (vjp || jvp)
        rg_build_own_derivatives(g->b, made, vjp, jvp);
    return made;
}

static value
no_value(gen *g, const node *n)
{
    value v = {.type = n->type};
    if (n->type->kind == TYPE_SCALAR)
        v.scalar = fc_zero_value(g, n->type->dtype);
    return v;
}

value
fc_own_call(gen *g, const node *n)
{
    decl *fn = n->decl;
    argument *args = arena_new_n(g->arena, argument, fn->nparams + 1);
    if (!fc_can_stay(g, fn, n->place) || !fc_classify(g, fn, n, NULL, args))
        return no_value(g, n);
    if (fn->type->kind != TYPE_VOID && fn->type->kind != TYPE_SCALAR) {
        fc_fail(g, ERR_DERIVE_FUNCTION, n->place, fn->name, "it returns a struct");
        return no_value(g, n);
    }
    rg_values given = {0};
    fc_pass(g, fn, args, &given);
    rg_fn made = with_derivatives(g, fn, args, n->place);
    uint32_t at = fn->type->kind != TYPE_VOID, count = at;
    for (uint32_t i = 0; i < fn->nparams; i++)
        count += args[i].array && !args[i].constant ? args[i].nleaves : 0;
    rg_value *results = arena_new_n(g->arena, rg_value, count + 1);
    fc_at_node(g, n);
    rg_build_call(g->b, made, (uint32_t)given.n, given.at, count, results);
    fc_write_back(g, fn, args, results, &at, n);
    return fn->type->kind == TYPE_VOID ? (value){.type = n->type} : fc_scalar_value(n->type, results[0]);
}
