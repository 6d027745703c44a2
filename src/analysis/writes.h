/* Whether what an array holds at one place it holds at another. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_WRITES_H
#define IR_WRITES_H

#include "analysis/effects.h"

/* The kernel's writes, by the parameter or temp they go to; in the module's arena. */
typedef struct ir_writes ir_writes;
const ir_writes *ir_writes_find(ir_fn *fn);
/* Whether what a load reads can not be overwritten afterwards: no write of that plane, or only earlier ones, or of other elements
 * (access_reaches_after). Never so for adjoints: arrays may share them. The answer is kept: the load is as it was when it was first asked. */
bool ir_stands_still(const ir_writes *w, const ir_op *load);

/* Whether op, with all that it holds, changes no primal of the array. */
bool ir_leaves_alone(ir_footprints *f, const ir_op *op, const ir_value *array);
/* Whether no thread of the task has changed it when it gets to `reader`. (What other threads write, none may read.) */
bool ir_left_alone_before(ir_footprints *f, const ir_op *task, const ir_op *reader, const ir_value *array);

#endif
