/* Variables of which a construct has copies: private, firstprivate, lastprivate, and what target and task imply.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/omp.h"

/* -- variables named in clauses
 * -------------------------------------------------------------------- */
static bool
is_not_declaration(const node *n, void *user)
{
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++)
        if (n->list[i]->decl == user)
            return false;
    return true;
}

bool
fc_is_declared_in(const node *tree, const decl *d)
{
    return !fc_node_walk(tree, is_not_declaration, (void *)d);
}

typedef struct name_search {
    const char *name;
    decl *found;
    const node *body;
} name_search;

static bool
see_name(const node *n, void *user)
{
    name_search *s = user;
    if (n->kind == E_REF && n->decl->kind != DECL_FUNCTION && strcmp(n->decl->name, s->name) == 0 &&
        !fc_is_declared_in(s->body, n->decl)) {
        s->found = n->decl;
        return false;
    }
    return true;
}

decl *
fc_named_in(const node *body, const char *name)
{
    name_search s = {.name = name, .body = body};
    fc_node_walk(body, see_name, &s);
    return s.found;
}

const omp_name *
fc_name_of(const omp_names *names, const decl *d)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i].name, d->name) == 0)
            return &names->at[i];
    return NULL;
}

void
fc_add_name(gen *g, omp_names *names, omp_name name)
{
    omp_name *all = arena_new_n(g->arena, omp_name, names->count + 1);
    if (names->count)
        memcpy(all, names->at, names->count * sizeof(*all));
    all[names->count] = name;
    names->at = all;
    names->count++;
}

static bool
has_other_name(const node *n, void *user)
{
    const char *name = user;
    for (uint32_t i = 0; n->kind == S_DECL && i < n->count; i++) {
        if (strcmp(n->list[i]->decl->name, name) == 0)
            return false;
    }
    return n->kind != E_REF || strcmp(n->decl->name, name) != 0;
}

/* The names are taken from the directive's text, so they are looked for in what the function declares and mentions. */
static bool
check_names(gen *g, const omp *d, const omp_names *names)
{
    const decl *fn = g->frame->fn;
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = names->at[i].name;
        bool found = !fc_node_walk(fn->body, has_other_name, (void *)name);
        for (uint32_t k = 0; k < fn->nparams && !found; k++)
            found = fn->params[k]->name && strcmp(fn->params[k]->name, name) == 0;
        if (!found) {
            fc_fail(g, ERR_OMP_NAME, d->place, name);
            return false;
        }
    }
    return true;
}

bool
fc_check_names(gen *g, const omp *d)
{
    return check_names(g, d, &d->reductions) && check_names(g, d, &d->privates) && check_names(g, d, &d->lasts);
}

/* -- what target and task imply
 * ----------------------------------------------------------------------------- */
typedef struct copying {
    gen *g;
    const node *tree;
    omp *directive;
} copying;

static bool
see_written(const node *n, void *user)
{
    copying *c = user;
    omp *d = c->directive;
    if (n->kind != E_REF || n->decl->kind == DECL_FUNCTION || n->decl->lasting || n->decl->type->kind != TYPE_SCALAR)
        return true;
    if (fc_name_of(&d->kept, n->decl) || fc_name_of(&d->reductions, n->decl) || fc_name_of(&d->privates, n->decl) ||
        fc_name_of(&d->lasts, n->decl))
        return true;
    if ((d->target || fc_is_threads_own(c->g, n->decl)) && !fc_is_declared_in(c->tree, n->decl) &&
        fc_may_be_written(c->tree, n->decl))
        fc_add_name(c->g, &d->privates, (omp_name){.name = n->decl->name, .first = true});
    return true;
}

const omp *
fc_with_copies(gen *g, const node *n)
{
    if (!n->directive->target && !n->directive->task)
        return n->directive;
    omp *own = arena_one(g->arena, omp);
    *own = *n->directive;
    copying c = {g, n->kid[0], own};
    fc_node_walk(n->kid[0], see_written, &c);
    return own;
}

/* -- copies
 * ---------------------------------------------------------------------------------------- */
const ctype *
fc_storage_type(const decl *d)
{
    return d->reference ? d->type->elem : d->type;
}

place
fc_storage(const decl *d)
{
    if (d->reference)
        return d->pointer && d->pointer->fixed ? d->pointer->at : (place){0};
    return d->object ? fc_place_of(d->object) : (place){0};
}

static void
bind_variable(gen *g, decl *d, place at, rebounds *undo)
{
    list_push(g->arena, undo, ((rebound){d, d->object, d->pointer, d->numbered}));
    if (!d->reference) {
        d->object = at.object;
        return;
    }
    d->pointer = arena_one(g->arena, pointer_var);
    *d->pointer = (pointer_var){.name = d->name, .fixed = true, .at = at};
}

void
fc_rebind(gen *g, decl *d, object *to, rebounds *undo)
{
    place at = fc_storage(d);
    at.object = to;
    bind_variable(g, d, at, undo);
}

void
fc_bind_own(gen *g, decl *d, rebounds *undo)
{
    bind_variable(g, d, fc_place_of(fc_object_local(g, d->name, (ctype *)fc_storage_type(d))), undo);
}

void
fc_restore(rebounds *undo)
{
    while (undo->n) {
        rebound r = list_pop(undo);
        r.variable->object = r.object;
        r.variable->pointer = r.pointer;
        r.variable->numbered = r.numbered;
    }
}

static void
make_private(gen *g, const omp_name *name, const node *body, rebounds *undo)
{
    decl *v = fc_named_in(body, name->name);
    front_error error;
    if (!v || fc_variable_problem(v->type, &error))
        return;
    place from = fc_storage(v);
    if (v->type->kind == TYPE_POINTER && !v->reference) {
        fc_rebind(g, v, NULL, undo);
        v->numbered &= name->first;
        bool first = name->first && v->pointer;
        place to = first ? fc_pointer_read(g, v, body) : (place){0};
        fc_pointer_private(g, v, body, first ? &to : NULL);
        return;
    }
    fc_bind_own(g, v, undo);
    v->numbered &= name->first;
    if (name->first && from.object) {
        place to = fc_storage(v);
        value copy = fc_load(g, &from);
        fc_store(g, &to, &copy, body);
    }
}

void
fc_make_private(gen *g, const omp *d, const node *body, bool serial, rebounds *undo)
{
    for (uint32_t i = 0; i < d->privates.count; i++) {
        decl v = {.name = d->privates.at[i].name};
        if (!serial || !fc_name_of(&d->lasts, &v))
            make_private(g, &d->privates.at[i], body, undo);
    }
    for (uint32_t i = 0; i < d->lasts.count && !serial; i++) {
        decl v = {.name = d->lasts.at[i].name};
        if (!fc_name_of(&d->privates, &v))
            make_private(g, &d->lasts.at[i], body, undo);
    }
}

/* -- lastprivate
 * -----------------------------------------------------------------------------------------
 * The iteration that is the last one stores its copy where the serial code behind the loop reads it. Before the loop the
 * variable's old value is there, in case there are no iterations. */
void
fc_last_hoist(gen *g, const node *n)
{
    omp *d = n->directive;
    for (uint32_t i = 0; i < d->lasts.count && fc_omp_is_loop(d); i++) {
        const decl *v = fc_named_in(n->kid[0], d->lasts.at[i].name);
        front_error error;
        bool possible = v && v->type->kind != TYPE_POINTER && !fc_type_problem(v->type, &error) && !fc_has_open_length(v->type);
        d->lasts.at[i].last = possible ? fc_object_temp(g, v->name, v->type) : NULL;
    }
}

static void
copy(gen *g, object *from, object *to, const node *body)
{
    if (!from || !to)
        return;
    place source = fc_place_of(from), target = fc_place_of(to);
    value v = fc_load(g, &source);
    for (uint32_t i = 0; i < to->nleaves; i++)
        fc_store_leaf(g, &target, i, v.leaves ? v.leaves[i] : v.scalar);
}

void
fc_last_begin(gen *g, const omp *d, const node *body)
{
    for (uint32_t i = 0; i < d->lasts.count; i++) {
        decl *v = fc_named_in(body, d->lasts.at[i].name);
        if (v && !d->lasts.at[i].last)
            fc_fail(g, ERR_OMP_CLAUSE, d->place, fc_format(g->arena, "lastprivate(%s)", v->name));
        else if (v)
            copy(g, v->object, d->lasts.at[i].last, body);
    }
}

void
fc_last_keep(gen *g, const omp *d, const node *body, rg_value is_last)
{
    rg_build_if(g->b, is_last);
    for (uint32_t i = 0; i < d->lasts.count; i++) {
        decl *v = fc_named_in(body, d->lasts.at[i].name);
        if (v)
            copy(g, v->object, d->lasts.at[i].last, body);
    }
    rg_build_end(g->b);
}

void
fc_last_end(gen *g, const omp *d, const node *body)
{
    for (uint32_t i = 0; i < d->lasts.count; i++) {
        decl *v = fc_named_in(body, d->lasts.at[i].name);
        if (v)
            copy(g, d->lasts.at[i].last, v->object, body);
    }
}
