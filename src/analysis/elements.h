/* Which elements of arrays two accesses of one thread name. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_ELEMENTS_H
#define IR_ELEMENTS_H

#include "ir/ir.h"

/* whether op is a load, store or rmw */
bool elements_is_access(const ir_op *op);
/* Whether both accesses name the same elements, in the same lanes. */
bool elements_same(const ir_op *a, const ir_op *b);
/* Whether a thread may touch with one what it touches with the other. Threads of a task are told apart by nobody: what
 * one of them writes to, others do not touch. */
bool elements_may_meet(const ir_op *a, const ir_op *b);

#endif
