/* What the functions that a kernel reaches do with the fields of structs: which they mention, which they may write, and
 * whether a pointer to a struct is used as an array of structs. SPDX-License-Identifier: Apache-2.0
 *
 * Fields count by the names of struct and field, whatever pointer leads to them. */
#include "front/c/census.h"

struct census {
    map functions; /* looked at */
    map filled; /* what names the array → the assignment that fills it */
    map mentioned, written, addressed, arrays, exchanged, assigned;
};

static uint64_t
text_key(uint64_t key, const char *text)
{
    for (; *text; text++)
        key = hash_u64(key, (unsigned char)*text);
    return key;
}

static uint64_t
field_key(const record *r, uint32_t number)
{
    return text_key(text_key(1, r->name), r->fields[number].name);
}

static void
mark(map *m, uint64_t key)
{
    map_set(m, key, m);
}

/* All scalars of a struct. */
static void
mark_whole(census *c, const ctype *t)
{
    while (t->kind == TYPE_ARRAY)
        t = t->elem;
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < t->rec->nfields; i++) {
        mark(&c->written, field_key(t->rec, i));
        mark_whole(c, t->rec->fields[i].type);
    }
}

/* What an assignment to n, or through a pointer to it, writes. */
static void
mark_written(census *c, const node *n)
{
    if (n->type)
        mark_whole(c, n->type);
    while (n->kind == E_SUBSCRIPT && n->kid[0]->kind == E_DECAY) /* an element of an array field */
        n = n->kid[0]->kid[0];
    if (n->kind == E_MEMBER)
        mark(&c->written, field_key(n->kid[0]->type->rec, (uint32_t)n->bits));
}

static const ctype *
struct_behind(const node *n)
{
    const ctype *t = n->type && n->type->kind == TYPE_POINTER ? n->type->elem : NULL;
    return t && t->kind == TYPE_STRUCT ? t : NULL;
}

static void
mark_array(census *c, const node *pointer)
{
    const ctype *t = struct_behind(pointer);
    while (pointer->kind == E_CAST)
        pointer = pointer->kid[0];
    if (t && pointer->kind != E_DECAY) /* a declared array is none of the launch's */
        mark(&c->arrays, text_key(2, t->rec->name));
}

/* no element of an array of pointers but A[0] */
static bool
is_no_element(const node *n, void *user)
{
    int64_t first;
    bool element = (n->kind == E_SUBSCRIPT || n->kind == E_DEREF) && n->type && n->type->kind == TYPE_POINTER;
    return !element || (n->kind == E_SUBSCRIPT && fc_is_constant_node(n->kid[1], &first));
}

/* Whether it is an element of an array of pointers, by way of a variable, too. */
static bool
is_element(const node *n)
{
    if (n->kind == E_REF && n->decl->kind == DECL_VAR) {
        bool element = n->decl->init && n->decl->init->kind != E_REF && is_element(n->decl->init);
        for (size_t i = 0; i < n->decl->assigned.n; i++)
            element |= n->decl->assigned.at[i]->kind != E_REF && is_element(n->decl->assigned.at[i]);
        return element;
    }
    return (n->kind == E_SUBSCRIPT || n->kind == E_DEREF) && n->type && n->type->kind == TYPE_POINTER;
}

/* A[i] = base + i * n, &base[i * n], A[0] + i * n and malloc(n) fill an array of pointers; other assignments exchange its
 * elements. */
static void
mark_exchange(census *c, const node *n)
{
    const node *to = n->kid[0], *value = n->kid[1];
    int64_t first;
    if (to->kind != E_SUBSCRIPT && to->kind != E_DEREF)
        return;
    mark(&c->assigned, text_key(3, to->type->elem->name));
    while (value && value->kind == E_CAST)
        value = value->kid[0];
    bool fills = n->kind == E_ASSIGN && to->kind == E_SUBSCRIPT &&
                 ((value->kind == E_BINARY || value->kind == E_ADDR || value->kind == E_DECAY || value->kind == E_CALL)
                      ? fc_node_walk(value, is_no_element, NULL)
                      : fc_is_constant_node(to->kid[1], &first) && !is_element(value));
    if (fills && !fc_is_constant_node(to->kid[1], &first)) { /* one that is filled twice changes */
        const node *base = to->kid[0];
        while (base->kind == E_CAST || base->kind == E_DECAY)
            base = base->kid[0];
        uint64_t key = base->kind == E_MEMBER ? field_key(base->kid[0]->type->rec, (uint32_t)base->bits)
                       : base->kind == E_REF  ? map_ptr(base->decl)
                                              : 0;
        fills = !map_get(&c->filled, key);
        map_set(&c->filled, key, (void *)n);
    }
    if (!fills)
        mark(&c->exchanged, text_key(3, to->type->elem->name));
}

static void look_at(census *c, const decl *fn);

static bool
look_at_node(const node *n, void *user)
{
    census *c = user;
    int64_t first;
    switch (n->kind) {
    case E_MEMBER:
        if (n->kid[0]) /* else it is a designator */
            mark(&c->mentioned, field_key(n->kid[0]->type->rec, (uint32_t)n->bits));
        break;
    case E_ASSIGN:
    case E_COMPOUND:
    case E_INC:
        mark_written(c, n->kid[0]);
        if (n->kid[0]->type && n->kid[0]->type->kind == TYPE_POINTER)
            mark_exchange(c, n);
        if (n->kind != E_ASSIGN)
            mark_array(c, n->kid[0]);
        break;
    case E_ADDR:
        if (n->kid[0]->kind == E_MEMBER && n->kid[0]->type->kind != TYPE_STRUCT) {
            mark_written(c, n->kid[0]);
            mark(&c->addressed, field_key(n->kid[0]->kid[0]->type->rec, (uint32_t)n->kid[0]->bits));
        }
        break;
    case E_SUBSCRIPT:
        if (!fc_is_constant_node(n->kid[1], &first) || first)
            mark_array(c, n->kid[0]);
        break;
    case E_BINARY:
        if (struct_behind(n))
            mark_array(c, n);
        break;
    case E_CALL:
        for (uint32_t i = 0; n->decl && !n->decl->body && i < n->count; i++) {
            const node *a = n->list[i]; /* memcpy and its like */
            while (a->kind == E_CAST)
                a = a->kid[0];
            if (struct_behind(a))
                mark_whole(c, struct_behind(a));
        }
        if (n->decl && n->decl->body)
            look_at(c, n->decl);
        break;
    case E_REF:
        if (n->decl->kind == DECL_FUNCTION && n->decl->body)
            look_at(c, n->decl);
        else if (n->decl->lasting && n->decl->init && !map_get(&c->functions, map_ptr(n->decl))) {
            mark(&c->functions, map_ptr(n->decl));
            fc_node_walk(n->decl->init, look_at_node, c);
        }
        break;
    default:
        break;
    }
    return true;
}

static void
look_at(census *c, const decl *fn)
{
    if (map_get(&c->functions, map_ptr(fn)))
        return;
    mark(&c->functions, map_ptr(fn));
    fc_node_walk(fn->body, look_at_node, c);
}

census *
fc_census(arena *a, const node *tree)
{
    census *c = arena_one(a, census);
    c->functions.in = c->mentioned.in = c->written.in = c->addressed.in = c->arrays.in = c->exchanged.in = c->assigned.in = c->filled.in = a;
    fc_node_walk(tree, look_at_node, c);
    return c;
}

bool
fc_is_mentioned(const census *c, const record *r, uint32_t number)
{
    return map_get(&c->mentioned, field_key(r, number)) != NULL;
}

bool
fc_is_written(const census *c, const record *r, uint32_t number)
{
    return map_get(&c->written, field_key(r, number)) != NULL;
}

bool
fc_is_addressed(const census *c, const record *r, uint32_t number)
{
    return map_get(&c->addressed, field_key(r, number)) != NULL;
}

bool
fc_are_assigned(const census *c, const ctype *elem)
{
    return map_get(&c->assigned, text_key(3, elem->name)) != NULL;
}

bool
fc_are_exchanged(const census *c, const ctype *elem)
{
    return map_get(&c->exchanged, text_key(3, elem->name)) != NULL;
}

bool
fc_used_as_array(const census *c, const ctype *t)
{
    return t->kind != TYPE_STRUCT || map_get(&c->arrays, text_key(2, t->rec->name)) != NULL;
}

bool
fc_mentions_pointers(const census *c, const ctype *t)
{
    while (t->kind == TYPE_ARRAY)
        t = t->elem;
    for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < t->rec->nfields; i++) {
        const field *f = &t->rec->fields[i];
        const ctype *of = f->type;
        while (of->kind == TYPE_ARRAY)
            of = of->elem;
        if (!f->hidden && (of->kind == TYPE_POINTER ? fc_is_mentioned(c, t->rec, i) : fc_mentions_pointers(c, of)))
            return true;
    }
    return false;
}
