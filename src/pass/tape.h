/* What lowering to a tape keeps in mind. SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_TAPE_H
#define PASS_TAPE_H

#include "ir/recall.h"

/* What one iteration of a recording op leaves on the tape, and the cursors around it. */
typedef struct frame {
    vec(ir_value *) slots;
    bool pushes;     /* itself or something inside it */
    bool partial;    /* what the last, partial iteration pushes is unwound as well */
    ir_value *start; /* the cursor when an iteration (or thread) begins; valid inside the body */
    ir_value *full;  /* the cursor behind the last full iteration; in the op's own region */
} frame;

/* A cursor that a reverse sweep cannot know from the pops before it. */
typedef struct wanted {
    ir_op *unwind;    /* which starts there; NULL: where an iteration of `maker` begins */
    ir_op *maker;
    vec(ir_op *) lifts; /* ifs and loops that carry it outwards, innermost first */
    size_t lifted;    /* how many of them do so already */
    ir_op *owner;     /* whose frames hold it; NULL: it can be seen */
    ir_value *value;  /* in the forward sweep, as far as it is lifted */
    ir_value *popped; /* in the reverse sweep that is being threaded */
} wanted;

typedef struct tape {
    ir_fn *fn;
    map frames;  /* recording op -> frame */
    map lifted;
    map owners;  /* recall -> the unwind that holds its frame, found while traces still stand */
    map asked;   /* recall -> what it recalled before that was lifted */
    map moving;  /* op -> (void *)1: moves the cursor, 2: does not */
    map kept;    /* loops out of which an inner loop's trace is recalled */
    map balance; /* unwind or rewinding op -> (void *)1: pops all that was pushed, 2: does not */
    vec(wanted *) wanted;
    vec(ir_op *) recalls;
    ir_value **replace; /* by id: a recall's result -> the popped value */
    uint32_t replace_n;
} tape;

frame *tape_frame(tape *t, const ir_op *maker);
/* whether anything below a recording op is pushed */
bool tape_pushes(tape *t, const ir_op *maker);
/* whether the cursor behind op is another one than before it */
bool tape_moves(tape *t, const ir_op *op);
/* whether r holds ops that need a cursor at all */
bool tape_needed(tape *t, const ir_region *r);

/* Finds the loops that leave frames of a partial iteration; stands before all else. */
void tape_find_kept(tape *t);
/* Finds the cursors that must be kept (tape_balance.c). */
void tape_find_wanted(tape *t);
bool tape_is_balanced(tape *t, const ir_op *reverse);
/* the entry for this unwind, or (unwind NULL) for the start of the maker's iterations; NULL: none */
wanted *tape_wanted(tape *t, const ir_op *unwind, const ir_op *maker);

#endif
