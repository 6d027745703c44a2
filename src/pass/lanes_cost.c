/* How many threads a group has: what lanes save against what they cost. SPDX-License-Identifier: Apache-2.0 */
#include "pass/lanes.h"

unsigned
lanes_choose(lanes *l, const ir_op *parallel)
{
    unsigned asked = l->fn->module->lanes;
    l->width = asked ? asked : 1;
    if (l->width > 1)
        lanes_check(l, parallel->regions[0]);
    return l->refused ? 1 : l->width;
}
