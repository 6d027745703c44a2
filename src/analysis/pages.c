/* When the threads of a task ask for pages of tape. SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pages.h"

#include "analysis/effects.h"

typedef struct sizes {
    unsigned least, most; /* of fields, in bytes */
} sizes;

/* whether they are numbers, one for each lane */
static bool
are_numbers(ir_value *const *values, uint32_t n, sizes *all)
{
    for (uint32_t i = 0; i < n; i++) {
        ir_type t = values[i]->type;
        unsigned size = ir_bytes((rg_dtype)t.dtype);
        if (t.kind != IR_SCALAR || t.lanes != values[i]->region->fn->module->target->warp || t.dtype == RG_BOOL || size < 4)
            return false;
        all->least = size < all->least ? size : all->least;
        all->most = size > all->most ? size : all->most;
    }
    return true;
}

static bool
is_plain_frame(ir_op *op, void *user)
{
    if (op->code == RG_OP_TAPE_PUSH)
        return op->in_page && are_numbers(op->args + 1, op->nargs - 1, user);
    if (op->code == RG_OP_TAPE_POP)
        return op->in_page && are_numbers(op->results + 1, op->nresults - 1, user);
    return op->code == RG_OP_TAPE_BEGIN || !ir_is_tape_op(op);
}

bool
ir_tape_is_own(const ir_op *begin, ir_own_tape *own)
{
    ir_region *thread = begin->parent;
    const ir_op *task = thread->op;
    sizes all = {.least = 8};
    uint64_t bytes;
    const target *machine = thread->fn->module->target;
    if (!machine->warp || !begin->one_page || !begin->nargs || !ir_is_const(begin->args[0], &bytes) ||
        bytes > (uint64_t)machine->warp * machine->own_tape || !task || task->code != RG_OP_PARALLEL || task->records || task->rewinds ||
        !ir_walk(thread, is_plain_frame, &all))
        return false;
    own->unit = all.most;
    own->bytes = (uint32_t)bytes / machine->warp * (all.least < all.most ? 2 : 1);
    return all.most && own->bytes <= machine->own_tape;
}

static bool
is_no_pop(ir_op *op, void *user)
{
    (void)user;
    return op->code != RG_OP_TAPE_POP && op->code != RG_OP_TAPE_RESTORE;
}

/* whether something has been popped when r ends, if so where it begins or not */
static bool
mark_behind_pops(const ir_region *r, bool popped, bool *behind)
{
    ir_for_ops (op, r) {
        bool after = popped;
        if (op->code == RG_OP_TAPE_PUSH && popped)
            behind[op->results[0]->id] = true;
        popped |= !is_no_pop(op, NULL);
        for (uint32_t i = 0; i < op->nregions; i++) {
            bool repeats = op->code != RG_OP_IF && !ir_walk(op->regions[i], is_no_pop, NULL);
            after |= mark_behind_pops(op->regions[i], popped || repeats, behind);
        }
        popped |= after;
    }
    return popped;
}

const bool *
ir_pushes_behind_pops(const ir_region *thread, arena *in)
{
    bool *behind = arena_new_n(in, bool, thread->fn->next_id);
    (void)mark_behind_pops(thread, false, behind);
    return behind;
}

bool
ir_takes_pages(const ir_op *op)
{
    ir_own_tape own;
    return (op->code == RG_OP_TAPE_PUSH && !op->in_page) ||
           (op->code == RG_OP_TAPE_BEGIN && op->nargs && !ir_tape_is_own(op, &own)) ||
           op->code == RG_OP_TAPE_ROOM || op->code == RG_OP_TAPE_SAVE || op->code == RG_OP_TAPE_TASKS;
}

static bool
changes_or_prints(const ir_op *op)
{
    return ir_access_does(op) & IR_CHANGES || op->code == RG_OP_PRINT;
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
        use.effects |= changes_or_prints(op);
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
