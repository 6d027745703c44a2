/* When the threads of a task ask for pages of tape. SPDX-License-Identifier: Apache-2.0 */
#ifndef IR_PAGES_H
#define IR_PAGES_H

#include "ir/ir.h"

/* of a region's ops, in the order of the program */
typedef struct ir_page_use {
    bool effects; /* what others see */
    bool pages;   /* pages are asked for ... */
    bool late;    /* ... also after an effect: then a thread that finds none cannot begin anew */
    bool room;    /* some make do with the room there is, and ask for little after effects */
} ir_page_use;

/* Of a tape_begin: whether each thread of a GPU has its frames in memory of its own, so that there are no pages to ask for. Its
 * multiprocessor's cache holds that until it is read again, where what goes to a page is written to memory. */
typedef struct ir_own_tape {
    uint32_t bytes, unit; /* at most; each field takes unit, the size of the largest */
} ir_own_tape;
bool ir_tape_is_own(const ir_op *begin, ir_own_tape *own);
/* Of a thread's frames, by the id of a push's first result: whether a frame may have been popped before the push, so that lanes which
 * are ahead would write over what others have still to read. */
const bool *ir_pushes_behind_pops(const ir_region *thread, arena *in);
bool ir_takes_pages(const ir_op *op);
ir_page_use ir_page_use_of(const ir_region *r);

#endif
