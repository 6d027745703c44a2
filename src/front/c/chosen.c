/* Pointers of objects that change between arrays. SPDX-License-Identifier: Apache-2.0
 *
 *     double *t = s->a;       chosen by what is kept of s.a: t  = pick(kept of s.a; u, v)
 *     s->a = s->b;            kept of s.a = kept of s.b
 *     s->b = t;
 *
 * Which arrays there are must be known where such a pointer is first assigned, and shows where it is assigned later. So a
 * kernel is made once more, from its beginning, as long as that shows arrays that were not known then: lessons. A pointer is kept
 * as the number of a lesson of its slot. Slots and arrays count in the order in which they are made. Parallel loops see
 * the array that was picked before them. */
#include "front/c/slot.h"

enum { /* objects of lessons that are none */
    NOWHERE = -1, /* the pointer may be null */
    BEHIND = -2,  /* ... or may lead behind an array's first element */
    OBJECT = -3   /* it is a variable, to be kept as if it was in a struct */
};

/* So that slots with equal choices number them alike. */
static int
by_array(const void *x, const void *y)
{
    const lesson *a = x, *b = y;
    return a->object != b->object ? (a->object > b->object) - (a->object < b->object) : (a->leaf > b->leaf) - (a->leaf < b->leaf);
}

void
fc_chosen_begin(gen *g, slot *s)
{
    bool still = true;
    if (!g->lessons || !s->selector)
        return;
    s->learned = arena_new_n(g->arena, lesson, g->lessons->at.n);
    for (size_t i = 0; i < g->lessons->at.n; i++) {
        const lesson *l = &g->lessons->at.at[i];
        if (l->slot == s->number && l->object >= 0)
            s->learned[s->nlearned++] = *l;
        still &= l->slot != s->number || l->object != BEHIND;
        for (uint32_t k = 0; l->slot == s->number && l->object == NOWHERE && k < s->count; k++)
            s->target[k].nulls = true;
    }
    if (!s->nlearned)
        return;
    qsort(s->learned, s->nlearned, sizeof(*s->learned), by_array);
    s->many = arena_one(g->arena, pointer_var);
    *s->many = (pointer_var){.name = s->name, .shared = true, .still = still, .nchoices = s->nlearned};
    s->many->choices = arena_new_n(g->arena, place, s->nlearned);
}

/* Finds the arrays that there are by now. */
static void
find_choices(gen *g, slot *s)
{
    for (uint32_t i = 0; i < s->nlearned; i++) {
        const lesson *l = &s->learned[i];
        place *p = &s->many->choices[i];
        object *o = p->object ? NULL : map_get(&g->buffers, (uint64_t)l->object + 1);
        if (o && l->leaf + fc_type_leaves(s->type->elem) <= o->nleaves && l->axes <= o->leaves[l->leaf].rank)
            *p = (place){.object = o, .leaf = l->leaf, .type = s->type->elem, .n = l->axes};
    }
}

static bool
learn(lessons *all, lesson l)
{
    for (size_t i = 0; i < all->at.n; i++) {
        const lesson *old = &all->at.at[i];
        if (old->slot == l.slot && old->object == l.object && old->leaf == l.leaf)
            return false;
        if (old->slot == l.slot && old->object >= 0 && l.object >= 0 && old->axes != l.axes)
            return false;
    }
    vec_push(&all->at, l);
    all->more = true;
    return true;
}

/* Whether a kernel can choose between them. */
static bool
are_alike(const choices *c)
{
    for (size_t i = 0; i < c->found.n; i++) {
        const place *p = &c->found.at[i], *first = &c->found.at[0];
        if (p->object->kind != OBJECT_BUFFER || p->object->pointers || p->n != first->n ||
            fc_type_leaves(p->type) != fc_type_leaves(first->type))
            return false;
    }
    return true;
}

bool
fc_chosen_learn(gen *g, const slot *s, const place *at, const place *to)
{
    choices all = {.g = g};
    bool more = false;
    if (!g->lessons || g->lessons->last || !s->selector || g->in_thread || s->type->elem->kind == TYPE_VOID)
        return false;
    if (at && at->object)
        fc_choices_of_place(&all, at);
    fc_choices_of_place(&all, to);
    if (!are_alike(&all))
        return false;
    for (size_t i = 0; i < all.found.n; i++)
        more |= learn(g->lessons, (lesson){s->number, (int32_t)all.found.at[i].object->number, all.found.at[i].leaf, all.found.at[i].n});
    if (all.null)
        more |= learn(g->lessons, (lesson){s->number, NOWHERE, 0, 0});
    if ((at && at->object && !fc_starts_at_zero(at)) || !fc_starts_at_zero(to))
        more |= learn(g->lessons, (lesson){s->number, BEHIND, 0, 0});
    return more;
}

bool
fc_chosen_is_object(const gen *g, uint32_t number)
{
    for (size_t i = 0; g->lessons && i < g->lessons->at.n; i++)
        if (g->lessons->at.at[i].slot == number && g->lessons->at.at[i].object == OBJECT)
            return true;
    return false;
}

bool
fc_chosen_learn_object(gen *g, uint32_t number)
{
    return number && g->lessons && !g->lessons->last && learn(g->lessons, (lesson){number, OBJECT, 0, 0});
}

rg_value
fc_chosen_selector(gen *g, slot *s, const place *to)
{
    find_choices(g, s);
    return fc_selector_for(g, s->many, to);
}

void
fc_chosen_choices(choices *c, slot *s)
{
    find_choices(c->g, s);
    for (uint32_t i = 0; i < s->many->nchoices; i++)
        if (s->many->choices[i].object)
            fc_choice_add(c, s->many->choices[i]);
}

place
fc_chosen_any(gen *g, slot *s)
{
    find_choices(g, s);
    for (uint32_t i = 0; i < s->many->nchoices; i++)
        if (s->many->choices[i].object)
            return s->many->choices[i];
    return (place){0};
}

/* For an array that is not there yet, which no pointer can lead to, stands another one. */
static object *
picked(gen *g, slot *s, const place *p)
{
    place there = fc_chosen_any(g, s);
    pointer_var *v = arena_one(g->arena, pointer_var);
    *v = *s->many;
    v->choices = arena_new_n(g->arena, place, v->nchoices);
    for (uint32_t i = 0; i < v->nchoices; i++)
        v->choices[i] = s->many->choices[i].object ? s->many->choices[i] : there;
    v->selector = rg_build_var(g->b, rg_str_of(s->name), (rg_type){RG_I32, 0});
    rg_build_set(g->b, v->selector, fc_slot_kept(g, s->selector, p));
    return fc_picked(g, v);
}

static void
lead_into(place *at, object *o)
{
    at->object = o;
    at->leaf = o->choice->choices[0].leaf;
    at->type = o->choice->choices[0].type;
}

place
fc_chosen_place(gen *g, slot *s, const place *p, place at, rg_place where)
{
    int k = fc_slot_number(g, s, p);
    if (!g->in_thread) {
        lead_into(&at, picked(g, s, p));
        return at;
    }
    if (k < 0 || s->target[k].seen_in != g->loop) {
        fc_fail(g, ERR_POINTER_ELEMENT, where, s->name);
        return fc_nowhere(g, s->type->elem);
    }
    lead_into(&at, s->target[k].seen);
    return at;
}

void
fc_chosen_enter_thread(gen *g, object *o)
{
    for (uint32_t i = 0; o->pointers && i < fc_type_pointers(o->type); i++) {
        slot *s = o->pointers[i];
        for (uint32_t k = 0; k < s->count; k++) {
            slot_target *t = &s->target[k];
            if (!t->at.object || t->seen_in == g->loop + 1)
                continue;
            t->seen_in = g->loop + 1;
            if (s->many) {
                place e = fc_slot_element(g, s, &(place){0}, k);
                t->seen = picked(g, s, &e);
            } else if (t->at.object->pointers) {
                fc_chosen_enter_thread(g, t->at.object);
            }
        }
    }
}
