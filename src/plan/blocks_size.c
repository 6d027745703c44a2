/* How many iterations a block should have. SPDX-License-Identifier: Apache-2.0
 *
 * An iteration recorded by itself costs its frame, or one that holds the state and what is computed again from that. In a block of R
 * it costs an R-th of a frame that holds the state, the slice, computed again, and what it must keep: counted as a frame, which each
 * iteration left over takes. */
#include "plan/blocks.h"

enum { LARGEST = 32 };

static uint32_t
value_bytes(ir_type type)
{
    return ir_bytes((rg_dtype)type.dtype) * (type.kind == IR_ARRAY ? type.length : 1);
}

static uint32_t
bytes_recorded(const ad_slice *s, const slice_values *values)
{
    uint32_t bytes = 0;
    for (size_t i = 0; i < values->n; i++)
        if (ad_recomputable(s->of.loop, values->at[i], s->of.writes) != AD_FREE)
            bytes += value_bytes(values->at[i]->type);
    return bytes;
}

static uint32_t
bytes_of_state(const ad_slice *s)
{
    uint32_t bytes = 0;
    for (uint32_t p = 0; p < s->of.loop->regions[0]->nparams; p++)
        bytes += s->of.state[p] ? value_bytes(s->of.loop->regions[0]->params[p]->type) : 0;
    return bytes;
}

/* -- a sine and a cosine of one operand are computed together ------------------------------------------------ */
typedef struct pairs {
    const ad_slice *slice;
    bool cheap; /* what the target says of them */
    map seen; /* (code, operand) */
    int32_t saved;
} pairs;

static uint64_t
pair_key(rg_op code, const ir_value *operand)
{
    return hash_u64(code, operand->id);
}

static rg_op
partner(const ir_op *op)
{
    return op->code == RG_OP_SIN ? RG_OP_COS : op->code == RG_OP_COS ? RG_OP_SIN : RG_OP_COUNT;
}

static int32_t
saved_by(const pairs *p, const ir_op *op)
{
    return p->cheap ? 3 * ir_cost(op) / 4 : ir_cost(op) - ad_cost_of_pair(op);
}

static bool
in_slice(ir_op *op, void *user)
{
    pairs *p = user;
    if (partner(op) == RG_OP_COUNT || !p->slice->of.live.values[op->results[0]->id])
        return true;
    if (map_get(&p->seen, pair_key(partner(op), op->args[0])))
        p->saved += saved_by(p, op);
    map_set(&p->seen, pair_key((rg_op)op->code, op->args[0]), op);
    return true;
}

static bool
pair_in_reverse(ir_op *op, void *user)
{
    pairs *p = user;
    if (partner(op) == RG_OP_COUNT || !op->args[0]->def || op->args[0]->def->code != RG_OP_RECALL)
        return true;
    const ir_value *v = op->args[0]->def->args[0];
    if (map_get(&p->seen, pair_key((rg_op)op->code, v)))
        return true; /* the slice has both */
    const ir_op *other = map_get(&p->seen, pair_key(partner(op), v));
    if (other)
        p->saved += saved_by(p, other);
    return true;
}

static int32_t
saved_by_pairs(const ad_block *c)
{
    pairs p = {.slice = &c->slice, .cheap = c->fn->module->target->pairs, .seen.in = c->scratch};
    ir_walk(c->loop->regions[0], in_slice, &p);
    ir_walk(c->unwinds.at[0]->regions[0], pair_in_reverse, &p);
    return p.saved;
}

/* -- the choice ----------------------------------------------------------------------------------------------- */
static double
cost_with(const target *machine, uint32_t size, uint32_t state, double again)
{
    return (machine->frame + machine->byte * state) / size + again;
}

/* Blocks must win clearly: a partial one is undone with a branch for each iteration, and a loop that runs for a
 * few iterations has no other. Therefore also the smallest size that is nearly the best. */
uint32_t
ad_block_cheapest(const ad_block *c)
{
    const target *machine = c->fn->module->target;
    const ad_slice *s = &c->slice;
    uint32_t each = bytes_recorded(s, &s->wanted), state = bytes_of_state(s), largest = 1;
    double again = s->cost - saved_by_pairs(c);
    if (s->kept.n)
        again += machine->frame + machine->byte * bytes_recorded(s, &s->kept);
    while (largest < LARGEST && 2 * largest * each + state <= machine->registers)
        largest *= 2;
    double least = cost_with(machine, largest, state, again), single = cost_with(machine, 1, each, 0);
    double from_state = cost_with(machine, 1, state, again - s->cost + s->cost_now);
    if (from_state < single && !ad_frames_are_own(c->loop, each))
        single = from_state;
    if (largest == 1 || least > 0.75 * single)
        return 1;
    uint32_t size = 2;
    while (cost_with(machine, size, state, again) > 1.2 * least)
        size *= 2;
    return size;
}
