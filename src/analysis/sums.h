/* Arrays to which the threads of a parallel loop only add. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_SUMS_H
#define IR_SUMS_H

#include "analysis/effects.h"

enum { IR_SUMS_MAX = 32 };

/* On a GPU it pays where the task has so many operations that what it costs does not show, and so many threads in all and for each
 * cell, which are added up. */
enum { IR_SUMS_WORK = 1 << 18, IR_SUMS_THREADS = 1024, IR_SUMS_THREADS_OF_CELL = 16 };

/* A plane of a parameter or temporary: in the task it is reached by atomic additions alone. So it does not
 * matter when they are done, and each worker may add up its own. */
typedef struct ir_sum {
    const ir_value *buffer;
    unsigned plane;
} ir_sum;

/* the first IR_SUMS_MAX of them, of what a task does; returns how many */
uint32_t ir_sums_find(const ir_effects *task, ir_sum sums[IR_SUMS_MAX]);
bool ir_is_sum(const ir_op *op); /* an addition of that kind */
/* Whether it never pays on a GPU, as bounds and extents are declared: numbers that are not negative. */
bool ir_sum_never_pays(const ir_op *parallel, const ir_value *buffer);
/* threads from which on it may pay, of about so many operations each */
static inline int64_t
ir_sum_threads(int64_t work)
{
    int64_t enough = IR_SUMS_WORK / (work > 0 ? work : 1);
    return enough > IR_SUMS_THREADS ? enough : IR_SUMS_THREADS;
}

#endif
