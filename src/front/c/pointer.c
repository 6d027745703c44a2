/* Pointers: each is a place. A pointer variable that always means one place is bound to it; one
 * that moves keeps its indices in variables; one that changes between arrays keeps their number
 * too, and kernel-level code picks the buffer by it. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/omp.h"
#include "front/c/slot.h"

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
bool
fc_starts_at_zero(const place *p)
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
    if (fc_is_null_node(n))
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
    if (d->pointer && (d->pointer->fixed ? !fc_starts_at_zero(&d->pointer->at) : !d->pointer->still))
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
    return (!given || fc_starts_at_zero(given)) && whole_variable(d, &seen);
}

void
fc_refuse_choice(gen *g, const place *at, uint32_t n, rg_place where, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (at[i].object->kind == OBJECT_FUNCTION) {
            fc_fail(g, ERR_FUNCTION_POINTER, where);
            return;
        }
    for (uint32_t i = 0; i < n; i++)
        if (at[i].object->pointers) {
            fc_fail(g, ERR_POINTER_STRUCTS, where, name);
            return;
        }
    for (uint32_t i = 0; i < n; i++)
        if (at[i].object->kind != OBJECT_BUFFER && !g->in_thread) {
            fc_fail(g, ERR_POINTER_LOCAL, where, name, at[i].object->name);
            return;
        }
    fc_fail(g, g->in_thread ? ERR_POINTER_CHOICE : ERR_POINTER_AXES, where, name);
}

/* Whether a pointer can choose between them here. */
static bool
are_alike(const gen *g, const pointer_var *v)
{
    for (uint32_t i = 0; i < v->nchoices && v->nchoices > 1; i++) {
        const place *p = &v->choices[i];
        if (p->object->kind != OBJECT_BUFFER || p->object->pointers || p->n != v->choices[0].n || g->in_thread ||
            fc_type_leaves(p->type) != fc_type_leaves(v->choices[0].type))
            return false;
    }
    return true;
}

bool
fc_choices_agree(gen *g, const pointer_var *v, rg_place where)
{
    bool alike = are_alike(g, v);
    if (!alike)
        fc_refuse_choice(g, v->choices, v->nchoices, where, v->name);
    return alike;
}

pointer_var *
fc_pointer_to(gen *g, choices *c, const char *name)
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

place
fc_null_place(gen *g, ctype *type)
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
        if (!fc_is_null_node(d->assigned.at[i]))
            return d->assigned.at[i]->place;
    return d->place;
}

static void
declare_moving(gen *g, decl *d, choices *c, bool still, uint32_t number)
{
    pointer_var *v = fc_pointer_to(g, c, d->name);
    v->still = still;
    v->number = number;
    if (v->nchoices == 0 && c->null && !c->unknown) {
        place none = fc_null_place(g, d->type->elem);
        bind_fixed(g, d, &none);
        return;
    }
    if ((v->nchoices == 0 && (c->null || c->unknown)) || !are_alike(g, v)) {
        if (fc_chosen_learn_object(g, number)) {
            d->refused = true;
            return;
        }
    }
    if (v->nchoices == 0) {
        d->refused = true;
        if (c->null) /* it may be null or not: what tests it must not go on */
            fail_to_follow(g, d, assigned_at(d));
        else if (!c->unknown) /* else what it is assigned is refused, which says more */
            fc_fail(g, ERR_POINTER_UNSET, d->place, d->name);
        return;
    }
    if (!fc_choices_agree(g, v, d->place)) {
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
    d->object = NULL;
    d->refused = false;
    if (init) {
        first = fc_pointer(g, init);
        given = &first;
    }
    uint32_t number = ++g->slots;
    if (d->address_taken || fc_chosen_is_object(g, number)) { /* others may assign it: an object that holds a pointer */
        d->object = fc_object_local(g, d->name, d->type);
        d->object->pointers[0]->variable = !d->address_taken;
        place whole = fc_place_of(d->object);
        if (given)
            fc_slot_assign(g, &whole, given, init, true);
        return;
    }
    if (given && (!d->written || given->refused)) {
        bind_fixed(g, d, given);
        return;
    }
    if (!d->written && d->kind == DECL_VAR)
        return; /* an error where it is used */
    choices c = {.g = g};
    if (given)
        fc_choices_of_place(&c, given);
    fc_choices_of_variable(&c, d);
    declare_moving(g, d, &c, stays_whole(g, d, given), number);
    if (given && d->pointer)
        fc_pointer_assign(g, d, given, NULL);
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
        fc_choices_of(&own->c, n->kid[1]);
    return true;
}

void
fc_pointer_private(gen *g, decl *d, const node *body, const place *first)
{
    own_choices own = {.c = {.g = g}, .variable = d};
    list_push(g->arena, &own.c.seen, d);
    if (first)
        fc_choices_of_place(&own.c, first);
    fc_node_walk(body, see_own_assignment, &own);
    if (!own.c.found.n && !own.c.null)
        return; /* it is not assigned here */
    declare_moving(g, d, &own.c, false, 0);
    if (first && d->pointer)
        fc_pointer_assign(g, d, first, NULL);
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

static bool
numbers_alike(const pointer_var *v, const pointer_var *w)
{
    bool alike = v->nchoices == w->nchoices;
    for (uint32_t i = 0; alike && i < v->nchoices; i++)
        alike = v->choices[i].object == w->choices[i].object && v->choices[i].leaf == w->choices[i].leaf;
    return alike;
}

rg_value
fc_selector_for(gen *g, const pointer_var *v, const place *to)
{
    const pointer_var *from = to->object->choice;
    if (!from) {
        int number = choice_number(v, to->object, to->leaf);
        return number < 0 ? NULL : fc_int_value(g, RG_I32, number);
    }
    if (numbers_alike(v, from))
        return to->object->selector;
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

void
fc_pointer_assign(gen *g, decl *d, const place *to, const node *n)
{
    pointer_var *v = d->pointer;
    rg_place where = n ? n->place : d->place;
    if (!v && d->refused && !to->refused)
        fail_to_follow(g, d, where);
    if (!v || v->fixed || v->refused || to->refused)
        return; /* refused at its declaration */
    if (v->shared && g->in_thread) {
        fc_fail(g, ERR_POINTER_SHARED, where, d->name);
        return;
    }
    if (to->object->allocated && !fc_is_threads_own(g, d))
        to->object->team = false;
    if (v->null)
        rg_build_set(g->b, v->null, to->null ? to->null : rg_build_int(g->b, RG_BOOL, 0));
    if (to->object->kind == OBJECT_NULL)
        return;
    rg_value selector = fc_selector_for(g, v, to);
    if (!selector || to->n != v->choices[0].n || (to->null && !v->null)) {
        if (fc_chosen_learn_object(g, v->number))
            return;
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

void
fc_pointer_store(gen *g, const node *n, const place *to)
{
    if (n->kind == E_REF && !n->decl->object) {
        fc_pointer_assign(g, n->decl, to, n);
        return;
    }
    place p = fc_lvalue(g, n);
    fc_slot_assign(g, &p, to, n, false);
}

/* -- reading
 * --------------------------------------------------------------------------------------- */
/* One object made of the buffers that the selector picks, leaf by leaf. */
object *
fc_picked(gen *g, const pointer_var *v)
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
    return d->init ? fc_pointer(g, d->init) : fc_null_place(g, d->type->elem);
}

place
fc_pointer_read(gen *g, const decl *d, const node *n)
{
    const pointer_var *v = d->pointer;
    if (d->numbered && g->in_thread)
        fc_fail(g, ERR_OMP_NUMBER, n->place);
    if (!v && d->lasting)
        return lasting_pointer(g, (decl *)d, n);
    if (d->object && !v) {
        place whole = fc_place_of(d->object);
        return fc_slot_read(g, &whole, n);
    }
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
        p.object = fc_picked(g, v);
    p.walks = p.n > 1 && !v->still && !p.object->turns;
    for (uint32_t i = 0; i < p.n; i++)
        p.index[i] = v->still ? NULL : rg_build_get(g->b, v->index[i]);
    p.null = v->null ? rg_build_get(g->b, v->null) : NULL;
    return p;
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
    if (n->kind == E_REF && n->decl->object)
        fc_chosen_enter_thread(e->g, n->decl->object);
    if (n->kind == E_REF && n->decl->pointer && n->decl->pointer->fixed && n->decl->pointer->at.object)
        fc_chosen_enter_thread(e->g, n->decl->pointer->at.object);
    if (n->kind != E_REF || !n->decl->pointer || n->decl->pointer->nchoices < 2)
        return true;
    pointer_var *before = n->decl->pointer, *now = arena_one(e->g->arena, pointer_var);
    *now = *before;
    now->nchoices = 1;
    now->selector = NULL;
    now->choices = arena_one(e->g->arena, place);
    now->choices[0] = before->choices[0];
    now->choices[0].object = fc_picked(e->g, before);
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
