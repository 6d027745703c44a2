/* The part of a loop's body that must run again so that some of its values are known.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Wanted values (roots of `live`) lead, through what they are computed from, to the loop's carried values at the start of
 * the iteration (the state), and to values from outside. A carried value that is needed makes what the body yields for it
 * needed, so that iterations can follow each other. Ifs and inner loops are parts of it with all that they need; effects
 * and the loop's own exits are not. live.there says which values need nothing. */
#ifndef IR_SLICE_H
#define IR_SLICE_H

#include "analysis/live.h"
#include "analysis/writes.h"

typedef vec(ir_value *) slice_values;

typedef struct slice {
    ir_fn *fn;
    const ir_op *loop; /* for or loop */
    arena *scratch;
    const ir_writes *writes;
    live live;
    bool *state;          /* by number of the body's parameter; a for's index is none */
    slice_values outside; /* each once, in the order of their uses */
    bool possible;        /* all that is needed gives the same once more */
} slice;

void slice_start(slice *s, ir_fn *fn, const ir_op *loop, const ir_writes *writes, arena *scratch);
/* Once the roots are in live: fills in what follows it. */
void slice_solve(slice *s);
bool slice_is_inside(const slice *s, const ir_value *v);
/* whether op gives the same results when it runs once more without the effects around it */
bool slice_runs_again(const ir_writes *writes, const ir_op *op);
bool slice_is_literal(const ir_value *v); /* a constant or a table: made again where it is needed */

/* Copies of what is live. */
typedef struct slice_copies {
    const slice *slice;
    bool all;              /* ... or of everything but asserts and prints */
    const ir_region *seen; /* what is visible there, but for local arrays, copies use as it is */
    ir_value **map;        /* by id, map_n of them: what stands for a value */
    uint32_t map_n;
    ir_region *body, *into; /* that is being made, and the region of it where ops go */
} slice_copies;

ir_value *slice_copy_of(slice_copies *c, ir_value *v); /* a zero, if nobody asks for it */
void slice_copy_op(slice_copies *c, const ir_op *op, ir_region *into);
/* those of r that are wanted, in order, but not the loop's exits */
void slice_copy_ops(slice_copies *c, const ir_region *r, ir_region *into);

#endif
