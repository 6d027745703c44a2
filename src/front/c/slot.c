/* Pointers in structs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/pointer.h"

static void
name_fields(gen *g, pointer_var **all, const char *name, const ctype *t)
{
    for (uint32_t i = 0; i < t->rec->nfields; i++) {
        const field *f = &t->rec->fields[i];
        const char *full = fc_format(g->arena, "%s.%s", name, f->name);
        if (f->hidden)
            continue;
        if (f->type->kind == TYPE_POINTER) {
            all[f->pointer] = arena_one(g->arena, pointer_var);
            all[f->pointer]->name = full;
            all[f->pointer]->shared = !g->in_thread;
        } else if (f->type->kind == TYPE_STRUCT) {
            name_fields(g, all + f->pointer, full, f->type);
        }
    }
}

void
fc_field_pointers(gen *g, object *o)
{
    uint32_t n = o->type->kind == TYPE_STRUCT ? o->type->rec->pointers : 0;
    if (!n)
        return;
    o->pointers = arena_new_n(g->arena, pointer_var *, n);
    name_fields(g, o->pointers, o->name, o->type);
    for (uint32_t i = 0; i < n; i++) {
        pointer_var *v = o->pointers[i];
        v->choices = arena_one(g->arena, place);
        v->null = rg_build_var(g->b, rg_str_of(v->name), (rg_type){RG_BOOL, 0});
        for (uint32_t k = 0; k < MAX_AXES; k++)
            v->index[k] = rg_build_var(g->b, rg_str_of(v->name), (rg_type){RG_I64, 0});
    }
}

void
fc_fields_of_value(gen *g, object *o, const place *pointers)
{
    uint32_t n = o->type->rec->pointers;
    o->pointers = arena_new_n(g->arena, pointer_var *, n);
    name_fields(g, o->pointers, o->name, o->type);
    for (uint32_t i = 0; i < n; i++) {
        o->pointers[i]->fixed = true;
        o->pointers[i]->at = pointers[i];
    }
}

/* The first assignment says which array it is. */
static bool
same_target(pointer_var *v, const place *to, bool declared)
{
    if (!v->nchoices && !v->read) {
        v->choices[0] = *to;
        v->nchoices = 1;
        return declared || !to->object->choice; /* what was picked in an if is not known behind it */
    }
    return v->nchoices && fc_same_array(&v->choices[0], to) && !to->object->choice;
}

void
fc_field_assign(gen *g, pointer_var *v, const place *to, const node *n, bool declared)
{
    place none = {0};
    if (!to)
        none = fc_null_place(g, NULL);
    to = to ? to : &none;
    rg_place where = n ? n->place : g->at;
    if (to->refused || v->refused) {
        v->refused = true;
        return;
    }
    if (v->shared && g->in_thread) {
        fc_fail(g, ERR_POINTER_SHARED, where, v->name);
        return;
    }
    bool ok = !to->null || v->nulls || !v->read;
    if (to->object->kind != OBJECT_NULL)
        ok = ok && same_target(v, to, declared);
    if (!ok) {
        fc_fail(g, ERR_FIELD_CHOICE, where, v->name);
        return;
    }
    v->nulls |= to->null != NULL;
    rg_build_set(g->b, v->null, to->null ? to->null : rg_build_int(g->b, RG_BOOL, 0));
    for (uint32_t i = 0; i < to->n; i++)
        rg_build_set(g->b, v->index[i],
                     to->index[i] ? fc_convert(g, RG_I64, to->index[i]) : fc_int_value(g, RG_I64, 0));
}

void
fc_field_default(gen *g, pointer_var *v, const node *init)
{
    if (!v->fixed && !v->nchoices && !v->nulls)
        fc_field_assign(g, v, NULL, init, true);
}

/* Where a field points; without an object if nothing was assigned to it. */
static place
field_place(gen *g, pointer_var *v)
{
    if (v->fixed)
        return v->at;
    if (!v->nchoices && !v->nulls)
        return (place){0};
    v->read = true;
    if (!v->nchoices)
        return fc_null_place(g, NULL);
    place p = v->choices[0];
    p.walks = p.n > 1;
    for (uint32_t i = 0; i < p.n; i++)
        p.index[i] = rg_build_get(g->b, v->index[i]);
    p.null = v->nulls ? rg_build_get(g->b, v->null) : NULL;
    return p;
}

place *
fc_fields_load(gen *g, const place *p)
{
    uint32_t n = p->type->kind == TYPE_STRUCT ? p->type->rec->pointers : 0;
    if (!n || !p->object->pointers || p->n)
        return NULL;
    place *all = arena_new_n(g->arena, place, n);
    for (uint32_t i = 0; i < n; i++)
        all[i] = field_place(g, p->object->pointers[p->pointer + i]);
    return all;
}

void
fc_fields_store(gen *g, const place *p, const place *pointers, const node *n)
{
    if (!p->object->pointers || p->n)
        return; /* reading them is refused */
    for (uint32_t i = 0; i < p->type->rec->pointers; i++)
        if (pointers[i].object)
            fc_field_assign(g, p->object->pointers[p->pointer + i], &pointers[i], n, false);
}

bool
fc_field_refused(gen *g, const field *f, const node *n)
{
    front_error error = f->hidden ? (front_error)f->hidden : ERR_POINTER_POINTER;
    if (!f->hidden && f->type->kind != TYPE_POINTER)
        return false;
    if (fc_is_news(g, error, f))
        fc_fail(g, error, n->place, error == ERR_TYPE ? f->type->name : f->name);
    return true;
}

/* The pointer that a field is; NULL: it was refused. */
static pointer_var *
field_pointer(gen *g, const node *n)
{
    place p = fc_lvalue(g, n->kid[0]);
    if (p.refused || p.type->kind != TYPE_STRUCT)
        return NULL;
    const field *f = &p.type->rec->fields[n->bits];
    if (f->hidden) {
        fc_field_refused(g, f, n);
        return NULL;
    }
    if (!p.object->pointers || p.n) {
        if (fc_is_news(g, ERR_POINTER_FIELD, f))
            fc_fail(g, ERR_POINTER_FIELD, n->place, f->name);
        return NULL;
    }
    return p.object->pointers[p.pointer + f->pointer];
}

place
fc_field_read(gen *g, const node *n)
{
    pointer_var *v = field_pointer(g, n);
    if (!v || v->refused)
        return fc_nowhere(g, n->type->elem);
    place p = field_place(g, v);
    if (p.object)
        return p;
    fc_fail(g, ERR_POINTER_UNSET, n->place, v->name);
    return fc_nowhere(g, n->type->elem);
}

void
fc_pointer_store(gen *g, const node *n, const place *to)
{
    if (n->kind == E_REF) {
        fc_pointer_assign(g, n->decl, to, n);
    } else if (n->kind == E_MEMBER) {
        pointer_var *v = field_pointer(g, n);
        if (v)
            fc_field_assign(g, v, to, n, false);
    } else if (!to->refused) {
        fc_fail(g, ERR_POINTER_POINTER, n->place);
    }
}
