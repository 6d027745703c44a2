/* Pointers that objects hold: assigning them, one by one and with the structs that they are in. SPDX-License-Identifier: Apache-2.0 */
#include "front/c/slot.h"

#include "ir/ir.h"

/* -- one pointer
 * --------------------------------------------------------------------------- */
/* The first assignment says which array it is. later: nothing that was made before is reached behind it */
static bool
takes_array(gen *g, slot *s, slot_target *t, const place *to, bool declared, bool later)
{
    if (s->many) {
        if (!t->at.object)
            t->at = *to;
        bool known = fc_chosen_selector(g, s, to) && (!s->many->still || fc_starts_at_zero(to));
        return t->at.n == to->n && (known || fc_chosen_learn(g, s, NULL, to));
    }
    if ((!t->at.object && !t->read) || later) {
        t->at = *to;
        return declared || later || !to->object->choice || fc_chosen_learn(g, s, NULL, to); /* picked in an if */
    }
    bool same = t->at.object && t->at.n == to->n && fc_same_array(&t->at, to) && !to->object->choice;
    return same || fc_chosen_learn(g, s, &t->at, to);
}

static bool
takes(gen *g, slot *s, slot_target *t, const place *to, bool declared, bool later)
{
    if (later)
        *t = (slot_target){0};
    if (to->null && !t->nulls && t->read && !fc_chosen_learn(g, s, NULL, to))
        return false;
    t->nulls |= to->null != NULL;
    return to->object->kind == OBJECT_NULL || takes_array(g, s, t, to, declared, later);
}

void
fc_slot_assign(gen *g, const place *p, const place *to, const node *n, bool declared)
{
    place none = {0};
    if (!to)
        none = fc_null_place(g, NULL);
    to = to ? to : &none;
    rg_place where = n ? n->place : g->at;
    slot *s = p->refused ? NULL : fc_slot_at(p);
    if (!s) {
        if (!p->refused)
            fc_slot_not_followed(g, p, where);
        return;
    }
    if (to->refused || s->refused) {
        s->refused = true;
        return;
    }
    if (s->shared && g->in_thread) {
        fc_fail(g, ERR_POINTER_SHARED, where, s->name);
        return;
    }
    to->object->team &= !to->object->allocated || p->object->team;
    int k = fc_slot_number(g, s, p);
    bool ok = s->kind == SLOT_STORED && to->n <= countof(s->index) && (!to->n || s->index[to->n - 1]);
    bool later = ok && k >= 0 && s->count == fc_slot_elements(s, 0) && !s->many && s->made_in == ir_build_region(g->b);
    ok = ok && (s->many || fc_rows_assigned(g, s, p, to, n));
    for (uint32_t i = k < 0 ? 0 : (uint32_t)k; ok && i < (k < 0 ? s->count : (uint32_t)k + 1); i++)
        ok = takes(g, s, &s->target[i], to, declared, later);
    if (!ok && s->variable && k >= 0 && s->target[k].at.object && to->object->kind != OBJECT_NULL) {
        place both[2] = {s->target[k].at, *to};
        fc_refuse_choice(g, both, 2, where, s->name);
        return;
    }
    if (!ok) {
        fc_fail(g, s->returned ? ERR_POINTER_RETURN : ERR_FIELD_CHOICE, where, s->name);
        return;
    }
    fc_slot_keep(g, s->null, p, to->null ? to->null : rg_build_int(g->b, RG_BOOL, 0));
    for (uint32_t i = 0; i < to->n && !(s->many && s->many->still); i++)
        fc_slot_keep(g, s->index[i], p, fc_subscript_on(g, to, i));
    rg_value selector = s->many && to->object->kind != OBJECT_NULL ? fc_chosen_selector(g, s, to) : NULL;
    if (selector)
        fc_slot_keep(g, s->selector, p, selector);
}

/* -- structs as values
 * --------------------------------------------------------------------------- */
/* How many elements of a slot a value holds: an array of pointers that is too large holds one for all. */
static uint64_t
elements_held(const slot *s, const place *p)
{
    uint64_t n = fc_slot_elements(s, p->n);
    return n && n <= TOLD_APART ? n : 1;
}

place *
fc_slots_load(gen *g, const place *p)
{
    uint64_t count = 0;
    uint32_t n = fc_type_pointers(p->type);
    if (!n || !p->object->pointers)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        count += elements_held(p->object->pointers[p->pointer + i], p);
    place *all = arena_new_n(g->arena, place, count), *next = all;
    for (uint32_t i = 0; i < n; i++) {
        slot *s = p->object->pointers[p->pointer + i];
        for (uint64_t k = 0; k < elements_held(s, p); k++) {
            place e = fc_slot_element(g, s, p, k);
            e.pointer += i;
            *next++ = fc_slot_elements(s, p->n) <= TOLD_APART ? fc_slot_get(g, s, &e, g->at) : (place){0};
        }
    }
    return all;
}

void
fc_slots_store(gen *g, const place *p, const place *pointers, const node *n)
{
    if (!p->object->pointers)
        return; /* reading them is refused */
    for (uint32_t i = 0; i < fc_type_pointers(p->type); i++) {
        const slot *s = p->object->pointers[p->pointer + i];
        for (uint64_t k = 0; k < elements_held(s, p); k++) {
            place e = fc_slot_element(g, s, p, k);
            e.pointer += i;
            if (pointers->object)
                fc_slot_assign(g, &e, pointers, n, false);
            pointers++;
        }
    }
}

void
fc_slots_default(gen *g, object *o, const node *init)
{
    place whole = fc_place_of(o);
    for (uint32_t i = 0; o->pointers && i < fc_type_pointers(o->type); i++) {
        slot *s = o->pointers[i];
        for (uint32_t k = 0; s->kind == SLOT_STORED && k < s->count; k++) {
            place e = fc_slot_element(g, s, &whole, k);
            e.pointer = i;
            if (!s->target[k].at.object && !s->target[k].nulls)
                fc_slot_assign(g, &e, NULL, init, true);
        }
    }
}
