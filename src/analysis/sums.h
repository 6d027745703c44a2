/* Arrays to which the threads of a parallel loop only add. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_SUMS_H
#define IR_SUMS_H

#include "analysis/effects.h"

enum { IR_SUMS_MAX = 32 };

/* A plane of a parameter or temporary: in the task it is reached by atomic additions alone. So it does not
 * matter when they are done, and each worker may add up its own. */
typedef struct ir_sum {
    const ir_value *buffer;
    unsigned plane;
} ir_sum;

/* the first IR_SUMS_MAX of them, of what a task does; returns how many */
uint32_t ir_sums_find(const ir_effects *task, ir_sum sums[IR_SUMS_MAX]);
bool ir_is_sum(const ir_op *op); /* an addition of that kind */

#endif
