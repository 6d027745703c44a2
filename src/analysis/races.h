/* Races that can be seen in a kernel as a front end made it. SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_RACES_H
#define ANALYSIS_RACES_H

#include "ir/ir.h"

/* Calls `each` for each plain store of a parallel loop at a place that does not depend on the parallel index of that axis. */
typedef void ir_race_fn(const ir_op *store, ir_op *parallel, uint32_t axis, void *user);
void ir_each_race(const ir_fn *fn, ir_race_fn *each, void *user);
/* E0461 for each of them in fn. false: there are any. */
bool ir_check_races(const ir_fn *fn, diag_list *diags);

#endif
