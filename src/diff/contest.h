/* Atomic min, max and mul of array elements by many threads: which update an element's final value came
 * from, what product its factors made. SPDX-License-Identifier: Apache-2.0
 *
 * Found by sweeps (sweep.h): parallel loops that run what leads to the updates again, and look at each. A contest
 * is an array, or a buffer picked of several, and a kind of update; buffers shaped like the array hold what is found:
 *
 *   min, max   final[e]   the element after the task
 *              first[e]   number of threads - number of the first thread that wrote the final value; 0: none
 *              ties[e]    how many of that thread's updates wrote it
 *   mul        product[e] product of the factors that are not 0
 *              zeros[e]   how many factors are 0
 *              nought[e]  the sum of those factors: 0, but it has a tangent
 *              old[e]     the element before the task */
#ifndef AD_CONTEST_H
#define AD_CONTEST_H

#include "diff/activity.h"
#include "diff/reduce.h"

typedef struct ad_contest {
    ir_value *buffer; /* the array, where the sweeps stand */
    rg_rmw op;
    ir_value *final, *first, *ties;
    ir_value *product, *zeros, *nought, *old;
} ad_contest;

/* Whether op is such an update. */
bool ad_is_contest(const ir_op *op);

/* Whether the updates of `task`, which is in `from`, have derivatives: what they update is not, in the same task,
 * written or (where that matters) read in another way, unless constant subscripts are apart. false: they have
 * not, which was said. a: both ways. */
bool ad_contests_agree(const ir_fn *from, const ir_op *task, const ad_activity *a, diag_list *diags);
/* the same of one other access and the updates of one contest, in one run of `region` */
bool ad_contest_lets(const ir_fn *from, const ir_op *task, const ir_value *array, rg_rmw kind, const ir_op *access,
                     const ir_region *region, diag_list *diags);

/* Makes the buffers of a contest where the builder stands (kernel level). */
void ad_contest_open(rg_builder *b, ad_contest *c);
/* A copy of the array's elements as they are where the builder stands. */
void ad_contest_keep(rg_builder *b, ir_value *array, ir_value **kept);

/* In a sweep: turns update `op` of contest c into a look at it; `key` is this thread's (threads - number).
 * round 0 finds first, or product and zeros; round 1 finds ties. op stays. */
void ad_contest_look(ir_fn *fn, const ad_contest *c, ir_op *op, ir_value *key, unsigned round);

/* Whether this thread's value v is a winning one. index: of the element. */
ir_value *ad_contest_won(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, ir_value *v,
                         ir_value *key);
/* Product of the old value and all factors of an element but v, in dtype. */
ir_value *ad_contest_others(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index,
                            ir_value *v, rg_dtype dtype);
/* Product of all factors of an element (0 where one is 0), in dtype. */
ir_value *ad_contest_factors(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index,
                             rg_dtype dtype);

/* opens a parallel loop over all elements of a buffer; rg_build_end closes it */
void ad_each_element(rg_builder *b, ir_value *buffer, ir_value **index);
/* this thread's key */
ir_value *ad_contest_key(rg_builder *b, const ad_domain *d, ir_value *const *index);

#endif
