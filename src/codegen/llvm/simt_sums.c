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
 * added as it is, by both lanes. Then each lane adds the sum that it has to that sum's place: one instruction for all.
 * What goes to one place is added up by each lane before. */
#include "codegen/llvm/nvidia.h"
#include "rt/gpu/gpu.h"

enum { LEVELS = 5, DEPTH = 6 };

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
    if (op->code != RG_OP_RMW || op->rmw != RG_RMW_ADD || !op->atomic || op->nresults || op->masked || gen_lanes_of(op))
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

/* that sums are formed in */
static rg_dtype
sum_dtype(const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    return d == RG_F16 ? RG_F32 : d;
}

static LLVMValueRef
plus(gen *g, const ir_op *op, LLVMValueRef x, LLVMValueRef y)
{
    return gen_combine(g, RG_RMW_ADD, sum_dtype(op), x, y);
}

/* two parts become one */
static LLVMValueRef
meet(gen *g, const gen_sums *q, unsigned level, LLVMValueRef first, LLVMValueRef second)
{
    LLVMValueRef bit = keeps_second(g, level);
    LLVMValueRef kept = LLVMBuildSelect(g->b, bit, second, first, "");
    LLVMValueRef given = LLVMBuildSelect(g->b, bit, first, second, "");
    return plus(g, q->ops[0], kept, gen_swap(g, given, distance(level)));
}

static LLVMValueRef
meet_itself(gen *g, const gen_sums *q, unsigned level, LLVMValueRef part)
{
    return plus(g, q->ops[0], part, gen_swap(g, part, distance(level)));
}

static void
take_part(gen *g, gen_sums *q, LLVMValueRef part)
{
    unsigned level = 0;
    for (; q->parts[level]; level++) {
        part = meet(g, q, level, q->parts[level], part);
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
            last = meet(g, q, level, before, last);
        else if (before || last)
            last = meet_itself(g, q, level, before ? before : last);
    }
    return last ? last : q->parts[LEVELS];
}

/* -- what goes to one place ----------------------------------------------------------------------------------- */

static bool
same_array(const ir_op *a, const ir_op *b)
{
    return a->args[0] == b->args[0] && a->plane == b->plane && a->beside == b->beside &&
           (a->beside || a->direction == b->direction);
}

static bool
same_place(const ir_op *a, const ir_op *b)
{
    if (!same_array(a, b) || a->direction != b->direction)
        return false;
    for (uint32_t k = 1; k + 1 < a->nargs; k++) {
        uint64_t x, y;
        bool equal = a->args[k] == b->args[k];
        if (!equal && !(ir_is_const(a->args[k], &x) && ir_is_const(b->args[k], &y) && x == y))
            return false;
    }
    return true;
}

/* before sums are added anyway */
static bool
is_met_again(gen *g, const ir_op *op)
{
    for (const ir_op *next = op->next; next; next = next->next) {
        if (gen_ends_sums(next))
            return false;
        if (can_wait(g, next) && same_place(op, next))
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
    own.value = gen_cast(g, d, sum_dtype(op), gen_get(g, masked ? choice->args[1] : part));
    return own;
}

static LLVMValueRef
masked_value(gen *g, const share *own)
{
    LLVMValueRef nothing = gen_reduce_identity(g, RG_RMW_ADD, sum_dtype(own->op));
    return own->mask ? LLVMBuildSelect(g->b, gen_get(g, own->mask), own->value, nothing, "") : own->value;
}

static void
add_share(gen *g, share *to, const share *own)
{
    if (to->mask == own->mask) {
        to->value = plus(g, to->op, to->value, own->value);
        return;
    }
    *to = (share){.op = to->op, .value = plus(g, to->op, masked_value(g, to), masked_value(g, own))};
}

/* -- where they go -------------------------------------------------------------------------------------------- */

/* A choice of the sums: bit l, those that lane l is to add. */
typedef uint32_t lane_set;

static uint32_t
lane_of(uint32_t sum)
{
    uint32_t lane = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        lane |= (sum >> level & 1) << (LEVELS - 1 - level);
    return lane;
}

static LLVMValueRef
is_in(gen *g, lane_set set)
{
    if (!g->s->lane_bit)
        g->s->lane_bit = LLVMBuildShl(g->s->top, gen_i32(g, 1), gen_own_lane(g, g->i32), "");
    LLVMValueRef hit = LLVMBuildAnd(g->b, g->s->lane_bit, gen_i32(g, (int32_t)set), "");
    return LLVMBuildICmp(g->b, LLVMIntNE, hit, gen_i32(g, 0), "");
}

/* Whether two values are computed alike, of the same. */
static bool
is_alike(LLVMValueRef x, LLVMValueRef y, unsigned depth)
{
    if (x == y)
        return true;
    if (!depth || !LLVMIsAInstruction(x) || !LLVMIsAInstruction(y) || LLVMTypeOf(x) != LLVMTypeOf(y))
        return false;
    LLVMOpcode code = LLVMGetInstructionOpcode(x);
    bool pure = code == LLVMAdd || code == LLVMSub || code == LLVMMul || code == LLVMSExt || code == LLVMZExt ||
                code == LLVMTrunc;
    if (!pure || code != LLVMGetInstructionOpcode(y))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(x); i++)
        if (!is_alike(LLVMGetOperand(x, (unsigned)i), LLVMGetOperand(y, (unsigned)i), depth - 1))
            return false;
    return true;
}

/* Element numbers, as something that few differ in and a constant. */
typedef struct numbers {
    LLVMTypeRef type;
    LLVMValueRef roots[RT_WARP]; /* nroots of them, of the sums in sets[] */
    lane_set sets[RT_WARP];
    uint32_t nroots;
    int64_t rest[RT_WARP]; /* by lane */
} numbers;

/* an integer that the low 32 bits of v follow from alone, like v's; NULL: v is no such thing */
static LLVMValueRef
same_low_bits(LLVMValueRef v)
{
    LLVMOpcode code = LLVMGetInstructionOpcode(v);
    if (code != LLVMTrunc && code != LLVMSExt && code != LLVMZExt)
        return NULL;
    LLVMValueRef from = LLVMGetOperand(v, 0);
    bool wide = LLVMGetIntTypeWidth(LLVMTypeOf(v)) >= 32 && LLVMGetIntTypeWidth(LLVMTypeOf(from)) >= 32;
    return wide ? from : NULL;
}

/* low: of a number of 32 bits, which may leave and come back to them */
static LLVMValueRef
without_constant(LLVMValueRef number, bool low, int64_t *constant)
{
    *constant = 0;
    while (LLVMIsAInstruction(number)) {
        LLVMValueRef right = NULL, other = low ? same_low_bits(number) : NULL;
        if (!other && LLVMGetInstructionOpcode(number) == LLVMAdd)
            right = LLVMGetOperand(number, 1);
        if (right && LLVMIsAConstantInt(right)) {
            *constant += LLVMConstIntGetSExtValue(right);
            other = LLVMGetOperand(number, 0);
        }
        if (!other)
            return number;
        number = other;
    }
    if (!LLVMIsAConstantInt(number))
        return number;
    *constant += LLVMConstIntGetSExtValue(number);
    return LLVMConstNull(LLVMTypeOf(number));
}

/* first: where the array's elements begin; NULL: 0 */
static void
add_number(gen *g, numbers *all, const ir_op *op, uint32_t lane, LLVMValueRef first)
{
    LLVMValueRef number = gen_number_in_copy(g, op);
    number = without_constant(number ? number : gen_i64(g, 0), all->type == g->i32, &all->rest[lane]);
    number = LLVMBuildIntCast2(g->b, number, all->type, true, "");
    if (first)
        number = LLVMBuildAdd(g->b, number, LLVMBuildTrunc(g->b, first, all->type, ""), "");
    uint32_t r = 0;
    while (r < all->nroots && !is_alike(all->roots[r], number, DEPTH))
        r++;
    if (r == all->nroots) {
        all->roots[r] = number;
        all->sets[r] = 0;
        all->nroots++;
    }
    all->sets[r] |= (lane_set)1 << lane;
}

/* what the sums of a set have as a constant: NULL where that differs */
static LLVMValueRef
common_constant(const numbers *all)
{
    lane_set set = 0;
    uint32_t first = 0;
    for (uint32_t r = 0; r < all->nroots; r++)
        set |= all->sets[r];
    while (!(set >> first & 1))
        first++;
    for (uint32_t l = 0; l < RT_WARP; l++)
        if ((set >> l & 1) && all->rest[l] != all->rest[first])
            return NULL;
    return LLVMConstInt(all->type, (uint64_t)all->rest[first], true);
}

/* by lane; read once by each, as it does not change while the task runs */
static LLVMValueRef
own_constant(gen *g, const numbers *all)
{
    LLVMValueRef values[RT_WARP], common = common_constant(all), at = gen_own_lane(g, g->i32);
    if (common)
        return common;
    for (unsigned l = 0; l < RT_WARP; l++)
        values[l] = LLVMConstInt(all->type, (uint64_t)all->rest[l], true);
    LLVMValueRef table = LLVMAddGlobal(g->module, LLVMArrayType2(all->type, RT_WARP), "places");
    LLVMSetInitializer(table, LLVMConstArray2(all->type, values, RT_WARP));
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(table, true);
    at = LLVMBuildZExt(g->s->top, at, g->i64, "");
    at = LLVMBuildInBoundsGEP2(g->s->top, all->type, table, &at, 1, "");
    return gen_invariant(g, LLVMBuildLoad2(g->s->top, all->type, at, ""));
}

static LLVMValueRef
own_number(gen *g, const numbers *all)
{
    LLVMValueRef number = all->roots[0];
    for (uint32_t r = 1; r < all->nroots; r++)
        number = LLVMBuildSelect(g->b, is_in(g, all->sets[r]), all->roots[r], number, "");
    return LLVMBuildAdd(g->b, number, own_constant(g, all), "");
}

/* -- to private cells ------------------------------------------------------------------------------------------ */

static LLVMValueRef
in_direction(gen *g, const ir_op *op, LLVMValueRef first)
{
    if (!op->direction || op->beside)
        return first;
    LLVMValueRef skip = LLVMBuildNSWMul(g->b, gen_elements(g, op->args[0]), gen_i64(g, op->direction), "");
    return LLVMBuildAdd(g->b, first, skip, "");
}

static void
add_to_cells(gen *g, const gen_sums *q, LLVMValueRef sum, lane_set set)
{
    numbers all = {.type = g->i32}; /* rows are short */
    for (uint32_t i = 0; i < q->n; i++)
        if (set >> lane_of(i) & 1)
            add_number(g, &all, q->ops[i], lane_of(i),
                       in_direction(g, q->ops[i], gen_private_sum(g, q->ops[i])->first));
    LLVMValueRef number = own_number(g, &all);
    gen_simt_private_add_at(g, number, is_in(g, set), gen_cast(g, sum_dtype(q->ops[0]), RG_F64, sum));
}

/* -- to arrays ------------------------------------------------------------------------------------------------- */

static void
add_to_array(gen *g, const gen_sums *q, LLVMValueRef sum, lane_set set, const ir_op *op)
{
    const ir_value *buffer = op->args[0];
    rg_dtype d = (rg_dtype)buffer->type.dtype;
    numbers all = {.type = g->i64};
    for (uint32_t i = 0; i < q->n; i++)
        if (set >> lane_of(i) & 1)
            add_number(g, &all, q->ops[i], lane_of(i), NULL);
    LLVMValueRef number = own_number(g, &all);
    gen_reach r = {.dtype = d, .access = op, .mask = is_in(g, set)};
    if (gen_presence(g, buffer, op->plane) == MAYBE)
        r.mask = LLVMBuildAnd(g->b, r.mask, LLVMBuildIsNotNull(g->b, gen_plane(g, buffer, op->plane), ""), "");
    LLVMValueRef start = gen_direction(g, buffer, op->plane, op->beside ? 0 : op->direction);
    r.at = LLVMBuildGEP2(g->b, gen_memory_type(g, d), start, &number, 1, "");
    if (gen_adds_unseen(g, d)) {
        gen_add_unseen(g, &r, r.at, sum);
        return;
    }
    gen_some some = gen_some_begin(g, r.mask);
    gen_atomic_rmw(g, op, d, r.at, gen_cast(g, sum_dtype(op), d, sum));
    gen_some_end(g, &some);
}

/* -- both ------------------------------------------------------------------------------------------------------- */

/* The sums of one array: to its cells if it has any in this launch. */
static void
add_to_either(gen *g, const gen_sums *q, LLVMValueRef sum, lane_set set, const ir_op *op)
{
    const private_sum *cells = gen_private_sum(g, op);
    if (!cells) {
        add_to_array(g, q, sum, set, op);
        return;
    }
    LLVMBasicBlockRef own = gen_block(g, "own"), shared = gen_block(g, "shared"), end = gen_block(g, "added");
    LLVMBuildCondBr(g->b, cells->used, own, shared);
    gen_at(g, own);
    add_to_cells(g, q, sum, set);
    LLVMBuildBr(g->b, end);
    gen_at(g, shared);
    add_to_array(g, q, sum, set, op);
    LLVMBuildBr(g->b, end);
    gen_at(g, end);
}

static void
add_by_array(gen *g, const gen_sums *q, LLVMValueRef sum)
{
    lane_set done = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        if (done >> lane_of(i) & 1)
            continue;
        lane_set set = 0;
        for (uint32_t k = i; k < q->n; k++)
            if (same_array(q->ops[i], q->ops[k]))
                set |= (lane_set)1 << lane_of(k);
        add_to_either(g, q, sum, set, q->ops[i]);
        done |= set;
    }
}

/* Whether all of the sums' arrays have cells in this launch; NULL: one never has, or there is but one array. */
static LLVMValueRef
all_private(gen *g, const gen_sums *q)
{
    LLVMValueRef all = NULL;
    bool several = false;
    for (uint32_t i = 0; i < q->n; i++) {
        const private_sum *cells = gen_private_sum(g, q->ops[i]);
        bool known = false;
        if (!cells)
            return NULL;
        several |= !same_array(q->ops[0], q->ops[i]);
        for (uint32_t k = 0; k < i && !known; k++)
            known = gen_private_sum(g, q->ops[k]) == cells;
        if (!known)
            all = all ? LLVMBuildAnd(g->s->top, all, cells->used, "") : cells->used;
    }
    return several ? all : NULL;
}

static lane_set
all_lanes_of(const gen_sums *q)
{
    lane_set set = 0;
    for (uint32_t i = 0; i < q->n; i++)
        set |= (lane_set)1 << lane_of(i);
    return set;
}

static void
add_sums(gen *g, gen_sums *q)
{
    LLVMValueRef sum = own_sum(g, q), together = all_private(g, q);
    if (!together) {
        add_by_array(g, q, sum);
        return;
    }
    LLVMBasicBlockRef cells = gen_block(g, "cells"), mixed = gen_block(g, "mixed"), end = gen_block(g, "added");
    LLVMBuildCondBr(g->b, together, cells, mixed);
    gen_at(g, cells);
    add_to_cells(g, q, sum, all_lanes_of(q));
    LLVMBuildBr(g->b, end);
    gen_at(g, mixed);
    add_by_array(g, q, sum);
    LLVMBuildBr(g->b, end);
    gen_at(g, end);
}

/* -- when -------------------------------------------------------------------------------------------------------- */

gen_sums *
gen_sums_begin(gen *g)
{
    gen_sums *q = NULL;
    if (g->options->simt && g->s->task && !gen_is_alone(g)) {
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
        add_sums(g, q);
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
    return op->code == RG_OP_FOR || op->code == RG_OP_LOOP || op->code == RG_OP_EXIT_IF;
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
    while (i < q->nshares && !same_place(q->shares[i].op, op))
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
