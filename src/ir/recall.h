/* How a recall reaches its value. SPDX-License-Identifier: Apache-2.0
 *
 * Between a recalled value's region and the first region that the recall can see lie ops: ifs, and
 * loops that record. A loop among them is *unwound* if the recall stands in an unwind (for a parallel:
 * in the parallel that rewinds it). */
#ifndef IR_RECALL_H
#define IR_RECALL_H

#include "ir/emit.h"

typedef struct ir_step {
    ir_op *op;
    ir_op *unwound_by; /* the unwind or rewinding parallel; NULL: none */
} ir_step;

typedef vec(ir_step) ir_steps;

/* The op that made a trace, through recalls of it. */
ir_op *ir_trace_maker(const ir_value *trace);
/* Steps from the innermost (the op whose region holds v) outwards; none where v is visible. */
void ir_recall_steps(const ir_op *recall, ir_steps *steps);
/* whether all steps are ifs */
bool ir_recall_leaves_branches(const ir_op *recall);
/* The op that records v for this recall: the first unwound step with only ifs before it; NULL: none. */
ir_op *ir_recall_owner(const ir_op *recall, ir_op **unwound_by);

/* Gives `through`, whose region holds v, one more result: v as it was when the region was left; zero
 * where v was not reached (a float that an if yields anyway: what the other arm yields). `through` is an
 * if, or a loop left by its exits. Memoised in `done`. */
ir_value *ir_lift(ir_fn *fn, ir_value *v, ir_op *through, map *done);
/* The same with a result that is nothing but v: zero wherever v was not reached. */
ir_value *ir_lift_apart(ir_fn *fn, ir_value *v, ir_op *through, map *done);
/* The result of an if that is v, of one of its arms, where that arm ran; NULL: there is none. */
ir_value *ir_yielded_as(const ir_value *v, const ir_op *branch);

/* Appends a result to an op; a trace stays the last one. */
ir_value *ir_op_result_before_trace(ir_fn *fn, ir_op *op, ir_type type, const char *name);
/* A zero of the type (an array of zeros, a buffer without elements), before `at`. */
ir_value *ir_zero_before(ir_fn *fn, ir_op *at, ir_type type);

/* A recall of what can be seen is that value: such recalls go, where opt_fold does not come before those who ask. */
void ir_see_through_recalls(ir_fn *fn, arena *scratch);

#endif
