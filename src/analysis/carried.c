/* See carried.h. SPDX-License-Identifier: Apache-2.0
 *
 * The values of a sum are followed through the loop's body: what is added to one is the next one; ifs and inner loops hand them on.
 * In the end whatever may be such a value always has to be one. */
#include "analysis/carried.h"

#include "ir/edges.h"

typedef struct sum_query {
    const ir_op *loop;
    uint32_t carried;
    map sums;                /* value -> itself */
    vec(ir_value *) handed;  /* those of them that are parameters and results of ifs and inner loops */
} sum_query;

static bool
is_of_sum(const sum_query *q, const ir_value *v)
{
    return map_get(&q->sums, map_ptr(v));
}

static void
hand_on(sum_query *q, ir_value *to)
{
    if (is_of_sum(q, to))
        return;
    map_set(&q->sums, map_ptr(to), to);
    vec_push(&q->handed, to);
}

/* the operands that are sums, a bit for each */
static unsigned
sums_among(const sum_query *q, const ir_op *op)
{
    unsigned bits = 0;
    for (uint32_t i = 0; i < op->nargs; i++)
        bits |= is_of_sum(q, op->args[i]) ? 1u << (i < 31 ? i : 31) : 0;
    return bits;
}

static bool
is_next_sum(const ir_op *op, unsigned sums)
{
    switch ((rg_op)op->code) {
    case RG_OP_ADD:
        return sums == 1 || sums == 2;
    case RG_OP_SUB:
        return sums == 1;
    case RG_OP_FMA:
        return sums == 4;
    case RG_OP_SELECT:
        return sums == 6;
    default:
        return false;
    }
}

/* What a sum among op's operands is handed on to is a sum, too: the results of the op that it stands in or is, and the
 * parameters of a loop that begins with it. False: a sum is used for something else. */
static bool
hand_on_operands(sum_query *q, const ir_op *op)
{
    const ir_op *owner = op->nregions ? op : op->parent->op;
    uint32_t own = ir_own_operands(op);
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (!is_of_sum(q, op->args[i]))
            continue;
        if (i < own || owner->code == RG_OP_PARALLEL || (owner == q->loop && i != q->carried))
            return false;
        if (owner == q->loop)
            continue;
        hand_on(q, ir_handed_to(op, i));
        if (owner->code == RG_OP_FOR)
            hand_on(q, owner->regions[0]->params[ir_first_carried(owner) + i - own]);
    }
    return true;
}

static bool
follow(ir_op *op, void *user)
{
    sum_query *q = user;
    unsigned sums = sums_among(q, op);
    if (!sums)
        return true;
    if (op->nregions || op->code == RG_OP_YIELD || op->code == RG_OP_EXIT_IF)
        return hand_on_operands(q, op);
    if (!is_next_sum(op, sums))
        return false;
    map_set(&q->sums, map_ptr(op->results[0]), op->results[0]);
    return true;
}

bool
ir_carries_sum(const ir_op *loop, uint32_t k, arena *scratch)
{
    const ir_region *body = loop->regions[0];
    ir_value *sum = body->params[ir_first_carried(loop) + k];
    sum_query q = {.loop = loop, .carried = k, .sums.in = scratch, .handed.in = scratch};
    if (sum->type.kind != IR_SCALAR)
        return false;
    map_set(&q.sums, map_ptr(sum), sum);
    if (!ir_walk(loop->regions[0], follow, &q) || !is_of_sum(&q, ir_terminator(body)->args[k]))
        return false;
    for (size_t i = 0; i < q.handed.n; i++)
        for (ir_source s = {0}; ir_next_source(q.handed.at[i], &s);)
            if (!is_of_sum(&q, s.value))
                return false;
    return true;
}
