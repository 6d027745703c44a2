/* Values that change by a constant from one iteration to the next. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_INDUCTION_H
#define IR_INDUCTION_H

#include "ir/ir.h"

/* Whether `param`, a parameter of the loop's (for, loop, parallel) body, is an integer that starts at
 * *start and grows by *step (wrapping) with every iteration. A parallel's index counts by 1. */
bool ir_is_induction(const ir_op *loop, const ir_value *param, ir_value **start, uint64_t *step);

/* An integer as c + sum of coefficient * symbol; symbols are values that were not taken apart. */
enum { IR_AFFINE_TERMS = 8 };
typedef struct ir_affine {
    int64_t constant;
    unsigned n;
    struct {
        const ir_value *symbol;
        int64_t coefficient;
    } term[IR_AFFINE_TERMS];
    bool known; /* false: too many terms */
} ir_affine;

ir_affine ir_affine_of(const ir_value *v);
ir_affine ir_affine_minus(ir_affine a, ir_affine b);

#endif
