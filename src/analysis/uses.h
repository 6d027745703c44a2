/* How often values are used. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_USES_H
#define IR_USES_H

#include "ir/ir.h"

/* uses of each value of fn, by id, recalls included; of next_id entries, in the arena */
uint32_t *ir_count_uses(arena *a, const ir_fn *fn);
/* uses of v by op and what it holds, by what stands in a region */
uint32_t ir_uses_by(const ir_op *op, const ir_value *v);
uint32_t ir_uses_in(const ir_region *r, const ir_value *v);

#endif
