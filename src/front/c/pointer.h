/* What the files about pointers share. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_POINTER_H
#define FRONT_C_POINTER_H

#include "front/c/gen.h"

/* -- choices.c: the arrays that a pointer may point into
 * --------------------------------------------------------- */
typedef struct choices {
    gen *g;
    list(place) found;
    list(const decl *) seen;
    bool null;    /* or into none */
    bool unknown; /* something that is not followed: a call, a cast from a number */
} choices;
void fc_choice_add(choices *c, place p);
void fc_choices_of(choices *c, const node *n);
void fc_choices_of_place(choices *c, const place *p);
void fc_choices_of_variable(choices *c, const decl *d);
/* where a pointer leads that always leads into one array; its subscripts are not known */
bool fc_form_of_pointer(gen *g, const node *n, place *out);
/* a null pointer constant, however it is cast */
bool fc_is_null_node(const node *n);

/* -- pointer.c
 * --------------------------------------------------------- */
place fc_function_place(gen *g, const node *n);
place fc_null_place(gen *g, ctype *type);
/* A pointer to one of these; fc_choices_agree says why it cannot be. */
pointer_var *fc_pointer_to(gen *g, choices *c, const char *name);
/* Says why a pointer cannot choose between these. */
void fc_refuse_choice(gen *g, const place *at, uint32_t n, rg_place where, const char *name);
bool fc_choices_agree(gen *g, const pointer_var *v, rg_place where);
/* The selector of v for a place that may be one of several arrays itself. NULL: not among v's. */
rg_value fc_selector_for(gen *g, const pointer_var *v, const place *to);
/* One object made of the buffers that the selector picks, leaf by leaf. */
object *fc_picked(gen *g, const pointer_var *v);
void fc_pointer_assign(gen *g, decl *d, const place *to, const node *n);
bool fc_same_array(const place *x, const place *y);
/* Whether the subscripts are 0, for all that is seen. */
bool fc_starts_at_zero(const place *p);

/* -- slot.c
 * --------------------------------------------------------- */
/* what a pointer may be that is read from p */
void fc_slot_choices(choices *c, const place *p);

#endif
