/* What is known of an integer's value. SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_RANGE_H
#define PASS_RANGE_H

#include "ir/ir.h"

__extension__ typedef __int128 wide;
typedef struct range {
    wide min, max;
} range;

range range_of_type(rg_dtype d);
range range_of(const ir_value *v);
/* whether it is an unsigned number of so many bits */
static inline bool
range_fits(const ir_value *v, unsigned bits)
{
    range r = range_of(v);
    return r.min >= 0 && r.max < (wide)1 << bits;
}

#endif
