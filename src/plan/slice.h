/* The part of a loop's body that must run again so that some of its values are known.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Wanted values lead, through what they are computed from, to the loop's carried values at the start of
 * the iteration (the state), to what follows from the iteration's number, and to values from outside.
 * A carried value that is needed makes what the body yields for it needed, so that iterations can follow
 * each other. Ifs and inner loops are parts of it with all that they need; effects and exits are not. What
 * cannot be computed again (loads of what is written, what atomics returned) must be kept by each iteration. */
#ifndef AD_SLICE_H
#define AD_SLICE_H

#include "plan/recompute.h"

typedef vec(ir_value *) ad_values;

typedef struct ad_slice {
    ir_fn *fn;
    const ir_op *loop; /* for or loop */
    const ir_writes *writes;
    bool *needed;      /* by id: values of the body */
    bool *is_kept;     /* by id */
    bool *early;       /* by id, of ops at the body's top level: wanted values come from these */
    bool *state;       /* by number of the body's parameter */
    bool arrays;       /* local arrays are part of it */
    bool possible;     /* everything needed can run again */
    uint32_t ops;      /* how many ops it is */
    int32_t cost;      /* in simple operations */
    ad_values wanted, kept, todo, outside;
    bool *marks;       /* needed, is_kept, early: of `room` ids each; kept from slice to slice, since a kernel */
    size_t room;       /* may have many loops */
    vec(size_t) marked;
} ad_slice;

/* What wanted values come from, or only what the next iteration's state takes besides. */
typedef enum ad_slice_part { AD_SLICE_WANTED, AD_SLICE_NEXT } ad_slice_part;

/* s: all-zero, or of another loop */
void ad_slice_open(ad_slice *s, ir_fn *fn, const ir_op *loop, const ir_writes *writes);
void ad_slice_want(ad_slice *s, ir_value *v); /* each value once */
void ad_slice_solve(ad_slice *s);
void ad_slice_free(void *slice);
/* Appends copies of the part's ops; map leads values of the body to their copies and, beforehand, its
 * parameters, s->kept and s->outside to what stands for them. */
void ad_slice_copy(const ad_slice *s, ad_slice_part part, ir_value **map, ir_region *into);

#endif
