/* How many threads a launch will have: so few that they are better run one after the other than side by side.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

enum { DEPTH = 8 };

static bool evaluate_from_args(const rg_args *args, const ir_value *v, unsigned depth, uint64_t *bits);

static bool
evaluate_op(const rg_args *args, const ir_op *op, unsigned depth, uint64_t *bits)
{
    uint64_t x[3] = {0};
    if (op->code == RG_OP_EXTENT && !op->args[0]->def && op->args[0]->region == args->kernel->fn->body) {
        *bits = (uint64_t)args->packed[op->args[0]->index].extent[op->attr.bits];
        return true;
    }
    if (ir_ops[op->code].form == IR_OTHER || op->nargs > 3)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!evaluate_from_args(args, op->args[i], depth - 1, &x[i]))
            return false;
    return ir_eval((rg_op)op->code, (rg_dtype)op->args[0]->type.dtype, (rg_dtype)op->results[0]->type.dtype, x[0],
                   x[1], x[2], bits);
}

/* of a value at kernel level, from the arguments alone */
static bool
evaluate_from_args(const rg_args *args, const ir_value *v, unsigned depth, uint64_t *bits)
{
    if (ir_is_const(v, bits))
        return true;
    if (!depth || v->type.kind != IR_SCALAR)
        return false;
    if (v->def)
        return evaluate_op(args, v->def, depth, bits);
    *bits = ir_wrap((rg_dtype)v->type.dtype, args->packed[v->index].bits);
    return v->region == args->kernel->fn->body;
}

static bool
can_evaluate(const ir_fn *fn, const ir_value *v, unsigned depth)
{
    uint64_t bits;
    if (ir_is_const(v, &bits))
        return true;
    if (!depth || v->type.kind != IR_SCALAR)
        return false;
    if (!v->def)
        return v->region == fn->body;
    const ir_op *op = v->def;
    if (op->code == RG_OP_EXTENT)
        return !op->args[0]->def && op->args[0]->region == fn->body;
    if (ir_ops[op->code].form == IR_OTHER || op->nargs > 3)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!can_evaluate(fn, op->args[i], depth - 1))
            return false;
    return true;
}

bool
api_follows_from_args(const ir_fn *fn, const ir_value *v)
{
    return can_evaluate(fn, v, DEPTH);
}

typedef struct most {
    const rg_args *args;
    double threads;
} most;

static bool
count_task_threads(ir_op *op, void *user)
{
    most *m = user;
    double threads = 1;
    if (op->code != RG_OP_PARALLEL)
        return true;
    for (uint32_t i = 0; i < op->attr.rank; i++) {
        uint64_t lo, hi;
        if (!evaluate_from_args(m->args, op->args[i], DEPTH, &lo) ||
            !evaluate_from_args(m->args, op->args[op->attr.rank + i], DEPTH, &hi))
            threads = API_FEW_THREADS;
        else
            threads *= (int64_t)hi > (int64_t)lo ? (double)((int64_t)hi - (int64_t)lo) : 0;
    }
    m->threads = threads > m->threads ? threads : m->threads;
    return m->threads < API_FEW_THREADS;
}

bool
api_few_threads(const rg_args *args)
{
    most m = {args, 0};
    ir_walk(args->kernel->fn->body, count_task_threads, &m);
    return m.threads < API_FEW_THREADS;
}
