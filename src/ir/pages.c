/* When the threads of a task ask for pages of tape. SPDX-License-Identifier: Apache-2.0 */
#include "ir/pages.h"

bool
ir_takes_pages(const ir_op *op)
{
    return (op->code == RG_OP_TAPE_PUSH && !op->decided) || (op->code == RG_OP_TAPE_BEGIN && op->nargs) ||
           op->code == RG_OP_TAPE_ROOM || op->code == RG_OP_TAPE_SAVE || op->code == RG_OP_TAPE_TASKS;
}

static bool
has_effect(const ir_op *op)
{
    return op->code == RG_OP_STORE || op->code == RG_OP_RMW || op->code == RG_OP_PRINT;
}

ir_page_use
ir_page_use_of(const ir_region *r)
{
    ir_page_use use = {0};
    ir_for_ops(op, r)
    {
        use.late |= use.effects && ir_takes_pages(op);
        use.pages |= ir_takes_pages(op);
        use.room |= op->code == RG_OP_TAPE_ROOM;
        use.effects |= has_effect(op);
        for (uint32_t i = 0; i < op->nregions; i++) {
            ir_page_use inner = ir_page_use_of(op->regions[i]);
            bool again = op->code != RG_OP_IF && inner.effects;
            use.late |= inner.late || ((use.effects || again) && inner.pages);
            use.pages |= inner.pages;
            use.room |= inner.room;
            use.effects |= inner.effects;
        }
    }
    return use;
}
