/* Atomic min, max and mul of array elements by many threads: which update an element's final value came from, what
 * product its factors made. SPDX-License-Identifier: Apache-2.0
 *
 * A contest: the atomic min, max or mul updates that the threads of one task make to one array, or to a buffer picked of
 * several. Each thread enters its updates while it runs, beside them; nothing runs again. Buffers shaped like the array hold the
 * contest's state:
 *
 *   min, max   best[e]     the best value so far, as bits of an f64: what the array held, then what a thread updated with
 *              first[e]    the key of the update that it came from, of equal ones the first; 0: of none, or a thread is
 *                          changing the two
 *              taken[e]    1: a thread is changing the two
 *   mul        product[e]  product of the factors that are not 0
 *              zeros[e]    how many factors are 0
 *              nought[e]   the sum of those factors: 0, but it has a tangent
 *              old[e]      the element before the task
 *     in jvp   slopes[e]   sum of tangent / factor over the factors that are not 0
 *              rises[e]    sum of the tangents of those that are 0
 *              mixed[e]    sum of factor * tangent over those: 0, but it has a tangent
 *
 * A key says where an update stands in the order of threads, and in the order of its thread: the earlier, the larger.
 * Who wins is the largest key of those with the best value, whatever order threads run in. Two words change together, so a
 * thread takes the element while it does so; it only tries if its update would win. An update that has entered is known
 * again by its key, where the task is reversed. */
#ifndef AD_CONTEST_H
#define AD_CONTEST_H

#include "diff/activity.h"
#include "diff/reduce.h"

typedef struct ad_contest {
    ir_value *array; /* in the function that is differentiated */
    rg_rmw op;
    ir_value *best, *first, *taken;
    ir_value *product, *zeros, *nought, *old;
    ir_value *slopes, *rises, *mixed;
} ad_contest;

typedef vec(ad_contest) ad_contest_list;

/* What orders the updates of a task. */
typedef struct ad_order {
    ad_domain domain;
    ir_value *threads, *stride; /* a thread has `stride` keys */
    ir_value *turns;            /* how many updates each thread has made; NULL: their numbers in the text order them */
} ad_order;

/* An update of array[index...] with a value, which is entered behind it. */
typedef struct ad_entry {
    ir_value *array;
    uint32_t n;
    ir_value *const *index;
    ir_value *value, *key;
    ir_value *tangent; /* the value's, in jvp, of which `plane` of the array holds those; NULL: none */
    unsigned plane;
} ad_entry;

/* Whether op is such an update. */
bool ad_is_contest(const ir_op *op);

/* Whether the updates of `task`, which is in `from`, have derivatives: what they update is not, in the same task,
 * written or (where that matters) read in another way, unless constant subscripts are apart; and, with `stands`, not
 * written after the task. false: they have not, which was said. a: both ways. */
bool ad_contests_agree(const ir_fn *from, const ir_op *task, const ad_activity *a, bool stands, diag_list *diags);

/* the number of update `op` among those of the task; turns: they are made again and again, so it says nothing */
uint32_t ad_contest_number(const ir_op *task, const ir_op *op);
bool ad_contests_take_turns(const ir_op *task);

/* Where the builder stands (kernel level): what orders a task's updates, and the buffers of a contest for `buffer`. */
ad_order ad_order_open(rg_builder *b, const ad_domain *d, bool turns);
void ad_contest_open(rg_builder *b, ad_contest *c, ir_value *buffer, bool tangents);
/* In the thread of these indices: a number for the update that stands here; and its key. */
ir_value *ad_order_turn(rg_builder *b, const ad_order *o, ir_value *const *index, uint32_t number);
ir_value *ad_order_key(rg_builder *b, const ad_order *o, ir_value *const *index, ir_value *turn);
void ad_contest_enter(rg_builder *b, const ad_contest *c, const ad_entry *e);

/* After the task. Product of the old value and all factors of an element but v, in dtype; of all factors; and the tangent
 * of the element whose tangent was t. */
ir_value *ad_contest_others(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index,
                            ir_value *v, rg_dtype dtype);
ir_value *ad_contest_factors(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index,
                             rg_dtype dtype);
ir_value *ad_contest_tangent(rg_builder *b, const ad_contest *c, uint32_t n, ir_value *const *index, ir_value *t);

/* opens a parallel loop over all elements of a buffer; rg_build_end closes it */
void ad_each_element(rg_builder *b, ir_value *buffer, ir_value **index);

#endif
