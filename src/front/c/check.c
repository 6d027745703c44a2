/* Races that can be seen: plain stores in a parallel loop at places that do not depend on a parallel
 * index. Works on the finished IR, where inlining, rows and moved pointers are plain values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "front/c/gen.h"

#include "ir/ir.h"

void
fc_check_races(gen *g, ir_fn *fn, diag_list *diags)
{
}
