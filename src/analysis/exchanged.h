/* Arrays that a loop exchanges. SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_EXCHANGED_H
#define ANALYSIS_EXCHANGED_H

#include "ir/ir.h"

/* Whether a and b are always two arrays at one time: picked from several by numbers that a loop exchanges. */
bool ir_are_exchanged(const ir_value *a, const ir_value *b);

#endif
