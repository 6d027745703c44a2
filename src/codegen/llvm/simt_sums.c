/* Sums of what a warp's lanes have, many at once. SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of parameters are additions to an element that all lanes share, of the sum of what each of them has. Nothing
 * in the task sees such an element, so additions that follow one another in straight code are put off until it ends, and
 * their sums are formed together. Where x[i] is the ith of them:
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

static const ir_op *
reduction_of(const ir_op *op)
{
    const ir_op *def = op->args[op->nargs - 1]->def;
    return def && def->code == RG_OP_LANES_REDUCE && def->rmw == RG_RMW_ADD ? def : NULL;
}

static bool
has_width(rg_dtype d)
{
    return d == RG_F16 || ir_bits(d) >= 32;
}

/* Whether it does not matter when the task does it. */
static bool
can_wait(gen *g, const ir_op *op)
{
    if (ir_access_does(op) != IR_ADDS || op->masked || gen_lanes_of(op))
        return false;
    const ir_op *sum = reduction_of(op);
    return sum && sum->parent == op->parent && has_width((rg_dtype)op->args[0]->type.dtype) &&
           (gen_private_sum(g, op) || gen_has_no_order(g, op));
}

static bool
find_sums(ir_op *op, void *user)
{
    gen *g = user;
    if (can_wait(g, op))
        g->s->formed_late[op->args[op->nargs - 1]->id] = true;
    return true;
}

/* a sum that something else has a use for is formed where it stands */
static bool
drop_others(ir_op *op, void *user)
{
    gen *g = user;
    uint32_t n = can_wait(g, op) ? op->nargs - 1 : op->nargs;
    for (uint32_t i = 0; i < n; i++)
        g->s->formed_late[op->args[i]->id] = false;
    return true;
}

static bool
is_formed_late(gen *g, const ir_value *sum)
{
    if (!g->s->task || gen_is_alone(g))
        return false;
    if (!g->s->formed_late) {
        ir_region *body = (ir_region *)g->s->region; /* only looked at */
        g->s->formed_late = arena_new_n(g->scratch, bool, g->ir->next_id);
        ir_walk(body, find_sums, g);
        ir_walk(body, drop_others, g);
    }
    return g->s->formed_late[sum->id];
}

bool
gen_sum_waits(gen *g, const ir_op *op)
{
    return op->rmw == RG_RMW_ADD && is_formed_late(g, op->results[0]);
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

/* before sums are added anyway */
static bool
is_met_again(gen *g, const ir_op *op)
{
    for (const ir_op *next = op->next; next; next = next->next) {
        if (gen_ends_sums(next))
            return false;
        if (can_wait(g, next) && access_same(op, next))
            return true;
    }
    return false;
}

/* Lanes that take no part have the identity of additions: that is put off, too. */
static share
share_of(gen *g, const ir_op *op)
{
    const ir_value *part = reduction_of(op)->args[0];
    const ir_op *choice = part->def;
    rg_dtype d = (rg_dtype)part->type.dtype;
    uint64_t bits;
    share own = {.op = op};
    bool masked = choice && choice->code == RG_OP_SELECT && choice->args[0]->type.lanes &&
                  ir_is_const(choice->args[2], &bits) && bits == ir_identity(d, RG_RMW_ADD);
    if (masked)
        own.mask = choice->args[0];
    own.value = gen_cast(g, d, gen_late_dtype(op), gen_get(g, masked ? choice->args[1] : part));
    return own;
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

/* Loops take a long time, and leaving one skips what stands behind. */
bool
gen_ends_sums(const ir_op *op)
{
    return ir_is_loop(op) || op->code == RG_OP_EXIT_IF;
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
    return g->s->late && can_wait(g, op) && is_formed_late(g, op->args[op->nargs - 1]);
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
    bool waits = i < RT_WARP && is_met_again(g, op);
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
