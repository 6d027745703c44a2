/* What an iteration computes that can be computed again when it is reversed, and what that costs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_RECOMPUTE_H
#define AD_RECOMPUTE_H

#include "diff/ad.h"
#include "analysis/cost.h"
#include "analysis/writes.h"

typedef enum ad_how {
    AD_NOT,       /* carried values, loads that do not stand still, results of effects and regions (but see arms.h) */
    AD_FREE,      /* constants; a thread's index */
    AD_INDUCTION, /* follows from the iteration's number */
    AD_OP         /* from its operands */
} ad_how;

/* v: a value of owner's body; owner: a loop or a parallel that records */
ad_how ad_recomputable(const ir_op *owner, const ir_value *v, const ir_writes *writes);

/* Recalls that only branches part from their values, which are cheap there, become those; whether there were any. */
bool ad_branches(ir_fn *fn, arena *scratch);

/* Whether a loop that records so many bytes an iteration has its frames with the thread, and not on a warp's tape: there they are read
 * and written about as fast as by a CPU. */
bool ad_frames_are_own(const ir_op *loop, uint64_t bytes);

/* in simple operations of one lane */
int32_t ad_cost_of_recording(ir_type type); /* where the tape stays in a cache; elsewhere target.recording times that */
/* of a cosine beside a sine of the same operand, or the other way round. (In f32 both together take as
 * long as one of them, but longer until the first is there, and loops that carry it wait for that.) */
int32_t ad_cost_of_pair(const ir_op *op);

#endif
