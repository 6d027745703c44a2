/* What the files about pointers that objects hold share. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_SLOT_H
#define FRONT_C_SLOT_H

#include "front/c/pointer.h"

enum { TOLD_APART = 64 /* elements of an array of pointers that may point into arrays of their own */ };

/* -- slot.c
 * --------------------------------------------------------- */
/* Elements under n indices; 0: the run knows. */
uint64_t fc_slot_elements(const slot *s, uint32_t n);
/* Element `number` below p of a slot. */
place fc_slot_element(gen *g, const slot *s, const place *p, uint64_t number);
/* The number of its target; -1: the run knows. */
int fc_slot_number(gen *g, const slot *s, const place *p);
/* what is kept of the element p */
rg_value fc_slot_kept(gen *g, object *o, const place *p);
void fc_slot_keep(gen *g, object *o, const place *p, rg_value v);
/* Where the pointer points; without an object: nothing was assigned to it. */
place fc_slot_get(gen *g, slot *s, const place *p, rg_place where);
/* of a place, as i64 */
rg_value fc_subscript_on(gen *g, const place *p, uint32_t axis);
slot *fc_slot_at(const place *p);
/* says why the object's pointers cannot be followed */
void fc_slot_not_followed(gen *g, const place *p, rg_place where);

/* -- chosen.c: pointers that change between arrays
 * --------------------------------------------------------- */
/* What was learned of a slot, when it is made. */
void fc_chosen_begin(gen *g, slot *s);
/* Learns that s, which points to `at` (NULL: nothing so far), may point to `to`, too; false: it cannot be made so. */
bool fc_chosen_learn(gen *g, const slot *s, const place *at, const place *to);
/* The number that is kept of a pointer that is assigned `to`; NULL: not learned so far. */
rg_value fc_chosen_selector(gen *g, slot *s, const place *to);
/* `at` is where element p points in whichever array it is. */
place fc_chosen_place(gen *g, slot *s, const place *p, place at, rg_place where);
/* Whether the pointer variable of that number is kept as an object's; and learns that it has to be, false: it was, or cannot be. */
bool fc_chosen_is_object(const gen *g, uint32_t number);
bool fc_chosen_learn_object(gen *g, uint32_t number);
void fc_chosen_choices(choices *c, slot *s);
/* One of them that is there, without subscripts; without an object: none is. */
place fc_chosen_any(gen *g, slot *s);
/* Before a parallel loop: what this object's pointers are in it. */
void fc_chosen_enter_thread(gen *g, object *o);

#endif
