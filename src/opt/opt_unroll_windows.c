/* Loops whose iterations add to overlapping neighbours run several at a time. SPDX-License-Identifier: Apache-2.0
 *
 *   for %k = 0 to %taps step 1 {                   for %r = 0 to %runs step 1 {
 *     %at = add %i, %k                               rmw.add.successive.adj %x[%i + 4 %r], %v0
 *     rmw.add.successive.adj %x[%at], %v     ->      rmw.add.successive.adj %x[%i + 4 %r + 1], %v1
 *   }                                                ...
 *                                                  }
 *                                                  for %k = %whole to %taps step 1 { as before }
 *
 * Code generation makes one addition of them (codegen/llvm/windows.c). A loop of few iterations, as many as are known, goes. In
 * threads without lanes it is left to LLVM, which makes vectors of its iterations. */
#include "analysis/integers.h"
#include "analysis/rows.h"
#include "opt/edit.h"
#include "opt/pass.h"
#include "opt/several.h"

/* iterations of a loop that goes; at a time of one that stays; ops of them */
enum { ALL = 8, SOME = 4, MOST_OPS = 400 };

/* the lanes of op, if it adds in each iteration to the neighbours of what it has added to in the one before; else 0 */
static unsigned
lanes_that_overlap(const ir_op *loop, const ir_op *op)
{
    int by;
    if (!ir_is_add(op) || op->plane == RG_PRIMAL || !op->successive || !ir_is_float(ir_dtype(op->args[op->nargs - 1 - op->masked])))
        return 0;
    uint32_t rank = op->args[0]->type.rank;
    for (uint32_t k = 1; k <= rank; k++)
        if (!rows_step(loop, op->args[k], &by) || by != (k == rank))
            return 0;
    unsigned lanes = 0;
    for (uint32_t k = 0; k < op->nargs; k++)
        lanes = op->args[k]->type.lanes > lanes ? op->args[k]->type.lanes : lanes;
    return lanes;
}

typedef struct measure {
    const ir_op *loop;
    uint32_t ops;
    unsigned lanes; /* of additions that overlap: the fewest; 0: there are none */
} measure;

static bool
measure_iteration(ir_op *op, void *user)
{
    measure *m = user;
    unsigned lanes = op->parent->op == m->loop ? lanes_that_overlap(m->loop, op) : 0;
    m->ops += op->code != RG_OP_CONST;
    m->lanes = lanes && (!m->lanes || lanes < m->lanes) ? lanes : m->lanes;
    return several_may_repeat(op);
}

/* how often a for between constants runs; 0: it is none */
static uint64_t
constant_length(const ir_op *loop)
{
    uint64_t lo, hi;
    bool known = ir_is_const(loop->args[0], &lo) && ir_is_const(loop->args[1], &hi);
    return known && (loop->attr.step == 1 || loop->attr.step == -1) ? ir_iterations(loop, lo, hi) : 0;
}

static void
unroll_window(edit *e, ir_op *loop)
{
    measure m = {.loop = loop};
    if (loop->code != RG_OP_FOR || !ir_walk(loop->regions[0], measure_iteration, &m) || !m.lanes)
        return;
    uint64_t all = constant_length(loop);
    if (all && all <= ALL && all <= m.lanes && all * m.ops <= MOST_OPS)
        several_run_all(e, loop, (uint32_t)all);
    else if (SOME <= m.lanes && SOME * m.ops <= MOST_OPS && (!all || all > SOME) && several_can_be_counted(loop))
        several_run(e, loop, SOME);
}

static void
unroll_windows_in(edit *e, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        edit_operands(e, op);
        for (uint32_t i = 0; i < op->nregions; i++)
            unroll_windows_in(e, op->regions[i]);
        unroll_window(e, op);
    }
}

bool
opt_unroll_windows(ir_module *m, pass_context *c)
{
    return !m->target->warp && edit_kernels(m, c->scratch, unroll_windows_in);
}
