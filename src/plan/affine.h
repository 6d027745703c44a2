/* Numbers that are a multiple of one value and a constant. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_AFFINE_H
#define AD_AFFINE_H

#include "diff/emit.h"

/* The same number as v, of a reverse loop's body, from one recalled value, where that takes fewer operations; else v. What is
 * made stands before v. */
ir_value *ad_affine(ir_fn *fn, ir_value *v);

#endif
