/* Which threads of a parallel loop can meet in an array. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_EXCLUSIVE_H
#define AD_EXCLUSIVE_H

#include "diff/activity.h"
#include "diff/bounds.h"

/* Of the elements of `buffer` that the accesses in `task` name: whether no two threads name the same.
 * With an activity, accesses that leave no trace in adjoints (loads of inactive values) do not count. */
typedef struct ad_exclusive {
    const ir_op *task;
    const ir_value *buffer;
    const char *why;         /* they may meet: for people; NULL: they do not, where the conditions hold */
    bool promised;           /* ... since subscripts of declared axes stay in their rows */
    uint32_t n;
    const poly *condition;   /* each is >= 0 */
    ir_value *flag;          /* n > 0: whether they hold, once somebody has built that */
} ad_exclusive;

/* What it points to lives in the arena. */
ad_exclusive ad_exclusive_find(const ad_activity *a, const ir_op *task, ir_value *buffer, arena *in);
/* Whether no other thread of the task reaches the element that `access` names, though two may meet in others. */
bool ad_is_own_element(const ad_activity *a, const ir_op *task, const ir_op *access);

#endif
