/* Which elements of arrays two accesses of one thread name. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_ELEMENTS_H
#define IR_ELEMENTS_H

#include "analysis/effects.h"

/* Whether both accesses name the same elements, in the same lanes. */
bool elements_same(const ir_op *a, const ir_op *b);
/* Whether a thread may touch with one what it touches with the other. Threads of a task are told apart by nobody: what
 * one of them writes to, others do not touch. */
bool elements_may_meet(const ir_op *a, const ir_op *b);
/* Whether an access may stand on the other side of op: nothing that op does to the access's elements conflicts with it, and op
 * ends no thread, so that the access takes place, and its subscripts are good, on either side. */
bool elements_pass(ir_footprints *f, const ir_op *access, const ir_op *op);

#endif
