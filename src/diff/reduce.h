/* Reductions by min, max and product: who won, what the others made. SPDX-License-Identifier: Apache-2.0
 *
 * A sum's derivative needs nothing but the sum's adjoint. For the others each thread's contribution is
 * kept in a temporary buffer over the loop's domain, and a second parallel loop looks at all of them. */
#ifndef AD_REDUCE_H
#define AD_REDUCE_H

#include "diff/emit.h"

/* The domain of a parallel loop as it can be had where the builder stands. */
typedef struct ad_domain {
    uint32_t rank;
    ir_value *lo[RG_MAX_RANK], *hi[RG_MAX_RANK];
} ad_domain;

/* Makes `task` (of fn) keep `value`, a scalar of its body, for every thread: a temp before the task, a
 * store at the body's end. The buffer is indexed from 0 on each axis. */
ir_value *ad_keep(ir_fn *fn, ir_op *task, ir_value *value);
/* A thread's contribution, read inside a parallel loop over the same domain. */
ir_value *ad_kept(rg_builder *b, const ad_domain *d, ir_value *kept, ir_value *const *index);
/* The thread's indices, counted from 0 on each axis. */
void ad_from_zero(rg_builder *b, const ad_domain *d, ir_value *const *index, ir_value **at);
/* Row-major number of the thread (i64). */
ir_value *ad_thread_number(rg_builder *b, const ad_domain *d, ir_value *const *index);

typedef struct ad_reduction {
    rg_rmw op;
    ir_value *winner;          /* min, max: number of the first thread whose value is the result; none: -1 */
    /* mul: product of the factors that are not 0; how many are 0 (i64); the sum of those that are 0,
     * which is 0 but has a tangent */
    ir_value *product, *zeros, *nought;
} ad_reduction;

/* Looks at all contributions (and, for products, the initial value). */
ad_reduction ad_reduce_look(rg_builder *b, const ad_domain *d, rg_rmw op, ir_value *kept,
                            ir_value *result, ir_value *initial);
/* The product of all factors but v (v NULL: of all), in dtype; right to first order where factors are 0. */
ir_value *ad_product_of_others(rg_builder *b, const ad_reduction *r, ir_value *v, rg_dtype dtype);
/* What of g (an adjoint or tangent) passes between the result and one contribution: thread number
 * `thread` (-1: the initial value) with value v. g has the adjoint type of v. */
ir_value *ad_reduce_share(rg_builder *b, const ad_reduction *r, ir_value *thread, ir_value *v, ir_value *g);

#endif
