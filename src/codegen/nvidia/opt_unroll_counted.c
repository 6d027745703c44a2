/* Short counted loops run several iterations at a time, where that lets a warp wait once for what these wait for.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   for %k = %lo to %hi step 1 {            for %r = 0 to %runs step 1 { %k = %lo + 8 %r
 *     ...                                     ...  rmw.add.atomic %w[%k], %s
 *     %s = lanes_reduce.add %v                ...  rmw.add.atomic %w[%k + 1], %s1
 *     rmw.add.atomic %w[%k], %s       ->      ...
 *   }                                       }
 *                                           for %k = %whole to %hi step 1 { as before }
 *
 * A sum is five exchanges between lanes, each of which waits for the one before. Several in straight code are formed
 * together, one exchange for each (codegen/llvm/simt_sums.c). And a short loop that only loads and computes waits for its
 * loads in each iteration; several iterations' may go out at once (opt_early_loads). At the last stage: nothing but code
 * generation follows. */
#include "analysis/effects.h"
#include "opt/edit.h"
#include "opt/pass.h"
#include "opt/several.h"

/* sums that are enough to be formed together; ops of all iterations; iterations that load, and their ops */
enum { ENOUGH = 8, MOST_OPS = 320, LOADING = 4, LOADING_OPS = 24 };

static bool
adds_sum(const ir_op *op)
{
    if (ir_access_does(op) != IR_ADDS || op->masked)
        return false;
    const ir_op *sum = op->args[op->nargs - 1]->def;
    return sum && sum->code == RG_OP_LANES_REDUCE && sum->rmw == RG_RMW_ADD && sum->parent == op->parent;
}

typedef struct measure {
    const ir_region *body;
    uint32_t ops, sums, loads;
    bool computes; /* and does nothing else but load */
} measure;

static bool
measure_op(ir_op *op, void *user)
{
    measure *m = user;
    m->ops += op->code != RG_OP_CONST;
    m->sums += op->parent == m->body && adds_sum(op);
    m->loads += op->code == RG_OP_LOAD;
    m->computes &= (ir_is_arithmetic(op) && !(ir_ops[op->code].flags & IR_FUNCTION)) || op->code == RG_OP_LOAD ||
                   op->code == RG_OP_YIELD;
    return several_may_repeat(op);
}

static bool
is_in_task(const ir_op *loop)
{
    const ir_op *op = loop;
    while (op && op->code != RG_OP_PARALLEL)
        op = op->parent->op;
    return op != NULL;
}

static bool
is_counted_now(const ir_op *loop)
{
    return ir_is_const(loop->args[0], NULL) && ir_is_const(loop->args[1], NULL);
}

/* how many iterations at a time, a power of 2 */
static uint32_t
iterations_at_once(const ir_op *loop)
{
    measure m = {.computes = true};
    uint32_t n = 1;
    if (loop->code != RG_OP_FOR)
        return 1;
    m.body = loop->regions[0];
    if (!ir_walk(loop->regions[0], measure_op, &m))
        return 1;
    if (m.loads && m.computes && m.ops <= LOADING_OPS && !is_counted_now(loop) && is_in_task(loop))
        return LOADING;
    if (!m.sums)
        return 1;
    while (n * m.sums < ENOUGH && 2 * n * m.ops <= MOST_OPS)
        n *= 2;
    return n;
}

static void
unroll_in(edit *e, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        uint32_t n = iterations_at_once(op);
        if (n > 1 && several_can_be_counted(op))
            several_run(e, op, n);
        for (uint32_t i = 0; i < op->nregions; i++)
            unroll_in(e, op->regions[i]);
    }
}

bool
opt_unroll_counted(ir_module *m, pass_context *c)
{
    return edit_kernels(m, c->scratch, unroll_in);
}
