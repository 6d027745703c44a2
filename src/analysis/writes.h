/* Whether what was loaded still stands in memory when the kernel ends. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_WRITES_H
#define IR_WRITES_H

#include "analysis/effects.h"

/* The kernel's writes, by the parameter or temp they go to; in the module's arena. */
typedef struct ir_writes ir_writes;
const ir_writes *ir_writes_find(ir_fn *fn);
/* Whether what a load reads can not be overwritten afterwards: no write of that plane, or only earlier ones
 * of the kernel's straight line. Never so for adjoints: arrays may share them. */
bool ir_stands_still(const ir_writes *w, const ir_op *load);

#endif
