/* The form of a `for` whose count is known on entry. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRONT_C_LOOP_H
#define FRONT_C_LOOP_H

#include "front/c/gen.h"

/* for (counter = lo; counter < hi; counter += step), in any of the ways to write that */
typedef struct loop_form {
    decl *counter;
    bool own; /* declared in the for */
    const node *lo, *hi, *body;
    rg_dtype compare; /* the type in which counter and hi are compared */
    bool inclusive, down, unequal;
    int64_t step; /* with its sign; 0: `by` says how far, `minus` which way */
    const node *by;
    bool minus;
} loop_form;

bool fc_loop_form_read(const node *n, loop_form *f);
/* Evaluates the bounds, of type `compare`; hi is exclusive. */
void fc_loop_bounds(gen *g, const loop_form *f, rg_value *lo, rg_value *hi);
rg_value fc_loop_count(gen *g, const loop_form *f, rg_value lo, rg_value hi, rg_value by);

/* Shows the counter's name on the loop's index. */
void fc_name_index(gen *g, rg_value index, const decl *counter);
void fc_bind_counter(gen *g, decl *d, rg_value v);
void fc_loop_body(gen *g, const node *body);
/* Generates each iteration on its own, if the body subscripts pointers into different arrays with the counter (unroll.c). */
bool fc_unroll(gen *g, const loop_form *f, rg_value lo, rg_value hi);

#endif
