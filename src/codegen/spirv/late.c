/* Sums of what a warp's lanes have, many at once: those that are put off (analysis/late.h). SPDX-License-Identifier: Apache-2.0
 *
 * As codegen/llvm/simt_sums.c forms them: lanes give each other one of two sums' parts and add what they keep, level by level, so
 * that lane l has one sum of all lanes in the end. Which, and where that one is added, is chosen by the bits of l on the way. 32 sums
 * take 31 shuffles and one atomic instruction. */
#include "codegen/spirv/gen.h"

#include "analysis/access.h"

enum { LEVELS = 5 };

/* Lanes' shares of a sum whose element others are added to as well. */
typedef struct share {
    const ir_op *op;
    spv_id value;
} share;

struct sv_late {
    sv_late *outer; /* of the region around */
    share shares[RT_WARP];
    uint32_t nshares;
    const ir_op *first; /* of those that are being formed, n of them */
    uint32_t n;
    sv_late_sum parts[LEVELS + 1]; /* by level: what waits for its like; value 0: nothing */
};

/* -- which additions --------------------------------------------------------------------------------------------------- */

/* What cannot be added to by many lanes at once gets its sums one by one. */
static bool
sum_may_wait(void *user, const ir_op *op)
{
    gen *g = user;
    const sv_sum *sum = sv_sum_of(g, op);
    if (!sv_can_add(g, ir_dtype(op->args[0])) || (sum && !sv_can_add(g, sum->dtype)))
        return false;
    return sum || (sv_does_there(g, op) & ~(unsigned)IR_CHOSEN) == IR_ADDS;
}

/* NULL: nothing is put off here */
static const ir_late *
waiting_in(gen *g)
{
    if (!g->task || g->ir != g->kernel || g->options->deterministic || !(g->options->features & SPIRV_SUBGROUPS))
        return NULL;
    if (!g->put_off.body)
        g->put_off = ir_late_find(g->region, sum_may_wait, g, g->in);
    return &g->put_off;
}

bool
sv_sum_waits(gen *g, const ir_op *op)
{
    const ir_late *late = op->rmw == RG_RMW_ADD ? waiting_in(g) : NULL;
    return late && late->formed[op->results[0]->id];
}

/* -- forming them ------------------------------------------------------------------------------------------------------- */

static rg_dtype
late_dtype(const ir_op *op)
{
    rg_dtype d = ir_dtype(op->args[0]);
    return d == RG_F16 ? RG_F32 : d;
}

static uint32_t
partner_at(unsigned level)
{
    return 1u << (LEVELS - 1 - level);
}

/* which of two sums a lane keeps: the second */
static spv_id
takes_second(gen *g, unsigned level)
{
    if (!g->lane_bits[level]) {
        bool was = g->s.at_top;
        g->s.at_top = true;
        g->lane_bits[level] = sv_not(g, sv_is(g, emit(g, SPV_AND, g->u32, g->lane, sv_u32(g, partner_at(level))), sv_u32(g, 0)));
        g->s.at_top = was;
    }
    return g->lane_bits[level];
}

static spv_id
add_kept(gen *g, rg_dtype d, spv_id kept, spv_id given, unsigned level)
{
    return sv_combine(g, RG_RMW_ADD, d, kept, sv_of_partner(g, d, given, partner_at(level)));
}

static sv_late_sum
join_parts(gen *g, const sv_late *q, unsigned level, const sv_late_sum *first, const sv_late_sum *second)
{
    rg_dtype d = late_dtype(q->first);
    spv_id bit = takes_second(g, level), type = sv_register(g, d);
    spv_id kept = sv_choose(g, type, bit, second->value, first->value), given = sv_choose(g, type, bit, first->value, second->value);
    sv_late_sum both = {.element = sv_choose(g, g->u64, bit, second->element, first->element),
                 .used = sv_choose(g, g->truth, bit, second->used, first->used),
                 .on = sv_choose(g, g->truth, bit, second->on, first->on)};
    if (first->cell && second->cell)
        both.cell = sv_choose(g, g->u64, bit, second->cell, first->cell);
    else
        both.cell = first->cell ? first->cell : second->cell;
    both.value = add_kept(g, d, kept, given, level);
    return both;
}

/* the lane without the bit adds it */
static sv_late_sum
join_itself(gen *g, const sv_late *q, unsigned level, sv_late_sum alone)
{
    alone.value = add_kept(g, late_dtype(q->first), alone.value, alone.value, level);
    alone.on = sv_choose(g, g->truth, takes_second(g, level), spv_truth(&g->s, false), alone.on);
    return alone;
}

static void
take_one(gen *g, sv_late *q, sv_late_sum p)
{
    unsigned level = 0;
    for (; q->parts[level].value; level++) {
        p = join_parts(g, q, level, &q->parts[level], &p);
        q->parts[level].value = 0;
    }
    q->parts[level] = p;
}

/* what this lane has in the end */
static sv_late_sum
sum_of_lane(gen *g, const sv_late *q)
{
    sv_late_sum last = {0};
    for (unsigned level = 0; level < LEVELS; level++) {
        const sv_late_sum *before = &q->parts[level];
        if (before->value && last.value)
            last = join_parts(g, q, level, before, &last);
        else if (before->value || last.value)
            last = join_itself(g, q, level, before->value ? *before : last);
    }
    return last.value ? last : q->parts[LEVELS];
}

/* those that are formed: each lane its own */
static void
add_joined(gen *g, sv_late *q)
{
    if (q->n) {
        sv_late_sum own = sum_of_lane(g, q);
        sv_add_late(g, q->first, &own);
    }
    q->n = 0;
    memset(q->parts, 0, sizeof q->parts);
}

/* -- what is put off ------------------------------------------------------------------------------------------------------ */

static spv_id
late_share(gen *g, const ir_op *op)
{
    ir_share has = ir_share_of(op);
    rg_dtype from = ir_dtype(has.value), to = late_dtype(op);
    spv_id value = sv_cast(g, from, to, sv_get(g, has.value));
    return has.mask ? sv_choose(g, sv_register(g, to), sv_get(g, has.mask), value, sv_const(g, to, ir_identity(to, RG_RMW_ADD))) : value;
}

static void
join_sum(gen *g, sv_late *q, const share *own)
{
    const sv_sum *sum = sv_sum_of(g, own->op), *first = q->n ? sv_sum_of(g, q->first) : sum;
    spv_id no = spv_truth(&g->s, false);
    /* one type of numbers, and one of cells */
    if (q->n && (ir_dtype(q->first->args[0]) != ir_dtype(own->op->args[0]) || (sum && first ? sum->dtype != first->dtype : sum != first)))
        add_joined(g, q);
    sv_place p = sv_element(g, own->op);
    if (p.nothing)
        return;
    q->first = q->n++ ? q->first : own->op;
    take_one(g, q, (sv_late_sum){own->value, p.address, sum ? sv_cell(g, own->op, sum) : 0, sum ? sum->used : no,
                                  p.condition ? p.condition : spv_truth(&g->s, true)});
    if (q->n == RT_WARP)
        add_joined(g, q);
}

bool
sv_put_off(gen *g, const ir_op *op)
{
    sv_late *q = g->late;
    const ir_late *late = q ? waiting_in(g) : NULL;
    uint32_t i = 0;
    if (!late || !ir_is_late(late, op))
        return false;
    share own = {op, late_share(g, op)};
    while (i < q->nshares && !access_same(q->shares[i].op, op))
        i++;
    if (i < q->nshares) {
        rg_dtype d = late_dtype(op);
        own = (share){q->shares[i].op, sv_combine(g, RG_RMW_ADD, d, q->shares[i].value, own.value)};
    }
    bool waits = i < RT_WARP && ir_meets_again(late, op);
    if (waits) {
        q->shares[i] = own;
        q->nshares += i == q->nshares;
        return true;
    }
    if (i < q->nshares)
        q->shares[i] = q->shares[--q->nshares];
    join_sum(g, q, &own);
    return true;
}

/* -- regions --------------------------------------------------------------------------------------------------------------- */

sv_late *
sv_late_begin(gen *g)
{
    sv_late *q = waiting_in(g) ? arena_one(g->in, sv_late) : NULL;
    if (q) {
        q->outer = g->late;
        g->late = q;
    }
    return q;
}

void
sv_late_add(gen *g)
{
    sv_late *q = g->late;
    if (!q)
        return;
    for (uint32_t i = 0; i < q->nshares; i++)
        join_sum(g, q, &q->shares[i]);
    q->nshares = 0;
    add_joined(g, q);
}

void
sv_late_end(gen *g, sv_late *q)
{
    if (!q)
        return;
    sv_late_add(g);
    g->late = q->outer;
}
