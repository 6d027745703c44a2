/* Which values and ops are used. SPDX-License-Identifier: Apache-2.0
 *
 * An op is live if it is a root, has a live result or holds a live op; a carried value if its result or
 * its parameter is. Loops without effects are assumed to end. A value that is recalled is used. */
#ifndef PASS_LIVE_H
#define PASS_LIVE_H

#include "ir/ir.h"

typedef struct live {
    uint8_t *values; /* by id */
    map ops;         /* live ops */
    vec(ir_value *) todo;
    const ir_region *within; /* values from outside are marked and not looked into; NULL: all are */
    bool (*there)(void *user, ir_value *v); /* the same of values for which it is true; NULL: there are none */
    void *user;
} live;

void live_start(live *l, const ir_fn *fn, arena *scratch);
/* roots; live_spread then finds all that they need */
void live_value(live *l, ir_value *v);
void live_op(live *l, ir_op *op);
void live_spread(live *l);
bool live_has_op(const live *l, const ir_op *op);

#endif
