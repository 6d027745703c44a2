/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MATH_RARE_H
#define MATH_RARE_H

#include "ir/ir.h"

/* Where lanes choose between what a slow path gives and what they had, the choice moves to the slow path. */
void math_choose_in_slow_paths(ir_fn *fn, arena *scratch);

#endif
