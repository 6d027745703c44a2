/* An op that is the same in every iteration moves before the loop. SPDX-License-Identifier: Apache-2.0
 *
 *   for %t = .. {                                  %w: f64 = load %weights[%two]
 *     %w: f64 = load %weights[%two]        ->      for %t = .. {
 *     ..                                             ..
 *   }                                              }
 *
 * For derivatives this is more than a saving: the adjoint of the value is then summed in a register (over the threads of a
 * parallel loop: in a reduction) and added to memory once.
 *
 * A load moves if nothing in the loop writes its element, and if it runs at least once anyway or its indices are provably
 * inside the array's extents. Floating-point ops move only where they run anyway: in a loop that never runs they contribute
 * exactly 0, and 0 times an infinite derivative is not 0. From a parallel loop only loads move, and not many: each becomes
 * an argument of the task. */
#include "analysis/effects.h"
#include "analysis/access.h"
#include "analysis/integers.h"
#include "opt/edit.h"
#include "opt/pass.h"

enum { TASK_LOADS = 32 };

typedef struct hoist {
    edit edit;
    ir_footprints footprints;
    ir_op *loop;     /* out of which ops move now */
    uint32_t budget; /* loads that may still leave it */
} hoist;

/* -- indices inside their extents -----------------------------------------------------------------
 */

static bool
is_in_bounds(const ir_value *index, const ir_value *extent)
{
    int64_t step;
    const ir_value *lo, *hi;
    range r = range_of(index);
    if (r.min >= 0 && r.max < range_of(extent).min)
        return true;
    return ir_is_counted(ir_without_widening(index), &lo, &hi, &step) && step > 0 && range_of(lo).min >= 0 &&
           ir_same_number(hi, extent);
}

static bool
is_safe(const ir_op *load)
{
    for (uint32_t k = 1; k < load->nargs; k++) {
        const ir_value *extent = ir_declared_extent(load->args[0], k - 1);
        if (!extent || !is_in_bounds(load->args[k], extent))
            return false;
    }
    return load->args[0]->def == NULL;
}

/* -- what may move --------------------------------------------------------------------------------
 */

static bool
operands_outside(const hoist *h, const ir_op *op)
{
    for (uint32_t k = 0; k < op->nargs; k++)
        if (!edit_visible(op->args[k], h->loop) && !ir_is_const(op->args[k], NULL))
            return false;
    return true;
}

static bool
may_move(hoist *h, ir_op *op, bool runs_anyway)
{
    bool task = h->loop->code == RG_OP_PARALLEL;
    switch (op->code) {
    case RG_OP_LOAD:
        return h->budget && (runs_anyway || (!op->results[0]->type.lanes && is_safe(op))) &&
               access_stands(&h->footprints, op, h->loop);
    case RG_OP_EXTRACT:
        return runs_anyway && !task;
    case RG_OP_CONST:
    case RG_OP_ARRAY:
    case RG_OP_TABLE:
    case RG_OP_COPY:
    case RG_OP_INSERT:
    case RG_OP_RECALL:
        return false; /* constants are made again where they are needed */
    default:
        if (!(ir_ops[op->code].flags & IR_PURE) || task || op->results[0]->type.kind != IR_SCALAR)
            return false;
        return runs_anyway || !ir_is_float((rg_dtype)op->results[0]->type.dtype);
    }
}

static void
hoist_op(hoist *h, ir_op *op)
{
    h->budget -= op->code == RG_OP_LOAD;
    h->edit.changed = true;
    for (uint32_t k = 0; k < op->nargs; k++) {
        uint64_t bits;
        if (!edit_visible(op->args[k], h->loop) && ir_is_const(op->args[k], &bits))
            op->args[k] = edit_const(&h->edit, h->loop, op->args[k]->type, bits);
    }
    ir_remove(op);
    ir_insert_before(h->loop, op);
}

/* -- the walk -------------------------------------------------------------------------------------
 */

/* Loads from the arms of ifs move if they are safe; nothing else does. */
static void
empty_branch(hoist *h, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(&h->edit, op);
        if (op->code == RG_OP_IF) {
            empty_branch(h, op->regions[0]);
            empty_branch(h, op->regions[1]);
        } else if (op->code == RG_OP_LOAD && operands_outside(h, op) && may_move(h, op, false)) {
            hoist_op(h, op);
        }
    }
}

static void
empty_loop(hoist *h)
{
    bool runs_anyway = ir_runs_at_once(h->loop);
    h->budget = h->loop->code == RG_OP_PARALLEL ? TASK_LOADS : UINT32_MAX;
    for (ir_op *op = h->loop->regions[0]->first, *next; op; op = next) {
        next = op->next;
        bool guards = ir_footprint(&h->footprints, op)->guards;
        edit_operands(&h->edit, op);
        if (op->code == RG_OP_IF) {
            empty_branch(h, op->regions[0]);
            empty_branch(h, op->regions[1]);
        } else if (operands_outside(h, op) && may_move(h, op, runs_anyway))
            hoist_op(h, op);
        if (guards) /* behind an assert subscripts may be good that are not before it */
            runs_anyway = false;
    }
}

static void
hoist_region(hoist *h, ir_region *r)
{
    for (ir_op *op = r->first; op; op = op->next) {
        edit_operands(&h->edit, op);
        for (uint32_t k = 0; k < op->nregions; k++)
            hoist_region(h, op->regions[k]);
        bool loop = ir_is_loop(op) || op->code == RG_OP_PARALLEL;
        if (loop && !op->records && !op->rewinds) {
            h->loop = op;
            empty_loop(h);
        }
    }
}

bool
opt_hoist(ir_module *m, pass_context *c)
{
    bool changed = false;
    for (ir_fn *fn = m->first; fn; fn = fn->next) {
        hoist h = {.footprints = ir_footprints_in(c->scratch)};
        edit_start(&h.edit, fn, c->scratch);
        hoist_region(&h, fn->body);
        changed |= edit_finish(&h.edit);
    }
    return changed;
}
