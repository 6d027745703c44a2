/* How many threads a launch will have: so few that they are better run one after the other than side by side.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

enum { DEPTH = 8 };

/* Where values at kernel level come from. packed NULL: only whether they follow from arguments is asked, and bits mean nothing. */
typedef struct known {
    const ir_fn *fn;
    const rt_arg *packed;
} known;

static bool evaluate_from_args(const known *k, const ir_value *v, unsigned depth, uint64_t *bits);

static bool
evaluate_op(const known *k, const ir_op *op, unsigned depth, uint64_t *bits)
{
    uint64_t x[3] = {0};
    if (op->code == RG_OP_EXTENT && !op->args[0]->def && op->args[0]->region == k->fn->body) {
        *bits = k->packed ? (uint64_t)k->packed[op->args[0]->index].extent[op->attr.bits] : 0;
        return true;
    }
    if (ir_ops[op->code].form == IR_OTHER || op->nargs > 3)
        return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!evaluate_from_args(k, op->args[i], depth - 1, &x[i]))
            return false;
    return !k->packed || ir_eval((rg_op)op->code, (rg_dtype)op->args[0]->type.dtype, (rg_dtype)op->results[0]->type.dtype, x[0],
                                 x[1], x[2], bits);
}

/* of a value at kernel level, from the arguments alone */
static bool
evaluate_from_args(const known *k, const ir_value *v, unsigned depth, uint64_t *bits)
{
    if (ir_is_const(v, bits))
        return true;
    if (!depth || v->type.kind != IR_SCALAR)
        return false;
    if (v->def)
        return evaluate_op(k, v->def, depth, bits);
    if (v->region != k->fn->body)
        return false;
    *bits = k->packed ? ir_wrap((rg_dtype)v->type.dtype, k->packed[v->index].bits) : 0;
    return true;
}

bool
api_follows_from_args(const ir_fn *fn, const ir_value *v)
{
    uint64_t bits;
    return evaluate_from_args(&(known){fn, NULL}, v, DEPTH, &bits);
}

typedef struct most {
    known from;
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
        if (!evaluate_from_args(&m->from, op->args[i], DEPTH, &lo) ||
            !evaluate_from_args(&m->from, op->args[op->attr.rank + i], DEPTH, &hi))
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
    most m = {{args->kernel->fn, args->packed}, 0};
    ir_walk(args->kernel->fn->body, count_task_threads, &m);
    return m.threads < API_FEW_THREADS;
}
