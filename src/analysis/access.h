/* Whether two accesses of memory meet in an element. SPDX-License-Identifier: Apache-2.0
 *
 * effects.h tells arrays apart, this their elements. */
#ifndef IR_ACCESS_H
#define IR_ACCESS_H

#include "analysis/effects.h"

/* -- in one thread ------------------------------------------------------------------------------------------------ */

/* Whether both accesses name the same elements, in the same lanes. */
bool access_same(const ir_op *a, const ir_op *b);
/* Whether both are accesses of one array, and b's last subscript is a's and a constant, which *distance gets, the others the same. */
bool access_in_one_row(const ir_op *a, const ir_op *b, int64_t *distance);
/* Whether an access may stand on the other side of op: nothing that op does to the access's elements conflicts with it, and op
 * ends no thread, so that the access takes place, and its subscripts are good, on either side. */
bool access_passes(ir_footprints *f, const ir_op *access, const ir_op *op);
/* Whether an element that an access names holds behind op what it held before. */
bool access_stands(ir_footprints *f, const ir_op *access, const ir_op *op);

/* -- in loops and between threads ---------------------------------------------------------------------------------- */

/* Accesses are loads, stores and rmws of what may be one buffer, or calls that read it. */

/* Whether `write` can change the element that `load` read, after it was read; places: op -> its number in the
 * order of the kernel, or NULL. */
bool access_reaches_after(const ir_op *load, const ir_op *write, const map *places);
/* Whether `b` can reach, in another thread of the task around both, the element that `a` names. */
bool access_meets_other_thread(const ir_op *a, const ir_op *b, const ir_op *task);
/* Whether subscripts keep a and b apart whenever they run while `region`, which holds both, is run through once:
 * they differ by a constant, and are the same for all threads and iterations. */
bool access_always_apart(const ir_op *a, const ir_op *b, const ir_region *region);

#endif
