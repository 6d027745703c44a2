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

bool ir_takes_pages(const ir_op *op);
ir_page_use ir_page_use_of(const ir_region *r);

#endif
