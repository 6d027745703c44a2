/* Arrays that functions read, kept for the reverse of their calls. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_HOLD_H
#define AD_HOLD_H

#include "ir/ir.h"

/* The first write that may overwrite, after the call, what its function read of the array, but for writes that the reverse
 * undoes (ad_options.put_back); NULL: there is none. */
const ir_op *ad_overwritten_after(const ir_fn *fn, const ir_op *call, const ir_value *array, const map *put_back);

#endif
