/* Whether a stored value may stand for loads of its element, before differentiation. SPDX-License-Identifier: Apache-2.0
 *
 * What stays in memory until the kernel ends is loaded again: then the reverse sweep finds it there, too, and nothing is recorded.
 * Stored values are not known at all where that sweep runs in a launch of its own, which is refused or not by what stays (E0530),
 * nor of an array without a plane that others have: it is an error that values go through it (E0510). */
#ifndef OPT_STORED_H
#define OPT_STORED_H

#include "opt/pass.h"

typedef struct stored {
    const pass_context *c;
    map places;           /* op -> its number in the kernel's order */
    vec(ir_op *) changes; /* of arrays */
    uintptr_t ops;
} stored;

/* of a function's body as it stands: ops may be added, but no changes of arrays */
void stored_begin(stored *s, const ir_fn *fn, const pass_context *c);
/* whether the array has all planes that other parameters have */
bool stored_has_all_planes(const stored *s, ir_value *array);
bool stored_serves(const stored *s, const ir_op *store);

#endif
