/* Pointers: each is a place. A pointer variable that always means one place is bound to it; one
 * that moves keeps its indices in variables; one that changes between arrays keeps their number
 * too, and kernel-level code picks the buffer by it. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

/* -- which arrays a variable may point into
 * --------------------------------------------------------- */
typedef struct choices {
    gen *g;
    list(place) found;
    list(const decl *) seen;
    bool null;    /* or into none */
    bool unknown; /* something that is not followed: a call, a cast from a number */
} choices;

static void add_choices(choices *c, const node *n);

static place
function_place(gen *g, const node *n)
{
    decl *fn = n->decl;
    if (!fn->object) {
        fn->object = arena_one(g->arena, object);
        *fn->object = (object){.number = g->objects++, .kind = OBJECT_FUNCTION, .name = fn->name, .function = fn};
        fn->object->type = n->type;
    }
    return fc_place_of(fn->object);
}

static void
add_choice(choices *c, place p)
{
    for (size_t i = 0; i < c->found.n; i++) {
        if (c->found.at[i].object == p.object && c->found.at[i].leaf == p.leaf)
            return;
    }
    list_push(c->g->arena, &c->found, p);
}

/* what a place may be: one array, or those of the pointer that it was read from */
static void
add_place_choices(choices *c, const place *p)
{
    const pointer_var *many = p->object->choice;
    c->null |= p->null != NULL;
    for (uint32_t i = 0; many && i < many->nchoices; i++)
        add_choice(c, many->choices[i]);
    if (!many && p->object->kind != OBJECT_NULL)
        add_choice(c, *p);
}

static void
add_variable_choices(choices *c, const decl *d)
{
    for (size_t i = 0; i < c->seen.n; i++) {
        if (c->seen.at[i] == d)
            return;
    }
    list_push(c->g->arena, &c->seen, d);
    if (d->pointer && d->pointer->fixed)
        add_place_choices(c, &d->pointer->at);
    c->null |= d->pointer && d->pointer->null;
    for (uint32_t i = 0; d->pointer && i < d->pointer->nchoices; i++)
        add_choice(c, d->pointer->choices[i]);
    if (d->init && d->kind == DECL_VAR)
        add_choices(c, d->init);
    for (size_t i = 0; i < d->assigned.n; i++)
        add_choices(c, d->assigned.at[i]);
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
        if (n->kid[0]->kind != E_REF || !n->kid[0]->decl->pointer || !n->kid[0]->decl->pointer->fixed)
            return false;
        *out = n->kid[0]->decl->pointer->at;
        return out->object->kind == OBJECT_LOCAL || out->object->kind == OBJECT_VALUE;
    case E_SUBSCRIPT:
        if (n->kid[0]->kind != E_DECAY || !form_of_lvalue(c, n->kid[0]->kid[0], out))
            return false;
        *out = fc_place_element(c->g, out, NULL);
        return true;
    default:
        return false;
    }
}

static void
add_lvalue_choices(choices *c, const node *n, bool decays)
{
    place p;
    if (form_of_lvalue(c, n, &p)) {
        add_choice(c, decays ? fc_place_element(c->g, &p, NULL) : p);
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
    add_choices(&inner, base->kid[0]);
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
        add_choice(c, decays && q.type->kind == TYPE_ARRAY ? fc_place_element(c->g, &q, NULL) : q);
    }
    c->unknown |= inner.unknown;
}

static void
add_field_choices(choices *c, const node *n)
{
    place p;
    if (!form_of_lvalue(c, n->kid[0], &p) || p.type->kind != TYPE_STRUCT || p.n || !p.object->pointers) {
        c->unknown = true;
        return;
    }
    const pointer_var *v = p.object->pointers[p.pointer + p.type->rec->fields[n->bits].pointer];
    c->null |= v->nulls;
    if (v->fixed && v->at.object)
        add_place_choices(c, &v->at);
    else if (v->nchoices)
        add_place_choices(c, &v->choices[0]);
}

/* What a cast would look at as another type is refused where it is assigned. */
static void
add_cast_choices(choices *c, const node *n)
{
    size_t kept = c->found.n;
    const ctype *to = n->type->kind == TYPE_POINTER ? n->type->elem : NULL;
    add_choices(c, n->kid[0]);
    for (size_t i = kept; i < c->found.n; i++) {
        const ctype *from = c->found.at[i].type;
        bool other = to && from && to->kind == TYPE_SCALAR && from->kind == TYPE_SCALAR && to->dtype != from->dtype;
        c->unknown |= other;
        if (!other)
            c->found.at[kept++] = c->found.at[i];
    }
    c->found.n = kept;
}

static bool is_null_node(const node *n);

static void
add_choices(choices *c, const node *n)
{
    place p;
    if (is_null_node(n)) {
        c->null = true;
        return;
    }
    switch (n->kind) {
    case E_REF:
        if (n->decl->kind == DECL_FUNCTION) {
            p = function_place(c->g, n);
            add_choice(c, p);
        } else {
            add_variable_choices(c, n->decl);
        }
        break;
    case E_DECAY:
        add_lvalue_choices(c, n->kid[0], true);
        break;
    case E_ADDR:
        add_lvalue_choices(c, n->kid[0], false);
        break;
    case E_MEMBER:
        add_field_choices(c, n);
        break;
    case E_CAST:
        if (fc_allocation(n)) {
            object *o = fc_sized_object(c->g, fc_allocation(n));
            if (o)
                add_choice(c, (place){.object = o, .type = o->type, .n = 1});
            break;
        }
        add_cast_choices(c, n);
        break;
    case E_INC:
    case E_COMPOUND:
        add_choices(c, n->kid[0]);
        break;
    case E_BINARY:
        add_choices(c, n->kid[n->kid[0]->type->kind == TYPE_POINTER ? 0 : 1]);
        break;
    case E_COMMA:
    case E_ASSIGN:
        add_choices(c, n->kid[1]);
        break;
    case E_COND:
        add_choices(c, n->kid[1]);
        add_choices(c, n->kid[2]);
        break;
    case E_ELVIS:
        add_choices(c, n->kid[0]);
        add_choices(c, n->kid[1]);
        break;
    default:
        c->unknown = true;
        break;
    }
}

/* -- declaring
 * ------------------------------------------------------------------------------------- */
static void
bind_fixed(gen *g, decl *d, const place *at)
{
    pointer_var *v = arena_one(g->arena, pointer_var);
    v->name = d->name;
    v->fixed = true;
    v->shared = !g->in_thread;
    v->at = *at;
    d->pointer = v;
}

/* So that equal sets have equal order wherever they are found. */
static int
by_number(const void *x, const void *y)
{
    const place *p = x, *q = y;
    uint32_t a = p->object->number, b = q->object->number;
    return a != b ? (a < b ? -1 : 1) : (p->leaf > q->leaf) - (p->leaf < q->leaf);
}

/* Whether all that is assigned to a variable of the group is an array as a whole: swapped buffers
 * then keep the subscripts as they are written. */
static bool
starts_at_zero(const place *p)
{
    uint64_t bits;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->index[i] && !(rg_value_is_const(p->index[i], &bits) && bits == 0))
            return false;
    }
    return true;
}

typedef struct decls {
    arena *arena;
    list(const decl *) at;
} decls;

static bool whole_variable(const decl *d, decls *seen);

static bool
whole_array(const node *n, decls *seen)
{
    if (is_null_node(n))
        return true;
    while (n->kind == E_CAST)
        n = n->kid[0];
    if (n->kind == E_DECAY)
        return n->kid[0]->kind == E_REF;
    if (n->kind == E_COND)
        return whole_array(n->kid[1], seen) && whole_array(n->kid[2], seen);
    return n->kind == E_REF && whole_variable(n->decl, seen);
}

static bool
whole_variable(const decl *d, decls *seen)
{
    for (size_t i = 0; i < seen->at.n; i++) {
        if (seen->at.at[i] == d)
            return true;
    }
    list_push(seen->arena, &seen->at, d);
    if (d->moved || d->address_taken)
        return false;
    if (d->pointer && (d->pointer->fixed ? !starts_at_zero(&d->pointer->at) : !d->pointer->still))
        return false;
    if (d->kind == DECL_VAR && d->init && !whole_array(d->init, seen))
        return false;
    for (size_t i = 0; i < d->assigned.n; i++) {
        if (!whole_array(d->assigned.at[i], seen))
            return false;
    }
    return true;
}

static bool
stays_whole(gen *g, const decl *d, const place *given)
{
    decls seen = {.arena = g->arena};
    return (!given || starts_at_zero(given)) && whole_variable(d, &seen);
}

/* Says why a pointer cannot choose between these. */
static void
refuse_choice(gen *g, const place *at, uint32_t n, rg_place where, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i].object->kind != OBJECT_BUFFER && !g->in_thread) {
            fc_fail(g, ERR_POINTER_LOCAL, where, name, at[i].object->name);
            return;
        }
    fc_fail(g, g->in_thread ? ERR_POINTER_CHOICE : ERR_POINTER_AXES, where, name);
}

static bool
choices_agree(gen *g, const pointer_var *v, rg_place where)
{
    for (uint32_t i = 0; i < v->nchoices; i++) {
        const place *p = &v->choices[i];
        if (v->nchoices > 1 && p->object->kind == OBJECT_FUNCTION) {
            fc_fail(g, ERR_FUNCTION_POINTER, where);
            return false;
        }
        bool same = p->n == v->choices[0].n &&
                    fc_type_leaves(p->type) == fc_type_leaves(v->choices[0].type);
        if (same && (v->nchoices == 1 || p->object->kind == OBJECT_BUFFER) &&
            !(v->nchoices > 1 && g->in_thread))
            continue;
        refuse_choice(g, v->choices, v->nchoices, where, v->name);
        return false;
    }
    return true;
}

static pointer_var *
pointer_to(gen *g, choices *c, const char *name)
{
    if (c->found.n > 1)
        qsort(c->found.at, c->found.n, sizeof(place), by_number);
    pointer_var *v = arena_one(g->arena, pointer_var);
    v->name = name;
    v->shared = !g->in_thread;
    v->nchoices = (uint32_t)c->found.n;
    v->choices = arena_new_n(g->arena, place, c->found.n + 1);
    for (size_t i = 0; i < c->found.n; i++)
        v->choices[i] = c->found.at[i];
    return v;
}

static bool same_array(const place *x, const place *y);
static void assign_pointer(gen *g, decl *d, const place *to, const node *n);

static place
null_place(gen *g, ctype *type)
{
    if (!g->null) {
        g->null = arena_one(g->arena, object);
        *g->null = (object){.number = g->objects++, .kind = OBJECT_NULL, .name = "NULL"};
    }
    return (place){.object = g->null, .type = type, .null = rg_build_int(g->b, RG_BOOL, 1)};
}

/* Declares a pointer that is assigned more than once, to one of c. */
static void
fail_to_follow(gen *g, const decl *d, rg_place where)
{
    if (fc_is_news(g, ERR_POINTER_FOLLOW, d))
        fc_fail(g, ERR_POINTER_FOLLOW, where, d->name);
}

/* where it is first assigned what is not null */
static rg_place
assigned_at(const decl *d)
{
    for (uint32_t i = 0; i < d->assigned.n; i++)
        if (!is_null_node(d->assigned.at[i]))
            return d->assigned.at[i]->place;
    return d->place;
}

static void
declare_moving(gen *g, decl *d, choices *c, bool still)
{
    pointer_var *v = pointer_to(g, c, d->name);
    v->still = still;
    if (v->nchoices == 0 && c->null && !c->unknown) {
        place none = null_place(g, d->type->elem);
        bind_fixed(g, d, &none);
        return;
    }
    if (v->nchoices == 0) {
        d->refused = true;
        if (c->null) /* it may be null or not: what tests it must not go on */
            fail_to_follow(g, d, assigned_at(d));
        else if (!c->unknown) /* else what it is assigned is refused, which says more */
            fc_fail(g, ERR_POINTER_UNSET, d->place, d->name);
        return;
    }
    if (!choices_agree(g, v, d->place)) {
        v->nchoices = 1;
        v->refused = true;
    }
    for (uint32_t i = 0; i < v->choices[0].n && !v->still; i++)
        v->index[i] = rg_build_var(g->b, rg_str_of(v->name), (rg_type){RG_I64, 0});
    if (v->nchoices > 1)
        v->selector = rg_build_var(g->b, rg_str_of(v->name), (rg_type){RG_I32, 0});
    if (c->null || c->unknown)
        v->null = rg_build_var(g->b, rg_str_of(v->name), (rg_type){RG_BOOL, 0});
    d->pointer = v;
}

void
fc_pointer_declare(gen *g, decl *d, const node *init, const place *given)
{
    place first;
    d->pointer = NULL;
    d->refused = d->address_taken;
    if (d->address_taken) {
        fc_fail(g, ERR_POINTER_POINTER, d->place);
        return;
    }
    if (init) {
        first = fc_pointer(g, init);
        given = &first;
    }
    if (given && (!d->written || given->refused)) {
        bind_fixed(g, d, given);
        return;
    }
    if (!d->written && d->kind == DECL_VAR)
        return; /* an error where it is used */
    choices c = {.g = g};
    if (given)
        add_place_choices(&c, given);
    add_variable_choices(&c, d);
    declare_moving(g, d, &c, stays_whole(g, d, given));
    if (given && d->pointer)
        assign_pointer(g, d, given, NULL);
}

void
fc_pointers_bind(gen *g, decl *fn, const value *args)
{
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (fn->params[i]->type->kind == TYPE_POINTER)
            bind_fixed(g, fn->params[i], &args[i].at);
    for (uint32_t i = 0; i < fn->nparams; i++)
        if (fn->params[i]->type->kind == TYPE_POINTER)
            fc_pointer_declare(g, fn->params[i], NULL, &args[i].at);
}

typedef struct own_choices {
    choices c;
    const decl *variable;
} own_choices;

static bool
see_own_assignment(const node *n, void *user)
{
    own_choices *own = user;
    if (n->kind == E_ASSIGN && n->kid[0]->kind == E_REF && n->kid[0]->decl == own->variable)
        add_choices(&own->c, n->kid[1]);
    return true;
}

void
fc_pointer_private(gen *g, decl *d, const node *body, const place *first)
{
    own_choices own = {.c = {.g = g}, .variable = d};
    list_push(g->arena, &own.c.seen, d);
    if (first)
        add_place_choices(&own.c, first);
    fc_node_walk(body, see_own_assignment, &own);
    if (!own.c.found.n && !own.c.null)
        return; /* it is not assigned here */
    declare_moving(g, d, &own.c, false);
    if (first && d->pointer)
        assign_pointer(g, d, first, NULL);
}

/* -- assigning
 * ------------------------------------------------------------------------------------- */
static int
choice_number(const pointer_var *v, const object *o, uint32_t leaf_number)
{
    for (uint32_t i = 0; i < v->nchoices; i++) {
        if (v->choices[i].object == o && v->choices[i].leaf == leaf_number)
            return (int)i;
    }
    return -1;
}

/* The selector of v for a place that may be one of several arrays itself. NULL: not among v's. */
static rg_value
selector_for(gen *g, const pointer_var *v, const place *to)
{
    const pointer_var *from = to->object->choice;
    if (!from) {
        int number = choice_number(v, to->object, to->leaf);
        return number < 0 ? NULL : fc_int_value(g, RG_I32, number);
    }
    rg_value result = NULL;
    for (uint32_t i = 0; i < from->nchoices; i++) {
        int number = choice_number(v, from->choices[i].object, from->choices[i].leaf);
        if (number < 0)
            return NULL;
        rg_value mine = fc_int_value(g, RG_I32, number);
        rg_value is =
            result ? rg_build_2(g->b, RG_OP_EQ, to->object->selector, fc_int_value(g, RG_I32, i))
                   : NULL;
        result = result ? rg_build_3(g->b, RG_OP_SELECT, is, mine, result) : mine;
    }
    return result;
}

static void
assign_pointer(gen *g, decl *d, const place *to, const node *n)
{
    pointer_var *v = d->pointer;
    rg_place where = n ? n->place : d->place;
    if (!v && d->refused && !d->address_taken && !to->refused)
        fail_to_follow(g, d, where);
    if (!v || v->fixed || v->refused || to->refused)
        return; /* refused at its declaration */
    if (v->shared && g->in_thread) {
        fc_fail(g, ERR_POINTER_SHARED, where, d->name);
        return;
    }
    if (v->null)
        rg_build_set(g->b, v->null, to->null ? to->null : rg_build_int(g->b, RG_BOOL, 0));
    if (to->object->kind == OBJECT_NULL)
        return;
    rg_value selector = selector_for(g, v, to);
    if (!selector || to->n != v->choices[0].n || (to->null && !v->null)) {
        fc_fail(g, g->in_thread ? ERR_POINTER_CHOICE : ERR_POINTER_FOLLOW, where, d->name);
        return;
    }
    if (v->selector)
        rg_build_set(g->b, v->selector, selector);
    for (uint32_t i = 0; i < to->n && !v->still; i++)
        rg_build_set(g->b, v->index[i],
                     to->index[i] ? fc_convert(g, RG_I64, to->index[i])
                                  : fc_int_value(g, RG_I64, 0));
}

/* -- reading
 * --------------------------------------------------------------------------------------- */
/* One object made of the buffers that the selector picks, leaf by leaf. */
static object *
picked(gen *g, const pointer_var *v)
{
    const object *first = v->choices[0].object;
    object *o = arena_one(g->arena, object);
    *o = *first;
    o->name = v->name;
    o->choice = (pointer_var *)v;
    o->selector = rg_build_get(g->b, v->selector);
    o->leaves = arena_new_n(g->arena, leaf, first->nleaves + 1);
    rg_value *buffers = arena_new_n(g->arena, rg_value, v->nchoices);
    uint32_t used = fc_type_leaves(v->choices[0].type);
    for (uint32_t k = 0; k < used; k++) {
        uint32_t at = v->choices[0].leaf + k;
        o->leaves[at] = first->leaves[at];
        for (uint32_t i = 0; i < v->nchoices; i++)
            buffers[i] = v->choices[i].object->leaves[v->choices[i].leaf + k].value;
        o->leaves[at].value = rg_build_pick(g->b, o->selector, v->nchoices, buffers);
    }
    for (uint32_t i = 0; i < v->nchoices; i++) {
        o->constant &= v->choices[i].object->constant;
        o->team |= v->choices[i].object->team;
    }
    return o;
}

/* A pointer of static storage: where its initialiser points, if nobody writes it. */
static place
lasting_pointer(gen *g, decl *d, const node *n)
{
    if (d->refused || fc_variable_refused(g, d, d->type->constant))
        return fc_nowhere(g, d->type->elem);
    return d->init ? fc_pointer(g, d->init) : null_place(g, d->type->elem);
}

place
fc_pointer_read(gen *g, const decl *d, const node *n)
{
    const pointer_var *v = d->pointer;
    if (d->numbered && g->in_thread)
        fc_fail(g, ERR_OMP_NUMBER, n->place);
    if (!v && d->lasting)
        return lasting_pointer(g, (decl *)d, n);
    if (!v || v->refused) {
        bool unsaid = d->refused && !rg_build_error_count(g->b); /* no assignment was reached */
        if ((!d->refused || unsaid) && !v)
            fc_fail(g, ERR_POINTER_UNSET, n->place, d->name);
        return fc_nowhere(g, d->type->elem);
    }
    if (v->fixed)
        return v->at;
    place p = v->choices[0];
    if (v->nchoices > 1)
        p.object = picked(g, v);
    p.walks = p.n > 1 && !v->still;
    for (uint32_t i = 0; i < p.n; i++)
        p.index[i] = v->still ? NULL : rg_build_get(g->b, v->index[i]);
    p.null = v->null ? rg_build_get(g->b, v->null) : NULL;
    return p;
}

/* -- fields of structs
 * --------------------------------------------------------------------------- */
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
    return v->nchoices && same_array(&v->choices[0], to) && !to->object->choice;
}

void
fc_field_assign(gen *g, pointer_var *v, const place *to, const node *n, bool declared)
{
    place none = {0};
    if (!to)
        none = null_place(g, NULL);
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
        return null_place(g, NULL);
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

static place
read_field(gen *g, const node *n)
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
        assign_pointer(g, n->decl, to, n);
    } else if (n->kind == E_MEMBER) {
        pointer_var *v = field_pointer(g, n);
        if (v)
            fc_field_assign(g, v, to, n, false);
    } else if (!to->refused) {
        fc_fail(g, ERR_POINTER_POINTER, n->place);
    }
}

/* -- null
 * --------------------------------------------------------------------------- */
/* a null pointer constant, however it is cast */
static bool
is_null_node(const node *n)
{
    int64_t v;
    while (n->kind == E_CAST && n->type->kind == TYPE_POINTER)
        n = n->kid[0];
    return n->type && n->type->kind == TYPE_SCALAR && fc_is_constant_node(n, &v) && v == 0;
}

rg_value
fc_pointer_is_set(gen *g, const place *p)
{
    return p->null ? rg_build_1(g->b, RG_OP_NOT, p->null) : rg_build_int(g->b, RG_BOOL, !p->refused);
}

place
fc_pointed(gen *g, const place *p, const node *n)
{
    if (p->refused)
        return *p;
    front_error error = p->object->kind == OBJECT_NULL ? ERR_NULL_POINTER : ERR_FUNCTION_POINTER;
    if (p->object->kind != OBJECT_NULL && p->object->kind != OBJECT_FUNCTION)
        return *p;
    fc_fail(g, error, n->place);
    return fc_nowhere(g, p->type);
}

/* -- pointer expressions
 * --------------------------------------------------------------------------- */
static place
failed(gen *g, const node *n, front_error error, const char *what)
{
    node bad = {.kind = E_BAD,
                .bits = error,
                .text = what,
                .place = n->place,
                .type = n->type && n->type->kind == TYPE_POINTER ? n->type->elem : NULL};
    return fc_lvalue(g, &bad);
}

/* What `to` sees of p, which may have been a pointer to void: its first part of that type. */
static bool
seen_as(gen *g, const ctype *to, place *p)
{
    while (!fc_same_elements(to, p->type)) {
        if (p->type->kind != TYPE_ARRAY || p->object->kind == OBJECT_BUFFER)
            return false;
        *p = fc_place_element(g, p, NULL);
    }
    return true;
}

/* (T *)malloc(...): the array that was made for it */
static bool
allocated_place(gen *g, const node *n, place *out)
{
    const node *call = fc_allocation(n);
    object *o = call && !g->in_thread ? fc_sized_object(g, call) : NULL;
    if (!o || !fc_same_elements(n->type->elem, o->type))
        return false;
    *out = (place){.object = o, .type = o->type, .n = 1};
    if (strstr(call->decl->name, "calloc"))
        fc_clear(g, out, call);
    return true;
}

static place
pointer_cast(gen *g, const node *n)
{
    const node *inner = n->kid[0];
    if (is_null_node(n))
        return null_place(g, n->type->elem);
    place memory;
    if (allocated_place(g, n, &memory))
        return memory;
    if (!inner->type || inner->type->kind == TYPE_SCALAR)
        return failed(g, n, ERR_POINTER_VALUE, "a number turned into a pointer");
    place p = fc_pointer(g, inner);
    if (!p.refused && p.object->kind != OBJECT_NULL && !seen_as(g, n->type->elem, &p)) {
        fc_fail(g, ERR_POINTER_CAST, n->place, fc_format(g->arena, "%s *", p.type->name), n->type->name);
        return fc_nowhere(g, n->type->elem);
    }
    return p;
}

static place
pointer_sum(gen *g, const node *n)
{
    bool left = n->kid[0]->type->kind == TYPE_POINTER;
    place p = fc_pointer(g, n->kid[left ? 0 : 1]);
    rg_value by = fc_scalar(g, n->kid[left ? 1 : 0]);
    fc_at_node(g, n);
    if (n->op == RG_OP_SUB)
        by = rg_build_1(g->b, RG_OP_NEG, fc_convert(g, RG_I64, by));
    return fc_place_move(g, &p, by, n);
}

static bool
same_array(const place *x, const place *y)
{
    return x->n == y->n && x->leaf == y->leaf &&
           (x->object == y->object ||
            (x->object->choice && y->object->choice && x->object->choice == y->object->choice));
}

/* c ? p : q into different arrays: a pointer without a name, whose selector is chosen. */
static bool
choose_array(gen *g, const node *n, rg_value c, place *x, const place *y)
{
    choices all = {.g = g};
    add_place_choices(&all, x);
    add_place_choices(&all, y);
    pointer_var *v = pointer_to(g, &all, "?:");
    if (!choices_agree(g, v, n->place))
        return false;
    v->selector = rg_build_var(g->b, RG_STR("chosen"), (rg_type){RG_I32, 0});
    rg_build_set(g->b, v->selector, rg_build_3(g->b, RG_OP_SELECT, c, selector_for(g, v, x), selector_for(g, v, y)));
    x->object = picked(g, v);
    x->leaf = v->choices[0].leaf;
    x->type = v->choices[0].type;
    return true;
}

/* whether c ? x : y is null */
static rg_value
choose_null(gen *g, rg_value c, const place *x, const place *y)
{
    if (!x->null && !y->null)
        return NULL;
    rg_value no = rg_build_int(g->b, RG_BOOL, 0);
    return rg_build_3(g->b, RG_OP_SELECT, c, x->null ? x->null : no, y->null ? y->null : no);
}

/* c ? x : y within one array: the indices are chosen. */
static place
choose_place(gen *g, const node *n, rg_value c, place x, place y)
{
    if (x.refused || y.refused)
        return x.refused ? x : y;
    rg_value null = choose_null(g, c, &x, &y);
    if (x.object->kind == OBJECT_NULL || y.object->kind == OBJECT_NULL) {
        place chosen = x.object->kind == OBJECT_NULL ? y : x;
        chosen.null = null;
        return chosen;
    }
    if ((!same_array(&x, &y) || x.object->choice) && !choose_array(g, n, c, &x, &y))
        return fc_nowhere(g, x.type);
    x.null = null;
    x.walks |= y.walks;
    for (uint32_t i = 0; i < x.n; i++) {
        if (!x.index[i] && !y.index[i])
            continue;
        rg_value a = x.index[i] ? fc_convert(g, RG_I64, x.index[i]) : fc_int_value(g, RG_I64, 0);
        rg_value b = y.index[i] ? fc_convert(g, RG_I64, y.index[i]) : fc_int_value(g, RG_I64, 0);
        x.index[i] = rg_build_3(g->b, RG_OP_SELECT, c, a, b);
    }
    return x;
}

/* c ? p : q, and p ?: q */
static place
pointer_choice(gen *g, const node *n)
{
    place x, y;
    rg_value c;
    uint64_t known;
    bool elvis = n->kind == E_ELVIS;
    if (elvis) {
        x = fc_pointer(g, n->kid[0]);
        c = fc_pointer_is_set(g, &x);
    } else {
        c = fc_condition(g, n->kid[0], false);
    }
    if (rg_value_is_const(c, &known))
        return known && elvis ? x : fc_pointer(g, n->kid[known || elvis ? 1 : 2]);
    if (!elvis)
        x = fc_pointer(g, n->kid[1]);
    y = fc_pointer(g, n->kid[elvis ? 1 : 2]);
    fc_at_node(g, n);
    return choose_place(g, n, c, x, y);
}

place
fc_pointer(gen *g, const node *n)
{
    place p;
    const decl *root;
    if (n->type && n->type->kind == TYPE_FUNCTION && n->kind == E_DEREF)
        return fc_pointer(g, n->kid[0]);
    switch (n->kind) {
    case E_REF:
        return n->decl->kind == DECL_FUNCTION ? function_place(g, n) : fc_pointer_read(g, n->decl, n);
    case E_DECAY:
        p = fc_lvalue(g, n->kid[0]);
        if (p.refused)
            return fc_nowhere(g, n->type->elem);
        if (p.type->kind != TYPE_ARRAY)
            return failed(g, n, ERR_POINTER_VALUE, "this pointer");
        return fc_place_element(g, &p, NULL);
    case E_MEMBER:
        return read_field(g, n);
    case E_ADDR:
        if (n->kid[0]->type && n->kid[0]->type->kind == TYPE_FUNCTION)
            return fc_pointer(g, n->kid[0]);
        return fc_lvalue(g, n->kid[0]);
    case E_CAST:
        return pointer_cast(g, n);
    case E_BINARY:
        return pointer_sum(g, n);
    case E_INT:
        if (is_null_node(n))
            return null_place(g, NULL);
        return failed(g, n, ERR_POINTER_VALUE, "a number turned into a pointer");
    case E_ELVIS:
    case E_COND:
        return pointer_choice(g, n);
    case E_ASSIGN:
    case E_COMPOUND:
    case E_INC:
    case E_CALL:
    case E_STATEMENTS:
    case E_COMMA: {
        value v = fc_expr(g, n);
        return v.at.object ? v.at : failed(g, n, ERR_POINTER_VALUE, "this pointer");
    }
    case E_STRING:
        return fc_string_place(g, n);
    case E_BAD:
        return failed(g, n, (front_error)n->bits, n->text);
    default:
        root = fc_lvalue_root(n);
        if (root && root->refused)
            return fc_nowhere(g, n->type && n->type->kind == TYPE_POINTER ? n->type->elem : NULL);
        return failed(g, n,
                      n->type && n->type->kind == TYPE_POINTER &&
                              (n->kind == E_MEMBER || n->kind == E_SUBSCRIPT || n->kind == E_DEREF)
                          ? ERR_POINTER_POINTER
                          : ERR_POINTER_VALUE,
                      "this pointer");
    }
}

static rg_value
index_at(gen *g, const place *p, uint32_t axis)
{
    rg_value v = p->index[axis];
    return v ? fc_convert(g, RG_I64, v) : fc_int_value(g, RG_I64, 0);
}

/* Which element of its array it points to, row by row. */
static rg_value
element_number(gen *g, const place *p)
{
    rg_value number = p->n ? index_at(g, p, 0) : fc_int_value(g, RG_I64, 0);
    const leaf *l = p->n > 1 ? &p->object->leaves[p->leaf] : NULL;
    for (uint32_t i = 1; i < p->n; i++) {
        rg_value extent = l->dim[i] >= 0 ? fc_int_value(g, RG_I64, l->dim[i])
                                         : fc_convert(g, RG_I64, rg_build_extent(g->b, l->value, i));
        number = rg_build_2(g->b, RG_OP_ADD, rg_build_2(g->b, RG_OP_MUL, number, extent), index_at(g, p, i));
    }
    return number;
}

/* p == q where they may point into different arrays: the same array and the same element. */
static rg_value
same_place(gen *g, const place *x, const place *y)
{
    const pointer_var *v = x->object->choice;
    if (!v && y->object->choice)
        return same_place(g, y, x);
    rg_value same = rg_build_2(g->b, RG_OP_EQ, element_number(g, x), element_number(g, y));
    rg_value number = v ? selector_for(g, v, y) : NULL;
    if (!number)
        return rg_build_int(g->b, RG_BOOL, 0);
    return rg_build_2(g->b, RG_OP_AND, same,
                      rg_build_2(g->b, RG_OP_EQ, x->object->selector, number));
}

static rg_value
same_element(gen *g, const place *x, const place *y)
{
    if (same_array(x, y) && !x->object->choice)
        return rg_build_2(g->b, RG_OP_EQ, element_number(g, x), element_number(g, y));
    return same_place(g, x, y);
}

/* p == q where one of them may be null */
static rg_value
same_pointer(gen *g, const place *x, const place *y)
{
    if (!x->null && !y->null)
        return same_element(g, x, y);
    if (x->object->kind == OBJECT_NULL || y->object->kind == OBJECT_NULL) {
        const place *other = x->object->kind == OBJECT_NULL ? y : x;
        return other->null ? other->null : rg_build_int(g->b, RG_BOOL, 0);
    }
    rg_value set = rg_build_2(g->b, RG_OP_AND, fc_pointer_is_set(g, x), fc_pointer_is_set(g, y));
    rg_value same = rg_build_2(g->b, RG_OP_AND, set, same_element(g, x, y));
    if (!x->null || !y->null)
        return same;
    return rg_build_2(g->b, RG_OP_OR, same, rg_build_2(g->b, RG_OP_AND, x->null, y->null));
}

rg_value
fc_pointer_compare(gen *g, const node *n)
{
    place x = fc_pointer(g, n->kid[0]), y = fc_pointer(g, n->kid[1]);
    fc_at_node(g, n);
    if (x.refused || y.refused)
        return rg_build_int(g->b, RG_BOOL, 0);
    if (n->op == RG_OP_EQ || n->op == RG_OP_NE) {
        rg_value same = same_pointer(g, &x, &y);
        return n->op == RG_OP_EQ ? same : rg_build_1(g->b, RG_OP_NOT, same);
    }
    if (!same_array(&x, &y)) {
        fc_fail(g, ERR_POINTER_COMPARE, n->place);
        return rg_build_int(g->b, RG_BOOL, 0);
    }
    return rg_build_2(g->b, n->op, element_number(g, &x), element_number(g, &y));
}

rg_value
fc_pointer_difference(gen *g, const node *n)
{
    place x = fc_pointer(g, n->kid[0]), y = fc_pointer(g, n->kid[1]);
    fc_at_node(g, n);
    if (!same_array(&x, &y) && !x.refused && !y.refused)
        fc_fail(g, ERR_POINTER_COMPARE, n->place);
    return rg_build_2(g->b, RG_OP_SUB, element_number(g, &x), element_number(g, &y));
}

/* -- parallel loops
 * -------------------------------------------------------------------------------- */
typedef struct entering {
    gen *g;
    pointer_undos *undo;
} entering;

static bool
enter_pointer(const node *n, void *user)
{
    entering *e = user;
    if (n->kind != E_REF || !n->decl->pointer || n->decl->pointer->nchoices < 2)
        return true;
    pointer_var *before = n->decl->pointer, *now = arena_one(e->g->arena, pointer_var);
    *now = *before;
    now->nchoices = 1;
    now->selector = NULL;
    now->choices = arena_one(e->g->arena, place);
    now->choices[0] = before->choices[0];
    now->choices[0].object = picked(e->g, before);
    list_push(e->g->arena, e->undo, ((pointer_undo){n->decl, before}));
    n->decl->pointer = now;
    return true;
}

void
fc_pointers_enter_thread(gen *g, const node *body, pointer_undos *undo)
{
    entering e = {g, undo};
    fc_node_walk(body, enter_pointer, &e);
}

void
fc_pointers_leave_thread(pointer_undos *undo)
{
    while (undo->n) {
        pointer_undo u = list_pop(undo);
        u.variable->pointer = u.before;
    }
}
