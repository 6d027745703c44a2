/* Which arrays a pointer may point into, as far as the text tells: indices count, their values do not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/pointer.h"

place
fc_function_place(gen *g, const node *n)
{
    decl *fn = n->decl;
    if (!fn->object) {
        fn->object = arena_one(g->arena, object);
        *fn->object = (object){.number = g->objects++, .kind = OBJECT_FUNCTION, .name = fn->name, .function = fn};
        fn->object->type = n->type;
    }
    return fc_place_of(fn->object);
}

void
fc_choice_add(choices *c, place p)
{
    for (size_t i = 0; i < c->found.n; i++) {
        if (c->found.at[i].object == p.object && c->found.at[i].leaf == p.leaf)
            return;
    }
    list_push(c->g->arena, &c->found, p);
}

/* what a place may be: one array, or those of the pointer that it was read from */
void
fc_choices_of_place(choices *c, const place *p)
{
    const pointer_var *many = p->object->choice;
    c->null |= p->null != NULL;
    for (uint32_t i = 0; many && i < many->nchoices; i++)
        fc_choice_add(c, many->choices[i]);
    if (!many && p->object->kind != OBJECT_NULL)
        fc_choice_add(c, *p);
}

void
fc_choices_of_variable(choices *c, const decl *d)
{
    for (size_t i = 0; i < c->seen.n; i++) {
        if (c->seen.at[i] == d)
            return;
    }
    list_push(c->g->arena, &c->seen, d);
    if (d->object && d->object->pointers) {
        place whole = fc_place_of(d->object);
        fc_slot_choices(c, &whole);
        return;
    }
    if (d->pointer && d->pointer->fixed)
        fc_choices_of_place(c, &d->pointer->at);
    c->null |= d->pointer && d->pointer->null;
    for (uint32_t i = 0; d->pointer && i < d->pointer->nchoices; i++)
        fc_choice_add(c, d->pointer->choices[i]);
    if (d->init && d->kind == DECL_VAR)
        fc_choices_of(c, d->init);
    for (size_t i = 0; i < d->assigned.n; i++)
        fc_choices_of(c, d->assigned.at[i]);
}

static bool form_of_lvalue(choices *c, const node *n, place *out);

/* Where a pointer leads that always leads into one array. */
static bool
form_of_pointer(choices *c, const node *n, place *out)
{
    choices one = {.g = c->g};
    while (n->kind == E_CAST)
        n = n->kid[0];
    switch (n->kind) {
    case E_DECAY:
        if (!form_of_lvalue(c, n->kid[0], out) || out->type->kind != TYPE_ARRAY)
            return false;
        *out = fc_place_element(c->g, out, NULL);
        return true;
    case E_REF:
        if (!n->decl->pointer || !n->decl->pointer->fixed)
            return false;
        *out = n->decl->pointer->at;
        return !out->object->choice && out->type;
    case E_MEMBER:
    case E_SUBSCRIPT:
    case E_DEREF:
        if (!form_of_lvalue(c, n, out))
            return false;
        fc_slot_choices(&one, out);
        if (one.unknown || one.found.n != 1)
            return false;
        *out = one.found.at[0];
        return true;
    default:
        return false;
    }
}

bool
fc_form_of_pointer(gen *g, const node *n, place *out)
{
    choices c = {.g = g};
    return form_of_pointer(&c, n, out);
}

/* The place of an lvalue as far as its form tells: indices count, their values do not. */
static bool
form_of_lvalue(choices *c, const node *n, place *out)
{
    switch (n->kind) {
    case E_REF:
        if (n->decl->refused)
            return false;
        if (n->decl->lasting && !n->decl->object)
            n->decl->object = fc_constant_object(c->g, n->decl);
        if (!n->decl->object)
            return false;
        *out = fc_place_of(n->decl->object);
        return true;
    case E_MEMBER:
        if (!form_of_lvalue(c, n->kid[0], out) || out->type->kind != TYPE_STRUCT)
            return false;
        *out = fc_place_member(out, (uint32_t)n->bits);
        return true;
    case E_DEREF:
    case E_SUBSCRIPT:
        return form_of_pointer(c, n->kid[0], out);
    default:
        return false;
    }
}

static void
add_lvalue_choices(choices *c, const node *n, bool decays)
{
    place p;
    if (form_of_lvalue(c, n, &p)) {
        fc_choice_add(c, decays ? fc_place_element(c->g, &p, NULL) : p);
        return;
    }
    /* through a pointer: the same arrays, with as many axes as the form adds */
    choices inner = {.g = c->g};
    const node *base = n;
    while (base->kind == E_MEMBER)
        base = base->kid[0];
    if (base->kind != E_SUBSCRIPT && base->kind != E_DEREF) {
        c->unknown = true;
        return;
    }
    inner.seen = c->seen;
    fc_choices_of(&inner, base->kid[0]);
    c->seen = inner.seen;
    for (size_t i = 0; i < inner.found.n; i++) {
        place q = inner.found.at[i];
        list(const node *) members = {0};
        for (const node *m = n; m != base; m = m->kid[0])
            list_push(c->g->arena, &members, m);
        while (members.n) {
            const node *m = list_pop(&members);
            if (q.type->kind == TYPE_STRUCT)
                q = fc_place_member(&q, (uint32_t)m->bits);
        }
        fc_choice_add(c, decays && q.type->kind == TYPE_ARRAY ? fc_place_element(c->g, &q, NULL) : q);
    }
    c->unknown |= inner.unknown;
}

/* of a pointer that an object holds */
static void
add_slot_choices(choices *c, const node *n)
{
    place p;
    if (form_of_lvalue(c, n, &p) && p.type->kind == TYPE_POINTER)
        fc_slot_choices(c, &p);
    else
        c->unknown = true;
}

/* What a cast would look at as another type is refused where it is assigned. */
static void
add_cast_choices(choices *c, const node *n)
{
    size_t kept = c->found.n;
    const ctype *to = n->type->kind == TYPE_POINTER ? n->type->elem : NULL;
    fc_choices_of(c, n->kid[0]);
    for (size_t i = kept; i < c->found.n; i++) {
        const ctype *from = c->found.at[i].type;
        bool other = to && from && to->kind == TYPE_SCALAR && from->kind == TYPE_SCALAR && to->dtype != from->dtype;
        c->unknown |= other;
        if (!other)
            c->found.at[kept++] = c->found.at[i];
    }
    c->found.n = kept;
}

static bool
add_allocated(choices *c, const node *n)
{
    const node *call = fc_allocation(n);
    object *o = call ? fc_sized_object(c->g, call) : NULL;
    c->unknown |= o && o->local;
    if (o && !o->local)
        fc_choice_add(c, (place){.object = o, .type = o->type, .n = o->turns ? o->turns->count + 1 : 1});
    return call != NULL;
}

void
fc_choices_of(choices *c, const node *n)
{
    place p;
    if (fc_is_null_node(n)) {
        c->null = true;
        return;
    }
    switch (n->kind) {
    case E_REF:
        if (n->decl->kind == DECL_FUNCTION) {
            p = fc_function_place(c->g, n);
            fc_choice_add(c, p);
        } else {
            fc_choices_of_variable(c, n->decl);
        }
        break;
    case E_DECAY:
        add_lvalue_choices(c, n->kid[0], true);
        break;
    case E_ADDR:
        add_lvalue_choices(c, n->kid[0], false);
        break;
    case E_MEMBER:
    case E_SUBSCRIPT:
    case E_DEREF:
        add_slot_choices(c, n);
        break;
    case E_CAST:
        if (!add_allocated(c, n))
            add_cast_choices(c, n);
        break;
    case E_CALL:
        c->unknown |= !add_allocated(c, n);
        break;
    case E_INC:
    case E_COMPOUND:
        fc_choices_of(c, n->kid[0]);
        break;
    case E_BINARY:
        fc_choices_of(c, n->kid[n->kid[0]->type->kind == TYPE_POINTER ? 0 : 1]);
        break;
    case E_COMMA:
    case E_ASSIGN:
        fc_choices_of(c, n->kid[1]);
        break;
    case E_COND:
        fc_choices_of(c, n->kid[1]);
        fc_choices_of(c, n->kid[2]);
        break;
    case E_ELVIS:
        fc_choices_of(c, n->kid[0]);
        fc_choices_of(c, n->kid[1]);
        break;
    default:
        c->unknown = true;
        break;
    }
}

/* a null pointer constant, however it is cast */
bool
fc_is_null_node(const node *n)
{
    int64_t v;
    while (n->kind == E_CAST && n->type->kind == TYPE_POINTER)
        n = n->kid[0];
    return n->type && n->type->kind == TYPE_SCALAR && fc_is_constant_node(n, &v) && v == 0;
}
