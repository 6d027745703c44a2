/* Sums of a warp's lanes that need not be formed where they stand. SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of parameters are additions to an element that all lanes share, of the sum of what each of them has. Nothing
 * in the task sees such an element, so additions that follow one another in straight code may be put off until it ends, and
 * their sums be formed together. */
#ifndef IR_LATE_H
#define IR_LATE_H

#include "ir/ir.h"

/* Whether it does not matter when, and by whom, the task adds there. */
typedef bool ir_no_order(void *user, const ir_op *op);

/* Of a task's body. */
typedef struct ir_late {
    const ir_region *body;
    ir_no_order *no_order;
    void *user;
    const bool *formed; /* by id of a value: a sum of lanes that is formed with others */
} ir_late;

/* What a lane adds. */
typedef struct ir_share {
    const ir_value *value, *mask; /* mask: lanes that have any; NULL: all */
} ir_share;

ir_late ir_late_find(const ir_region *body, ir_no_order *no_order, void *user, arena *in);
/* an addition that is put off; its value, a sum of lanes, is formed then */
bool ir_is_late(const ir_late *late, const ir_op *op);
/* Of one that is: what each lane has. Lanes that take no part have the identity, which is left to the mask. */
ir_share ir_share_of(const ir_op *op);
/* whether something else is added to the same element before sums are formed anyway */
bool ir_meets_again(const ir_late *late, const ir_op *op);
/* Loops take a long time, and leaving one skips what stands behind: what was put off is added before them, and where a region ends. */
bool ir_ends_late(const ir_op *op);

#endif
