/* rgc explain: how many bytes the threads of a task record. SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain.h"
#include "ahead/expression.h"

void
explain_count(const ir_op *begin, listing *to)
{
    const ir_op *task = begin->parent->op;
    if (!task || task->code != RG_OP_PARALLEL || task->rewinds)
        return;
    str count = {.in = mem_scratch()};
    bool simple = begin->nargs && expression_write(&count, begin->args[0]);
    bool groups = task->regions[0]->nparams > task->attr.rank;
    const char *each = groups ? "group of iterations" : "iteration";
    if (simple)
        listing_note(to, task->loc, "tape: %s%s bytes per %s", begin->one_page ? "at most " : "", count.ptr, each);
    else
        listing_note(to, task->loc, "tape: bytes per %s are %s", each,
                     begin->nargs ? "counted before it begins" : "found as it runs");
}
