/* Sums of what a warp's lanes have, many at once: those that are put off (analysis/late.h). SPDX-License-Identifier: Apache-2.0
 *
 * Where x[i] is the ith of them:
 *
 *   level 0    lanes whose numbers differ in the top bit give each other one of two sums' parts and add what they keep:
 *              0.... x[0] of both lanes, 1.... x[1]
 *   level 1    two of these, and the next bit: 00... x[0] of four lanes, 10... x[1], 01... x[2], 11... x[3]
 *   ...
 *   level 4    lane l has x[the bits of l, the last one first], of all lanes
 *
 * So 32 sums take 31 shuffles and not 160, none of which waits for more than five others. What has no like at a level is
 * added as it is, by both lanes. Then each lane adds the sum that it has to that sum's place (simt_places.c): one
 * instruction for all. What goes to one place is added up by each lane before. */
#include "codegen/llvm/gen.h"
#include "analysis/access.h"
#include "rt/gpu/gpu.h"

enum { LEVELS = 5 };

/* What this lane adds to a place. */
typedef struct share {
    const ir_op *op;
    const ir_value *mask; /* lanes that have any; NULL: all */
    LLVMValueRef value;
} share;

struct gen_sums {
    gen_sums *outer;       /* of the region around */
    share shares[RT_WARP]; /* nshares of them, whose places are met again */
    uint32_t nshares;
    const ir_op *ops[RT_WARP];
    uint32_t n;
    LLVMValueRef parts[LEVELS + 1]; /* by level: what waits for its like */
};

/* -- which additions ------------------------------------------------------------------------------------------ */

static bool
sum_has_no_order(void *user, const ir_op *op)
{
    gen *g = user;
    return gen_private_sum(g, op) || gen_has_no_order(g, op);
}

/* NULL: nothing is put off here */
static const ir_late *
late_of(gen *g)
{
    if (!g->s->task || gen_is_alone(g))
        return NULL;
    if (!g->s->put_off.body)
        g->s->put_off = ir_late_find(g->s->region, sum_has_no_order, g, g->scratch);
    return &g->s->put_off;
}

bool
gen_sum_waits(gen *g, const ir_op *op)
{
    const ir_late *late = late_of(g);
    return op->rmw == RG_RMW_ADD && late && late->formed[op->results[0]->id];
}

/* -- forming them -------------------------------------------------------------------------------------------- */

static uint32_t
distance(unsigned level)
{
    return 1u << (LEVELS - 1 - level);
}

/* which of two sums a lane keeps: the second */
static LLVMValueRef
keeps_second(gen *g, unsigned level)
{
    LLVMValueRef *bit = &g->s->lane_bits[level];
    if (!*bit) {
        LLVMValueRef masked = LLVMBuildAnd(g->s->top, gen_own_lane(g, g->i32), gen_i32(g, distance(level)), "");
        *bit = LLVMBuildICmp(g->s->top, LLVMIntNE, masked, gen_i32(g, 0), "");
    }
    return *bit;
}

static LLVMValueRef
add_part(gen *g, const ir_op *op, LLVMValueRef x, LLVMValueRef y)
{
    return gen_combine(g, RG_RMW_ADD, gen_late_dtype(op), x, y);
}

/* two parts become one */
static LLVMValueRef
merge_parts(gen *g, const gen_sums *q, unsigned level, LLVMValueRef first, LLVMValueRef second)
{
    LLVMValueRef bit = keeps_second(g, level);
    LLVMValueRef kept = LLVMBuildSelect(g->b, bit, second, first, "");
    LLVMValueRef given = LLVMBuildSelect(g->b, bit, first, second, "");
    return add_part(g, q->ops[0], kept, gen_swap(g, given, distance(level)));
}

static LLVMValueRef
meet_itself(gen *g, const gen_sums *q, unsigned level, LLVMValueRef part)
{
    return add_part(g, q->ops[0], part, gen_swap(g, part, distance(level)));
}

static void
take_part(gen *g, gen_sums *q, LLVMValueRef part)
{
    unsigned level = 0;
    for (; q->parts[level]; level++) {
        part = merge_parts(g, q, level, q->parts[level], part);
        q->parts[level] = NULL;
    }
    q->parts[level] = part;
}

/* what this lane has in the end */
static LLVMValueRef
own_sum(gen *g, const gen_sums *q)
{
    LLVMValueRef last = NULL;
    for (unsigned level = 0; level < LEVELS; level++) {
        LLVMValueRef before = q->parts[level];
        if (before && last)
            last = merge_parts(g, q, level, before, last);
        else if (before || last)
            last = meet_itself(g, q, level, before ? before : last);
    }
    return last ? last : q->parts[LEVELS];
}

/* -- what goes to one place ----------------------------------------------------------------------------------- */

static share
share_of(gen *g, const ir_op *op)
{
    ir_share has = ir_share_of(op);
    return (share){op, has.mask, gen_cast(g, (rg_dtype)has.value->type.dtype, gen_late_dtype(op), gen_get(g, has.value))};
}

static LLVMValueRef
masked_value(gen *g, const share *own)
{
    LLVMValueRef nothing = gen_reduce_identity(g, RG_RMW_ADD, gen_late_dtype(own->op));
    return own->mask ? LLVMBuildSelect(g->b, gen_get(g, own->mask), own->value, nothing, "") : own->value;
}

static void
add_share(gen *g, share *to, const share *own)
{
    if (to->mask == own->mask) {
        to->value = add_part(g, to->op, to->value, own->value);
        return;
    }
    *to = (share){.op = to->op, .value = add_part(g, to->op, masked_value(g, to), masked_value(g, own))};
}

/* -- when -------------------------------------------------------------------------------------------------------- */

gen_sums *
gen_sums_begin(gen *g)
{
    gen_sums *q = NULL;
    if (g->target->warp && g->s->task && !gen_is_alone(g)) {
        q = arena_one(g->scratch, gen_sums);
        q->outer = g->s->late;
        g->s->late = q;
    }
    return q;
}

/* those that are formed */
static void
add_formed(gen *g, gen_sums *q)
{
    if (q->n)
        gen_add_to_places(g, q->ops, q->n, own_sum(g, q));
    q->n = 0;
    memset(q->parts, 0, sizeof q->parts);
}

static void
form(gen *g, gen_sums *q, const share *own)
{
    if (q->n && q->ops[0]->args[0]->type.dtype != own->op->args[0]->type.dtype)
        add_formed(g, q);
    q->ops[q->n++] = own->op;
    take_part(g, q, masked_value(g, own));
    if (q->n == RT_WARP)
        add_formed(g, q);
}

void
gen_sums_add(gen *g)
{
    gen_sums *q = g->s->late;
    if (!q)
        return;
    for (uint32_t i = 0; i < q->nshares; i++)
        form(g, q, &q->shares[i]);
    q->nshares = 0;
    add_formed(g, q);
}

void
gen_sums_end(gen *g, gen_sums *q)
{
    if (!q)
        return;
    gen_sums_add(g);
    g->s->late = q->outer;
}

bool
gen_is_late(gen *g, const ir_op *op)
{
    const ir_late *late = g->s->late ? late_of(g) : NULL;
    return late && ir_is_late(late, op);
}

bool
gen_sum_late(gen *g, const ir_op *op)
{
    gen_sums *q = g->s->late;
    uint32_t i = 0;
    if (!gen_is_late(g, op))
        return false;
    if (gen_presence(g, op->args[0], op->plane) == MISSING)
        return true;
    share own = share_of(g, op);
    while (i < q->nshares && !access_same(q->shares[i].op, op))
        i++;
    if (i < q->nshares) {
        add_share(g, &q->shares[i], &own);
        own = q->shares[i];
    }
    bool waits = i < RT_WARP && ir_meets_again(&g->s->put_off, op);
    if (waits)
        q->shares[i] = own;
    if (waits && i == q->nshares)
        q->nshares++;
    if (!waits && i < q->nshares)
        q->shares[i] = q->shares[--q->nshares];
    if (!waits)
        form(g, q, &own);
    return true;
}
