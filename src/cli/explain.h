/* The parts of rgc explain. SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "ir/ir.h"

/* who is told; text lives for the call */
typedef struct explain_adds_to {
    void (*note)(void *user, ir_loc loc, const char *text);
    void *user;
} explain_adds_to;

/* every addition to an adjoint in a gradient: plain, a worker's own sum, or atomic */
void explain_adds(const ir_fn *fn, const explain_adds_to *to);
/* how many bytes the task's threads record that begin with this tape_begin */
void explain_count(const ir_op *begin, const explain_adds_to *to);

#endif
