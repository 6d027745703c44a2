/* Integers that are known where the indices of loops around are. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_KNOWN_H
#define IR_KNOWN_H

#include "ir/ir.h"

/* An index of a loop that is run through, and of those around it. */
typedef struct ir_known {
    const ir_value *index;
    uint64_t bits;
    const struct ir_known *outer;
} ir_known;

/* Whether v, a number or flag that no float decides, follows from constants and these indices. */
bool ir_known_value(const ir_known *indices, const ir_value *v, uint64_t *bits);
/* how often a `for` runs */
uint64_t ir_iterations(const ir_op *loop, uint64_t lo, uint64_t hi);

#endif
