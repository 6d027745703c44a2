/* Whether two accesses of an array name different elements. SPDX-License-Identifier: Apache-2.0 */
#ifndef AD_APART_H
#define AD_APART_H

#include "ir/ir.h"

/* Accesses are loads, stores and rmws of what may be one buffer, or calls that read it. */

/* Whether `write` can change the element that `load` read, after it was read; places: op -> its number in the
 * order of the kernel, or NULL. */
bool ad_reaches_after(const ir_op *load, const ir_op *write, const map *places);
/* Whether subscripts keep a and b apart whenever they run while `region`, which holds both, is run through once:
 * they differ by a constant, and are the same for all threads and iterations. */
bool ad_always_apart(const ir_op *a, const ir_op *b, const ir_region *region);
/* Whether the element that one thread of `task` names by a is none that another thread names by b. */
bool ad_apart_in_threads(const ir_op *a, const ir_op *b, const ir_op *task);

#endif
