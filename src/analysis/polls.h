/* Which loops ask whether their launch is to end. SPDX-License-Identifier: Apache-2.0
 *
 * Between two looks a thread, or a warp, runs at most some 2^16 (2^12) operations, whatever the trip counts turn out to be:
 *
 *     loop                       trips                           looks
 *     for, loop                  known to be few enough          never
 *     for, parallel: long body   any                             in each iteration
 *     for, parallel: short body  any                             after each strip of so many iterations as are long
 *     loop (while)               unknown                         in each iteration */
#ifndef IR_POLLS_H
#define IR_POLLS_H

#include "ir/ir.h"

typedef struct ir_polls {
    bool each;     /* a look in each iteration, */
    int64_t strip; /* or after so many; 0: never */
    int64_t most;  /* operations without a look, of the loop and what is in it */
} ir_polls;

/* as a task counts that a region holds: it looks by itself */
enum { IR_POLLS_TASK = 1 << 16 };

int64_t ir_work(const ir_region *r); /* about its operations; a loop of unknown length counts for 16 iterations */
ir_polls ir_polls_of(const ir_op *loop, bool in_warp);
int64_t ir_most_unpolled(const ir_region *r, bool in_warp); /* operations from one look to the next */

#endif
