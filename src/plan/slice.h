/* The part of a loop's body that computes what its reverse recalls, iteration after iteration.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What follows from the iteration's number needs nothing. What cannot be computed again (loads of what is written, what
 * atomics returned) must be kept by each iteration. */
#ifndef AD_SLICE_H
#define AD_SLICE_H

#include "analysis/slice.h"
#include "plan/recompute.h"

typedef struct ad_slice {
    slice of;
    bool *now;         /* by id: where wanted values come from in their own iteration */
    bool arrays;       /* local arrays are part of it */
    bool possible;     /* everything needed can run again */
    uint32_t ops;      /* how many ops it is */
    int32_t cost;      /* in simple operations, */
    int32_t cost_now;  /* of which so many are what wanted values come from in their own iteration */
    slice_values wanted, kept;
} ad_slice;

/* What wanted values come from, or only what the next iteration's state takes besides. */
typedef enum ad_slice_part { AD_SLICE_WANTED, AD_SLICE_NEXT } ad_slice_part;

void ad_slice_open(ad_slice *s, ir_fn *fn, const ir_op *loop, const ir_writes *writes, arena *scratch);
void ad_slice_want(ad_slice *s, ir_value *v); /* each value once */
void ad_slice_solve(ad_slice *s);
/* Appends copies of the part's ops; map leads values of the body to their copies and, beforehand, its
 * parameters, s->kept and s->of.outside to what stands for them. */
void ad_slice_copy(const ad_slice *s, ad_slice_part part, ir_value **map, ir_region *into);

#endif
