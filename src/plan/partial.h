/* What is recalled of a loop's partial last iteration. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_PARTIAL_H
#define AD_PARTIAL_H

#include "analysis/writes.h"

/* Recalls outside of any unwind become recalls of the loops' results, or of what is computed from them. Whether there were
 * any. */
bool ad_lift_partial(ir_fn *fn, const ir_writes *writes, arena *scratch);

#endif
