/* Short loops over local arrays become their iterations, where derivatives are made. SPDX-License-Identifier: Apache-2.0
 *
 *   for %i = 0 to 3 step 1 {                 %a = slot_load %w[0]
 *     %a = slot_load %w[%i]                  ... (uses of %a)
 *     ... (uses of %a)              ->       %b = slot_load %w[1]
 *   }                                        ... (uses of %b)
 *
 * A local array whose subscripts are all known is in registers; else it is in memory. What opt_unroll has left for its size,
 * because a thread would keep the values of all iterations for the reverse sweep, and reverse loops become straight code
 * here: at the last stage nothing is kept any more. */
#include "analysis/integers.h"
#include "opt/edit.h"
#include "opt/pass.h"
#include "opt/several.h"

/* iterations; operations of all of them, and of all loops: they have to stay in a cache of instructions */
enum { MOST = 32, MOST_OPS = 1024, MOST_GROWTH = 4096, SUBSCRIPT_DEPTH = 4 };

typedef struct slot_unrolling {
    edit edit;
    uint32_t grown;
} slot_unrolling;

typedef struct measure {
    const ir_value *index;
    const target *machine;
    uint32_t ops;
    bool slots, stays;
} measure;

static bool
follows_from_index(const ir_value *v, const ir_value *index, unsigned depth)
{
    if (v == index)
        return true;
    for (uint32_t k = 0; depth && v->def && ir_is_arithmetic(v->def) && k < v->def->nargs; k++)
        if (follows_from_index(v->def->args[k], index, depth - 1))
            return true;
    return false;
}

/* Integers are subscripts, most of which will be known. */
static bool
measure_slot_use(ir_op *op, void *user)
{
    measure *m = user;
    bool slot = op->code == RG_OP_SLOT_LOAD || op->code == RG_OP_SLOT_STORE;
    bool number = op->nresults && !ir_is_float((rg_dtype)op->results[0]->type.dtype);
    m->slots |= slot && follows_from_index(op->args[1], m->index, SUBSCRIPT_DEPTH);
    m->stays |= !several_may_repeat(op) && op->code != RG_OP_IF && op->code != RG_OP_EXTRACT;
    if (op->code != RG_OP_YIELD && !number)
        m->ops += ir_ops[op->code].flags & IR_FUNCTION ? (uint32_t)m->machine->function : 1;
    return !m->stays;
}

/* 0: it stays */
static uint32_t
slot_iterations(slot_unrolling *u, const ir_op *loop)
{
    int64_t step = loop->attr.step;
    if (loop->code != RG_OP_FOR || (step != 1 && step != -1))
        return 0;
    range lo = range_of(loop->args[0]), hi = range_of(loop->args[1]);
    if (lo.min != lo.max || hi.min != hi.max || lo.min < -MOST || lo.max > MOST || hi.min < -MOST || hi.max > MOST ||
        (hi.min - lo.min) * step < 1)
        return 0;
    uint32_t count = (uint32_t)((hi.min - lo.min) * step);
    measure m = {.index = loop->regions[0]->params[0], .machine = u->edit.fn->module->target};
    ir_walk(loop->regions[0], measure_slot_use, &m);
    uint32_t all = m.ops * count;
    if (!m.slots || m.stays || count > MOST || all > MOST_OPS || u->grown + all > MOST_GROWTH)
        return 0;
    u->grown += all;
    return count;
}

static void
unroll_slots_in(slot_unrolling *u, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(&u->edit, op);
        for (uint32_t i = 0; i < op->nregions; i++)
            unroll_slots_in(u, op->regions[i]);
        uint32_t count = slot_iterations(u, op);
        if (count)
            several_run_all(&u->edit, op, count);
    }
}

bool
opt_unroll_slots(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        slot_unrolling u = {0};
        if (!fn->kernel)
            continue;
        edit_start(&u.edit, fn, c->scratch);
        unroll_slots_in(&u, fn->body);
        changed |= edit_finish(&u.edit);
    }
    return changed;
}
