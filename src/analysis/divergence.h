/* What differs between threads that run side by side, as successive indices of a parallel loop do.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_DIVERGENCE_H
#define IR_DIVERGENCE_H

#include "ir/ir.h"

/* How a value differs between successive threads, from no difference to any. */
typedef enum ir_shape_kind {
    IR_UNSEEN, /* not looked at yet, or from outside: the same */
    IR_SAME,
    IR_STEP, /* an integer: a thread's is `stride` more than that of the thread before */
    IR_ANY
} ir_shape_kind;

typedef enum ir_shape_wrap {
    WRAPS_NOT, /* the steps are exact, as those of the loop's own index */
    WRAPS,     /* modulo the type's width */
    WRAPPED    /* ... before it was widened: good for a subscript, as what wrapped would be negative */
} ir_shape_wrap;

typedef struct ir_shape {
    uint8_t kind, wrap;
    bool rows; /* IR_ANY: but often the same in all threads of a group, as i / n is */
    int64_t stride;
} ir_shape;

/* What is known of a for, loop or unwind. */
typedef struct ir_loop_divergence {
    bool varies;  /* threads run it differently often */
    bool partial; /* its last, partial iterations are undone in its unwind (said by whoever asks) */
} ir_loop_divergence;

typedef struct ir_divergence {
    arena *in;
    uint32_t known;   /* ids below have shapes */
    ir_shape *shapes; /* by id */
    map loops;        /* op -> ir_loop_divergence */
    bool changed;
} ir_divergence;

/* Nothing differs yet, but what is set: a value by so much from one thread to the next; 0: by anything. */
ir_divergence ir_divergence_of(const ir_fn *fn, arena *a);
void ir_divergence_set(ir_divergence *g, const ir_value *v, int64_t stride);
/* Finds what follows in a parallel loop's body, or a function's. To be repeated until it returns false: nothing changed. */
bool ir_divergence_grow(ir_divergence *g, const ir_region *r);

ir_shape ir_shape_of(const ir_divergence *g, const ir_value *v);
bool ir_is_uniform(const ir_divergence *g, const ir_value *v); /* the same in all threads */
ir_loop_divergence *ir_loop_divergence_of(ir_divergence *g, const ir_op *op);

/* how many subscripts an access to memory has; whether all threads touch one element, or often do, or successive ones */
uint32_t ir_subscripts(const ir_op *op);
bool ir_is_uniform_access(const ir_divergence *g, const ir_op *op);
bool ir_is_often_uniform_access(const ir_divergence *g, const ir_op *op);
bool ir_is_successive_access(const ir_divergence *g, const ir_op *op);

/* Of what a thread runs, by its form alone: whether all threads run each of its loops equally often. */
bool ir_is_even(ir_region *thread);

#endif
