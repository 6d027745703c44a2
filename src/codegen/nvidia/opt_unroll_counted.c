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

/* what may be done several times in a row */
static bool
may_repeat(const ir_op *op)
{
    switch ((int)op->code) {
    case RG_OP_IF:
        return !op->nresults;
    case RG_OP_CONST:
    case RG_OP_LOAD:
    case RG_OP_STORE:
    case RG_OP_RMW:
    case RG_OP_EXTENT:
    case RG_OP_SPLAT:
    case RG_OP_LANE:
    case RG_OP_LANES_ANY:
    case RG_OP_LANES_BITS:
    case RG_OP_LANES_REDUCE:
    case RG_OP_LANE_GET:
    case RG_OP_SLOT_LOAD:
    case RG_OP_SLOT_STORE:
    case RG_OP_YIELD:
        return true;
    }
    return ir_ops[op->code].form != IR_OTHER;
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
    return may_repeat(op);
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

/* Whether its length is a number of the index's type. */
static bool
can_be_counted(const ir_op *loop)
{
    int64_t step = loop->attr.step;
    rg_dtype d = (rg_dtype)loop->args[0]->type.dtype;
    uint64_t bits;
    if ((step != 1 && step != -1) || !ir_is_signed(d))
        return false;
    return d == RG_I64 || (d == RG_I32 && ir_is_const(loop->args[step < 0], &bits) && (int64_t)ir_wrap(d, bits) >= -1);
}

/* How many times n iterations it has. From INT32_MAX down to 0 there are 2^31, a number without a sign. */
static ir_value *
whole_runs(edit *e, ir_op *loop, uint32_t n)
{
    bool down = loop->attr.step < 0;
    ir_value *lo = loop->args[down], *hi = loop->args[!down];
    ir_type type = lo->type;
    ir_type counts = ir_scalar(type.dtype == RG_I64 ? RG_U64 : RG_U32);
    ir_value *zero = edit_const(e, loop, type, 0), *shift = edit_const(e, loop, counts, (uint64_t)__builtin_ctz(n));
    ir_value *some = edit_scalar(e, loop, RG_OP_LT, ir_scalar(RG_BOOL), lo, hi, NULL);
    ir_value *count = edit_scalar(e, loop, RG_OP_SUB, type, hi, lo, NULL);
    count = edit_scalar(e, loop, RG_OP_SELECT, type, some, count, zero);
    count = edit_scalar(e, loop, RG_OP_CAST, counts, count, NULL, NULL);
    count = edit_scalar(e, loop, RG_OP_SHR, counts, count, shift, NULL);
    return edit_scalar(e, loop, RG_OP_CAST, type, count, NULL, NULL);
}

/* the index at which run number `run` begins */
static ir_value *
run_begins(edit *e, const ir_op *loop, ir_op *at, uint32_t n, ir_value *run)
{
    ir_type type = run->type;
    ir_value *by = edit_const(e, at, type, ir_wrap((rg_dtype)type.dtype, (uint64_t)loop->attr.step * n));
    return edit_scalar(e, at, RG_OP_ADD, type, loop->args[0], edit_scalar(e, at, RG_OP_MUL, type, run, by, NULL), NULL);
}

/* Runs are counted, by one: that takes no division. The loop stays, for what is left. */
static void
run_several(edit *e, ir_op *loop, uint32_t n)
{
    ir_fn *fn = e->fn;
    const ir_region *body = loop->regions[0];
    uint32_t ncarried = loop->nresults;
    ir_value **map = arena_new_n(e->scratch, ir_value *, fn->next_id);
    ir_value **carried = arena_new_n(e->scratch, ir_value *, ncarried + 1);
    ir_value *runs = whole_runs(e, loop, n), *whole = run_begins(e, loop, loop, n, runs);
    ir_op *several = ir_op_like(fn, loop), *yield = ir_op_new(fn, RG_OP_YIELD, ncarried, 0, loop->loc);
    several->attr.step = 1;
    ir_op_arg(several, fn, edit_const(e, loop, runs->type, 0));
    ir_op_arg(several, fn, runs);
    ir_region *into = several->regions[0];
    ir_value *run = ir_region_param(into, runs->type, NULL);
    for (uint32_t k = 0; k < ncarried; k++) {
        ir_op_arg(several, fn, loop->args[2 + k]);
        carried[k] = ir_region_param(into, body->params[1 + k]->type, body->params[1 + k]->name);
    }
    ir_append(into, yield);
    ir_value *index = run_begins(e, loop, yield, n, run);
    for (uint32_t i = 0; i < n; i++) {
        ir_type type = index->type;
        ir_value *past = i ? edit_const(e, yield, type, ir_wrap((rg_dtype)type.dtype, i * (uint64_t)loop->attr.step)) : NULL;
        ir_value *at = i ? edit_scalar(e, yield, RG_OP_ADD, type, index, past, NULL) : index;
        edit_copy_iteration(e, loop, yield, ir_terminator(body)->prev, at, carried, map);
    }
    for (uint32_t k = 0; k < ncarried; k++)
        ir_op_arg(yield, fn, carried[k]);
    ir_insert_before(loop, several);
    loop->args[0] = whole;
    loop->few = true;
    assert(n <= IR_FEW && "what is left over are few");
    for (uint32_t k = 0; k < ncarried; k++)
        loop->args[2 + k] = ir_op_result(several, fn, loop->results[k]->type, loop->results[k]->name);
}

static void
unroll_in(edit *e, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        uint32_t n = iterations_at_once(op);
        if (n > 1 && can_be_counted(op))
            run_several(e, op, n);
        for (uint32_t i = 0; i < op->nregions; i++)
            unroll_in(e, op->regions[i]);
    }
}

bool
opt_unroll_counted(ir_module *m, pass_context *c)
{
    return edit_kernels(m, c->scratch, unroll_in);
}
