/* Races that can be seen in a kernel as a front end made it. SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_RACES_H
#define ANALYSIS_RACES_H

#include "ir/ir.h"

/* E0461 for each plain store of a parallel loop at a place that does not depend on a parallel index. false: there are any. */
bool ir_check_races(const ir_fn *fn, diag_list *diags);

#endif
