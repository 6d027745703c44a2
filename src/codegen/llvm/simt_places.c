/* Where sums of a warp's lanes go that were formed together. SPDX-License-Identifier: Apache-2.0
 *
 * Each lane adds the one that it has (simt_sums.c). Element numbers of sums that stand together mostly differ by
 * constants: a lane reads its own from a table, once, and chooses between what is left. */
#include "codegen/llvm/nvidia.h"
#include "rt/gpu/gpu.h"

enum { LANE_BITS = 5, DEPTH = 6 };

typedef struct formed {
    const ir_op *const *ops; /* the additions */
    uint32_t n;
} formed;

/* in f32 rather than in f16 */
rg_dtype
gen_late_dtype(const ir_op *op)
{
    rg_dtype d = (rg_dtype)op->args[0]->type.dtype;
    return d == RG_F16 ? RG_F32 : d;
}

bool
gen_same_array(const ir_op *a, const ir_op *b)
{
    return a->args[0] == b->args[0] && a->plane == b->plane && a->beside == b->beside &&
           (a->beside || a->direction == b->direction);
}

/* -- which lane has which ------------------------------------------------------------------------------------ */

/* A choice of the sums: bit l, those that lane l is to add. */
typedef uint32_t lane_set;

static uint32_t
lane_of_sum(uint32_t sum)
{
    uint32_t lane = 0;
    for (unsigned k = 0; k < LANE_BITS; k++)
        lane |= (sum >> k & 1) << (LANE_BITS - 1 - k);
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

/* -- element numbers ------------------------------------------------------------------------------------------ */

/* Whether two values are computed alike, of the same. */
static bool
is_computed_alike(LLVMValueRef x, LLVMValueRef y, unsigned depth)
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
        if (!is_computed_alike(LLVMGetOperand(x, (unsigned)i), LLVMGetOperand(y, (unsigned)i), depth - 1))
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
add_place_number(gen *g, numbers *all, const ir_op *op, uint32_t lane, LLVMValueRef first)
{
    LLVMValueRef number = gen_number_in_copy(g, op);
    number = without_constant(number ? number : gen_i64(g, 0), all->type == g->i32, &all->rest[lane]);
    number = LLVMBuildIntCast2(g->b, number, all->type, true, "");
    if (first)
        number = LLVMBuildAdd(g->b, number, LLVMBuildTrunc(g->b, first, all->type, ""), "");
    uint32_t r = 0;
    while (r < all->nroots && !is_computed_alike(all->roots[r], number, DEPTH))
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
    LLVMValueRef table = gen_constant(g, LLVMArrayType2(all->type, RT_WARP), "places");
    LLVMSetInitializer(table, LLVMConstArray2(all->type, values, RT_WARP));
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    at = LLVMBuildZExt(g->s->top, at, g->i64, "");
    at = LLVMBuildInBoundsGEP2(g->s->top, all->type, gen_address(g, table), &at, 1, "");
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
add_to_cells(gen *g, const formed *q, LLVMValueRef sum, lane_set set)
{
    numbers all = {.type = g->i32}; /* rows are short */
    for (uint32_t i = 0; i < q->n; i++)
        if (set >> lane_of_sum(i) & 1)
            add_place_number(g, &all, q->ops[i], lane_of_sum(i),
                             in_direction(g, q->ops[i], gen_private_sum(g, q->ops[i])->first));
    LLVMValueRef number = own_number(g, &all);
    gen_simt_private_add_at(g, number, is_in(g, set), gen_cast(g, gen_late_dtype(q->ops[0]), RG_F64, sum));
}

/* -- to arrays ------------------------------------------------------------------------------------------------- */

static void
add_to_array(gen *g, const formed *q, LLVMValueRef sum, lane_set set, const ir_op *op)
{
    const ir_value *buffer = op->args[0];
    rg_dtype d = (rg_dtype)buffer->type.dtype;
    numbers all = {.type = g->i64};
    for (uint32_t i = 0; i < q->n; i++)
        if (set >> lane_of_sum(i) & 1)
            add_place_number(g, &all, q->ops[i], lane_of_sum(i), NULL);
    LLVMValueRef number = own_number(g, &all);
    gen_reach r = {.dtype = d, .access = op, .mask = is_in(g, set)};
    if (gen_presence(g, buffer, op->plane) == MAYBE)
        r.mask = LLVMBuildAnd(g->b, r.mask, LLVMBuildIsNotNull(g->b, gen_plane(g, buffer, op->plane), ""), "");
    LLVMValueRef start = gen_direction(g, buffer, op->plane, op->beside ? 0 : op->direction);
    r.at = LLVMBuildGEP2(g->b, gen_memory_type(g, d), start, &number, 1, "");
    if (g->options->deterministic && ir_is_float(d)) { /* no other warp is there, but two of these sums may have one place */
        gen_turns turns = gen_turns_begin(g, r.at, r.mask);
        gen_plain_rmw(g, op, d, r.at, gen_cast(g, gen_late_dtype(op), d, sum));
        gen_turns_end(g, &turns);
        return;
    }
    gen_some some = gen_some_begin(g, r.mask);
    if (gen_adds_unseen(g, d))
        gen_add_unseen(g, &r, r.at, sum);
    else
        gen_atomic_rmw(g, op, d, r.at, gen_cast(g, gen_late_dtype(op), d, sum));
    gen_some_end(g, &some);
}

/* -- both ------------------------------------------------------------------------------------------------------- */

/* The sums of one array: to its cells if it has any in this launch. */
static void
add_to_either(gen *g, const formed *q, LLVMValueRef sum, lane_set set, const ir_op *op)
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
add_by_array(gen *g, const formed *q, LLVMValueRef sum)
{
    lane_set done = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        if (done >> lane_of_sum(i) & 1)
            continue;
        lane_set set = 0;
        for (uint32_t k = i; k < q->n; k++)
            if (gen_same_array(q->ops[i], q->ops[k]))
                set |= (lane_set)1 << lane_of_sum(k);
        add_to_either(g, q, sum, set, q->ops[i]);
        done |= set;
    }
}

/* Whether all of the sums' arrays have cells in this launch; NULL: one never has, or there is but one array. */
static LLVMValueRef
all_private(gen *g, const formed *q)
{
    LLVMValueRef all = NULL;
    bool several = false;
    for (uint32_t i = 0; i < q->n; i++) {
        const private_sum *cells = gen_private_sum(g, q->ops[i]);
        bool known = false;
        if (!cells)
            return NULL;
        several |= !gen_same_array(q->ops[0], q->ops[i]);
        for (uint32_t k = 0; k < i && !known; k++)
            known = gen_private_sum(g, q->ops[k]) == cells;
        if (!known)
            all = all ? LLVMBuildAnd(g->s->top, all, cells->used, "") : cells->used;
    }
    return several ? all : NULL;
}

static lane_set
all_lanes_of(const formed *q)
{
    lane_set set = 0;
    for (uint32_t i = 0; i < q->n; i++)
        set |= (lane_set)1 << lane_of_sum(i);
    return set;
}

void
gen_add_to_places(gen *g, const ir_op *const *ops, uint32_t n, LLVMValueRef sum)
{
    formed q = {ops, n};
    LLVMValueRef together = all_private(g, &q);
    if (!together) {
        add_by_array(g, &q, sum);
        return;
    }
    LLVMBasicBlockRef cells = gen_block(g, "cells"), mixed = gen_block(g, "mixed"), end = gen_block(g, "added");
    LLVMBuildCondBr(g->b, together, cells, mixed);
    gen_at(g, cells);
    add_to_cells(g, &q, sum, all_lanes_of(&q));
    LLVMBuildBr(g->b, end);
    gen_at(g, mixed);
    add_by_array(g, &q, sum);
    LLVMBuildBr(g->b, end);
    gen_at(g, end);
}
