/* A file's functions of scalars, as IR functions of their own: what a library in C is compiled to.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls are inlined as in kernels, but those of functions named ..._slow: they stay calls. */
#include "front/c/instance.h"

static rg_fn
instance_of(gen *g, decl *fn, argument *args)
{
    for (size_t i = 0; i < g->own.n; i++)
        if (g->own.at[i].fn == fn)
            return g->own.at[i].made;
    rg_fn made = fc_instance(g, fn, args);
    list_push(g->arena, &g->own, ((own_instance){fn, args, made}));
    return made;
}

bool
fc_is_slow(const gen *g, const decl *fn)
{
    static const char end[] = "_slow";
    size_t n = strlen(fn->name);
    return g->library && n > sizeof end && strcmp(fn->name + n - (sizeof end - 1), end) == 0;
}

value
fc_slow_call(gen *g, const node *n)
{
    decl *fn = n->decl;
    value v = {.type = n->type};
    argument *args = arena_new_n(g->arena, argument, fn->nparams + 1);
    uint32_t count = fc_result_leaves(fn);
    rg_value *results = arena_new_n(g->arena, rg_value, count + 1);
    if (n->count == fn->nparams && fc_can_stay(g, fn, n->place) && fc_classify(g, fn, n, NULL, args)) {
        rg_values given = {0};
        fc_pass(g, fn, args, &given);
        rg_fn made = instance_of(g, fn, args);
        fc_at_node(g, n);
        rg_build_call(g->b, made, (uint32_t)given.n, given.at, count, results);
    }
    if (n->type->kind == TYPE_SCALAR)
        return fc_scalar_value(n->type, results[0] ? results[0] : fc_zero_value(g, n->type->dtype));
    v.leaves = results;
    return v;
}

/* whether a function is one of numbers alone; what is not does not belong to the library */
static bool
takes_scalars(gen *g, const decl *fn)
{
    front_error error;
    for (uint32_t i = 0; i < fn->nparams; i++) {
        const ctype *t = fn->params[i]->type;
        if (t->kind == TYPE_POINTER || fc_type_problem(t, &error)) {
            fc_fail(g, ERR_PARAM_TYPE, fn->params[i]->place, fn->params[i]->name, t->name);
            return false;
        }
    }
    return fc_can_stay(g, fn, fn->place);
}

void
fc_library(gen *g)
{
    decl **functions;
    uint32_t n = fc_unit_kernels(g->unit, &functions);
    g->library = true;
    for (uint32_t i = 0; i < n; i++) {
        decl *fn = functions[i];
        if (!fc_unit_is_sound(g->unit, fn))
            continue;
        fc_link(g->project, fn);
        if (!takes_scalars(g, fn))
            continue;
        argument *args = arena_new_n(g->arena, argument, fn->nparams + 1);
        fc_by_value(g, fn, args);
        instance_of(g, fn, args);
    }
    for (ir_fn *fn = g->module->first; fn; fn = fn->next) {
        size_t n = strcspn(fn->name, ".");
        fn->name = arena_str(g->module->arena, (rg_str){fn->name, n});
    }
}
