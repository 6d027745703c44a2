/* The part of a loop's body that must run again so that its frames can be recorded again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_TAPE_SLICE_H
#define PASS_TAPE_SLICE_H

#include "analysis/slice.h"
#include "tape/tape.h"

typedef struct tape_slice {
    tape *t;
    ir_op *loop;
    const ir_op *unwind;
    slice of; /* what frames and carried values need */
    tape_segments *segments;
    const ir_writes *writes;
} tape_slice;

/* Fills in the segments' state and env; false if something cannot be had again. */
bool tape_slice_find(tape_slice *s);
/* The same where everything runs again, on copies of the arrays (tape_arrays.c): all that the loop carries. */
bool tape_slice_all(tape_slice *s);

#endif
