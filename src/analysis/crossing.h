/* Races between iterations that are certain. SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_CROSSING_H
#define ANALYSIS_CROSSING_H

#include "ir/ir.h"

/* E0513 for each load in a parallel loop of an element that surely another thread of it changes: its value depends on who comes first,
 * and so does any derivative. Of parameters with active[i] (NULL: of all) that are floats. false: there are any. */
bool ir_check_crossing(const ir_fn *fn, const bool *active, diag_list *diags);

#endif
