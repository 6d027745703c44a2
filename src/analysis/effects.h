/* What an op does: which memory it reads and writes, and whether its place among others matters.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Passes that move ops ask here. ir_effects describes the ops that there are before lower_tape: those of the tape are ordered by
 * their cursors. */
#ifndef IR_EFFECTS_H
#define IR_EFFECTS_H

#include "ir/ir.h"

/* -- which buffer a value is ---------------------------------------------------------------------------------- */

/* Calls `each` for every parameter or temp that buffer value b may be: picked, recalled, carried out of an if or a loop. What
 * a loop carries into its body is its own root, and unknown: it may be any. */
typedef void ir_root_fn(ir_value *root, void *user);
void ir_buffer_roots(ir_value *b, ir_root_fn *each, void *user);
bool ir_root_known(const ir_value *root);
/* Whether the primals of a and b may be one memory. Parameters are apart (a launch sees to that where one is written),
 * and so are temps made at different places. */
bool ir_may_be_same(const ir_value *a, const ir_value *b);
/* whether b's memory is a temp's, or may be: such buffers can be recalled */
bool ir_is_temp(const ir_value *b);

/* The planes of a temp's memory that op reaches, a bit for each: whole arrays go onto the tape and come back by their primals. */
uint8_t ir_planes_reached(const ir_op *op, const ir_value *temp);

/* -- effects ----------------------------------------------------------------------------------------------------- */

/* what is done to one plane of one buffer; adds: atomic or plain additions whose result is not used */
typedef struct ir_access {
    const ir_value *buffer;
    uint8_t plane;
    bool reads, writes, adds;
} ir_access;

typedef struct ir_effects {
    vec(ir_access) at;
    bool order; /* prints, asserts, or calls what may */
    bool tape;  /* leaves frames of threads on the workers' tapes, or takes them back: last in, first out */
} ir_effects;

/* whether op, or some op that it holds, prints, asserts, or calls what may */
bool ir_is_ordered(ir_op *op);
/* adds those of op, and of all that its regions hold */
void ir_effects_add(ir_effects *e, ir_op *op);
void ir_effects_clear(ir_effects *e);
void ir_effects_free(ir_effects *e);
/* Whether some access of one and some access of the other do not commute. Adjoints of two arrays may be one memory: a
 * launch may let arrays share them. */
bool ir_effects_meet(const ir_effects *a, const ir_effects *b);
/* Whether the order of the two matters at all. */
bool ir_effects_ordered(const ir_effects *a, const ir_effects *b);

#endif
