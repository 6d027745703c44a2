/* Where values go that control hands on. SPDX-License-Identifier: Apache-2.0
 *
 *   init  -> parameter       of a for, loop, unwind       init  -> result     of a for, unwind, parallel (no iteration runs)
 *   yield -> parameter       of the same                  yield -> result     of an if, for, unwind, parallel
 *                                                         exit  -> result     of a loop
 */
#ifndef IR_EDGES_H
#define IR_EDGES_H

#include "ir/ir.h"

/* Operands that are the op's own: conditions, bounds, traces, counts; of an op that hands nothing on, and of a function's
 * last yield, all. Those behind them are handed on. */
uint32_t ir_own_operands(const ir_op *op);
/* the first parameter of the op's region that is carried; their number if none is */
uint32_t ir_first_carried(const ir_op *op);
/* What operand i of an op, yield or exit_if is handed on to: the parameter in a loop, else the result. NULL: to nothing. */
ir_value *ir_handed_to(const ir_op *op, uint32_t i);

/* for (ir_source s = {0}; ir_next_source(v, &s);): what a parameter or result may be; nothing for all other values */
typedef struct ir_source {
    ir_value *value;
    ir_op *by;   /* the op itself, a yield or an exit_if, */
    uint32_t at; /* its operand */
    uint32_t number;
} ir_source;
bool ir_next_source(const ir_value *to, ir_source *s);

/* for (ir_edge e = {0}; ir_next_edge(op, &e);): all edges to the op's parameters, then to its results */
typedef struct ir_edge {
    ir_value *to;
    ir_source from;
    uint32_t next;
} ir_edge;
bool ir_next_edge(const ir_op *op, ir_edge *e);

/* a loop's first exit, or the one behind that given; NULL: there is none */
ir_op *ir_next_exit(const ir_op *loop, const ir_op *exit);
#define ir_for_exits(exit, loop) for (ir_op *exit = NULL; (exit = ir_next_exit(loop, exit));)

/* Operand i of a yield or exit_if is where it goes already, if parameters and results that are one variable share a place: it is the
 * parameter of a loop that goes on unchanged, or that every exit gives for the same result and for no other one. */
bool ir_stays_in_place(const ir_op *op, uint32_t i);

/* At IR_STAGE_SEGMENTS: whether an exit_if is a loop's first step and its condition what the loop carries, anew in each iteration: then
 * what stands before the loop and at the end of its body has just handed it on. */
bool ir_asks_first(const ir_op *exit);

#endif
