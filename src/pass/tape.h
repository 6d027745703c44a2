/* The insides of lower_tape: frames and what they hold. SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_TAPE_H
#define PASS_TAPE_H

#include "ir/recall.h"
#include "pass/pass.h"

/* What one iteration of a recording loop pushes. */
typedef struct tape_frame {
    vec(ir_value *) slots;
    ir_value *start; /* the slot that holds the cursor at the iteration's start; NULL: not needed */
    uint8_t chain;   /* 1: inner loops are unwound one after the other, last to first; 2: not so */
} tape_frame;

typedef struct tape {
    ir_fn *fn;
    map frames;   /* recording op -> tape_frame */
    map lifted;
    map owners;   /* recall -> the unwind that holds its frame, found while traces still stand */
    map makers;   /* unwind or rewinding parallel -> the op that made its trace */
    map moving;   /* op -> (void *)1: moves the cursor, 2: does not */
    map begins;   /* region of a thread, kernel or loop -> its first cursor */
    map order;    /* op -> its number in the text, from 1 */
    map spent;    /* op that moves the cursor -> see tape_spent_by */
    vec(ir_op *) recalls;
    vec(ir_op *) unwinds; /* and rewinding parallels */
    vec(ir_steps) ways;   /* of each recall: out of the regions it must leave */
    ir_value **replace;   /* by id: a recall's result -> the popped value */
} tape;

tape_frame *tape_frame_of(tape *t, const ir_op *maker);
ir_op *tape_maker(tape *t, const ir_op *unwind);
/* whether frames come or go where op runs: a forward loop that pushes, or an op around one */
bool tape_moves(tape *t, const ir_op *op);
bool tape_region_moves(tape *t, const ir_region *r);
bool tape_pushes(tape *t, const ir_op *maker);
/* whether this unwind starts where the one before it ended (or where its owner's frame began) */
bool tape_in_chain(tape *t, const ir_op *unwind);
bool tape_is_chain(tape *t, const ir_op *maker);

/* The op of op's own region after which nobody takes back frames that op leaves, so that the cursor returns to
 * where it was before op; NULL: somebody outside of the region does. */
const ir_op *tape_spent_by(tape *t, const ir_op *op);

uintptr_t tape_number(const tape *t, const ir_op *op); /* in its region, in order, once spent_by was asked */

/* finds all slots; afterwards recalls are of values in a recording body, or gone */
void tape_find_slots(tape *t);

/* a push or pop of maker's frame before `at`; return the cursor after it */
ir_value *tape_push(tape *t, const ir_op *maker, ir_value *cursor, ir_op *at);
/* recalls under `by` become what is popped; *start receives the popped start cursor, if there is one */
ir_value *tape_pop(tape *t, const ir_op *maker, ir_op *by, ir_value *cursor, ir_op *at, ir_value **start);

static inline ir_op *
tape_op(tape *t, rg_op code, ir_op *before)
{
    ir_op *op = ir_op_new(t->fn, code, 0, 0, before->loc);
    ir_insert_before(before, op);
    return op;
}

#endif
