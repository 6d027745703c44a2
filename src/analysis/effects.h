/* What an op does: which memory it reads and writes, and whether its place among others matters.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Passes that move, drop or repeat ops ask here. Memory is asked for by array: access.h tells elements of one array apart.
 *
 * Two parameters are two arrays in every plane: a launch takes one array for both only if the kernel writes to neither. Then
 * all that is done to their adjoints is to add, and additions commute. */
#ifndef IR_EFFECTS_H
#define IR_EFFECTS_H

#include "ir/ir.h"

/* -- which buffer a value is ---------------------------------------------------------------------------------- */

/* Calls `each` for every parameter or temp that buffer value b may be: picked, recalled, carried out of an if, a loop or a segment. A
 * temp that a segment yields is named by the segment's result. What a loop carries into its body is its own root, and unknown: it may be
 * any. */
typedef void ir_root_fn(ir_value *root, void *user);
void ir_buffer_roots(ir_value *b, ir_root_fn *each, void *user);
bool ir_root_known(const ir_value *root);
/* Whether a and b may be one array. Temps made at different places are two. */
bool ir_may_be_same(const ir_value *a, const ir_value *b);
/* whether b's memory is a temp's, or may be: such buffers can be recalled */
bool ir_is_temp(const ir_value *b);

/* -- what one op does ------------------------------------------------------------------------------------------ */

/* Bits. adds: an addition whose result nobody gets; writes: any other change; plain: a change that is not atomic;
 * chosen: the buffer is one of several */
enum { IR_READS = 1, IR_WRITES = 2, IR_ADDS = 4, IR_CHANGES = IR_WRITES | IR_ADDS, IR_PLAIN = 8, IR_CHOSEN = 16 };

/* loads, stores, updates: ops that name elements by operands 1 to rank */
static inline bool
ir_is_access(const ir_op *op)
{
    return ir_ops[op->code].flags & IR_ACCESS;
}
/* what an access does to its elements; 0: op is none */
unsigned ir_access_does(const ir_op *op);
static inline bool
ir_is_add(const ir_op *op)
{
    return ir_access_does(op) & IR_ADDS;
}

/* whether it accesses memory that each thread has for itself */
bool ir_is_own(const ir_op *op);

/* whether it changes elements of a slot, its first operand */
bool ir_changes_slot(const ir_op *op);

/* Calls `each` for every plane of every buffer that op itself reaches, whatever its regions hold: an access, a call, a copy
 * of a whole array. */
typedef void ir_reach_fn(ir_value *buffer, unsigned plane, unsigned does, void *user);
void ir_each_reached(const ir_op *op, ir_reach_fn *each, void *user);
/* what op itself does to that plane of what may be the buffer */
unsigned ir_does_to(const ir_op *op, const ir_value *buffer, unsigned plane);
/* whether what is done to one element may be done in any order */
bool ir_commute(unsigned a, unsigned b);
/* Whether accesses a and b do not commute, if they meet in an element. */
bool ir_access_conflict(const ir_op *a, const ir_op *b);

/* -- what an op does with all that it holds ---------------------------------------------------------------------- */

/* a temp that was recorded and comes back from the tape */
extern const ir_value ir_some_temp;

/* what is done to one plane of one array */
typedef struct ir_effect {
    const ir_value *root; /* a parameter or temp; ir_some_temp; NULL: any */
    uint8_t plane, beside, does;
    uint64_t directions;  /* a bit for each */
} ir_effect;

typedef struct ir_effects {
    vec(ir_effect) at;
    bool order;  /* prints, asserts, or calls what may */
    bool hears;  /* reads atomically: what other threads have written besides is there to be read behind it */
    bool guards; /* ends a thread or leaves a loop, or calls what may: what stands behind may be wrong before */
} ir_effects;

/* of all that a region holds, in the arena */
ir_effects ir_effects_of(const ir_region *r, arena *a);
void ir_effects_join(ir_effects *e, const ir_effects *more);
/* what is done to that plane of what may be the buffer */
unsigned ir_effects_on(const ir_effects *e, const ir_value *buffer, unsigned plane);
/* the planes of what may be the buffer that are reached, a bit for each */
uint8_t ir_effects_planes(const ir_effects *e, const ir_value *buffer);
/* whether something of a and something of b do not commute in memory */
bool ir_effects_conflict(const ir_effects *a, const ir_effects *b);

/* The effects of ops, each found once; in an arena. They stay true, if not exact, while ops move within what holds them, or go. */
typedef struct ir_footprints {
    arena *in;
    map of;
} ir_footprints;

ir_footprints ir_footprints_in(arena *a);
const ir_effects *ir_footprint(ir_footprints *f, const ir_op *op);

#endif
