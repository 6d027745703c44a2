/* Loops at the last stage that become straight code, or run several iterations at a time. SPDX-License-Identifier: Apache-2.0 */
#ifndef OPT_SEVERAL_H
#define OPT_SEVERAL_H

#include "opt/edit.h"

/* what may be done several times in a row: it makes no value that a later iteration cannot make again */
bool several_may_repeat(const ir_op *op);
/* whether a for's length is a number of the index's type */
bool several_can_be_counted(const ir_op *loop);
/* n iterations at a time, a power of 2; the loop stays, for what is left */
void several_run(edit *e, ir_op *loop, uint32_t n);
/* all `count` iterations of a for from a constant by 1 or -1: the loop goes */
void several_run_all(edit *e, ir_op *loop, uint32_t count);

#endif
