/* What the opt_ passes share: replacement that is visible at once, and surgery on regions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pass walks a function from top to bottom, so that an operand's definition is visited before its
 * uses (recalls included: the forward sweep stands before the reverse one). Operands are brought up
 * to date with edit_operands() when their op is reached; edit_finish() does it for all that is
 * left. */
#ifndef PASS_EDIT_H
#define PASS_EDIT_H

#include "ir/emit.h"

typedef struct edit {
    ir_fn *fn;
    arena *scratch; /* lent: a pass context's */
    ir_value **map;    /* by id: what a value was replaced by, or NULL */
    uint8_t *recalled; /* by id: some recall asks for the value */
    uint32_t size;     /* of both */
    bool changed;
} edit;

void edit_start(edit *e, ir_fn *fn, arena *scratch);
bool edit_finish(edit *e); /* whether anything changed */

/* `change` for the body of each kernel, each with an edit of its own; whether anything changed */
bool edit_kernels(ir_module *m, arena *scratch, void (*change)(edit *e, ir_region *body));

/* all uses of `from` become uses of `to`; a recall of one becomes a recall of the other */
void edit_replace(edit *e, ir_value *from, ir_value *to);
ir_value *edit_now(const edit *e, ir_value *v);
void edit_operands(const edit *e, ir_op *op);
bool edit_is_recalled(const edit *e, const ir_value *v);
/* brings the operands of all that r holds up to date */
void edit_region(edit *e, ir_region *r);
/* whether some value defined inside r is recalled: then r must not be deleted yet */
bool edit_any_recalled(const edit *e, const ir_region *r);

/* a constant before `at`, without lanes */
ir_value *edit_const(edit *e, ir_op *at, ir_type type, uint64_t bits);
/* v, or in all lanes where `type` has some, before `at` */
ir_value *edit_in_lanes(edit *e, ir_op *at, ir_type type, ir_value *v);
/* a scalar op of up to three operands before `at`, its result of `type`, with the lanes of the operands */
ir_value *edit_scalar(edit *e, ir_op *at, rg_op code, ir_type type, ir_value *x, ir_value *y,
                      ir_value *z);
/* An if before `at`, whose first arm is taken where the for runs at all; the yields of both arms, without operands. */
ir_op *edit_if_runs(edit *e, const ir_op *loop, ir_op *at, ir_op **then, ir_op **otherwise);
/* whether v is in scope in the region of `at` */
bool edit_visible(const ir_value *v, const ir_op *at);
/* whether a number inside of `at` can be computed before it, by few ops; the number there, copies of what it is made of */
bool edit_can_stand_before(const ir_value *v, const ir_op *at);
ir_value *edit_number_before(edit *e, ir_op *at, ir_value *v);

/* removal of one operand, result, parameter; those behind it move up */
void edit_drop_arg(ir_op *op, uint32_t k);
void edit_drop_result(ir_op *op, uint32_t k);
void edit_drop_param(ir_region *r, uint32_t k);
/* moves r's ops, from the first up to `end` (excluded; NULL: all but the yield), before `at`;
 * returns the first one moved, or `at` */
ir_op *edit_splice(ir_op *at, ir_region *r, const ir_op *end);
/* Copies an iteration of a loop before `at`: what its body begins with, up to `last` (NULL: nothing). map (by id) gets the
 * copies' values, `carried` becomes what the iteration yields; returns the first copy, or `at`. */
ir_op *edit_copy_iteration(edit *e, const ir_op *loop, ir_op *at, const ir_op *last, ir_value *index, ir_value **carried,
                           ir_value **map);

#endif
