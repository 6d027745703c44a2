/* Accesses that go along a row: with each iteration of their loop by one element. SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_ROWS_H
#define ANALYSIS_ROWS_H

#include "analysis/effects.h"

/* By how much an integer grows while the index of the loop (for, unwind) grows by one, if that is 0 or 1; as a subscript, whose
 * signed sums do not wrap. */
bool rows_step(const ir_op *loop, const ir_value *v, int *by);
/* Where a launch's sizes decide whether threads are apart, an update is an if with a plain and an atomic one. The plain one, where op
 * is such an if in the loop's body and its condition is known before; else op. */
const ir_op *rows_plain(const ir_op *loop, const ir_op *op);
/* Whether op is an access that stands in the loop's body itself, or rows_plain of what does, in each iteration at the neighbour of
 * the element of the iteration before, masked (if at all) by lanes that are the same in all. */
bool rows_goes_along(const ir_op *loop, const ir_op *op);
/* Whether what such an access does in some iterations may be done at once, with all that accesses of the same elements do there:
 * what is read before them, what is written and added behind them. */
bool rows_may_wait(ir_footprints *f, const ir_op *loop, const ir_op *access);

#endif
