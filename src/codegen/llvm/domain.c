/* The iterations of a parallel loop over a range of its linearised domain.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   position of lo in the domain                  (the only division)
 *   for each run of the last index in [lo, hi):   the other indices stand still
 *     for each last index of the run: body
 *
 * A loop that rewinds runs from last to first: it counts the mirrored domain upwards. In groups, a run of
 * the last index is cut from its beginning, whichever way it is gone through. */
#include "codegen/llvm/gen.h"

/* of op's operands, in the scope that evaluates them */
domain
gen_domain_of(gen *g, const ir_op *op)
{
    domain d = {.rank = op->attr.rank, .mirrored = op->rewinds};
    d.dtype = (rg_dtype)op->args[0]->type.dtype;
    LLVMIntPredicate before = ir_is_signed(d.dtype) ? LLVMIntSLT : LLVMIntULT;
    d.total = gen_i64(g, 1);
    for (uint32_t k = 0; k < d.rank; k++) {
        d.lo[k] = gen_wide(g, op->args[k]);
        LLVMValueRef hi = gen_wide(g, op->args[d.rank + k]);
        LLVMValueRef some = LLVMBuildICmp(g->b, before, d.lo[k], hi, "");
        d.count[k] =
            LLVMBuildSelect(g->b, some, LLVMBuildSub(g->b, hi, d.lo[k], ""), gen_i64(g, 0), "");
        d.total = LLVMBuildMul(g->b, d.total, d.count[k], "");
    }
    return d;
}

/* the loop's own index from its place in the (mirrored) domain */
static void
set_index(gen *g, const ir_op *op, const domain *d, uint32_t k, LLVMValueRef place)
{
    const ir_value *index = op->regions[0]->params[k];
    LLVMValueRef wide;
    if (d->mirrored) {
        LLVMValueRef last = LLVMBuildNSWAdd(g->b, d->lo[k], d->count[k], "");
        wide = LLVMBuildNSWSub(g->b, LLVMBuildNSWSub(g->b, last, gen_i64(g, 1), ""), place, "");
    } else {
        wide = LLVMBuildNSWAdd(g->b, d->lo[k], place, "");
    }
    g->s->wide[index->id] = wide;
    bool narrow = ir_bits(d->dtype) < 64;
    gen_set(g, index, narrow ? LLVMBuildTrunc(g->b, wide, gen_type(g, d->dtype), "") : wide);
}

counted
gen_counted_begin(gen *g, const ir_op *op, LLVMValueRef from, LLVMValueRef to, uint32_t n, LLVMValueRef *sums)
{
    counted c = {.before = gen_here(g), .from = from, .n = n};
    c.sums = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    c.init = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    c.loop = gen_block(g, "each");
    c.strips = gen_strips_begin(g, op, to, true);
    LLVMBuildBr(g->b, gen_strips_enter(&c.strips, c.loop));
    gen_at(g, c.loop);
    c.strips.counter = c.at = LLVMBuildPhi(g->b, g->i64, "at");
    for (uint32_t r = 0; r < n; r++) {
        c.init[r] = sums[r];
        c.sums[r] = LLVMBuildPhi(g->b, LLVMTypeOf(sums[r]), "sum");
    }
    return c;
}

void
gen_counted_end(gen *g, counted *c, LLVMValueRef *sums)
{
    gen_poll_each(g, c->strips.op);
    LLVMValueRef next = LLVMBuildNSWAdd(g->b, c->at, gen_i64(g, 1), "");
    LLVMValueRef again = LLVMBuildICmp(g->b, c->strips.strip ? LLVMIntNE : LLVMIntSLT, next, c->strips.end, "");
    LLVMBasicBlockRef after = gen_block(g, "all");
    gen_strips_close(g, &c->strips, c->before, c->loop, again, after);
    gen_strips_carry(g, &c->strips, c->at, c->from, next);
    for (uint32_t r = 0; r < c->n; r++)
        gen_strips_carry(g, &c->strips, c->sums[r], c->init[r], sums[r]);
    LLVMMoveBasicBlockAfter(after, gen_here(g));
    gen_at(g, after);
}

unsigned
gen_group_lanes(const ir_op *op)
{
    const ir_region *body = op->regions[0];
    return body->nparams > op->attr.rank ? body->params[op->attr.rank]->type.lanes : 0;
}

/* NULL: a warp looks behind each piece that it was given */
static const ir_op *
polls_inside(const gen *g, const ir_op *op)
{
    return g->target->warp ? NULL : op;
}

/* Where group number `k` of the run begins, from the domain's first; a mirrored run has the same groups, from
 * last to first. Those of its threads are set that are there. */
static void
set_group(gen *g, const ir_op *op, const domain *d, LLVMValueRef from, LLVMValueRef to, LLVMValueRef groups,
          LLVMValueRef k)
{
    LLVMBuilderRef b = g->b;
    uint32_t last = d->rank - 1;
    unsigned lanes = gen_group_lanes(op);
    domain upwards = *d;
    if (d->mirrored) {
        LLVMValueRef first = LLVMBuildNSWSub(b, d->count[last], to, "");
        to = LLVMBuildNSWSub(b, d->count[last], from, "");
        from = first;
        k = LLVMBuildNSWSub(b, LLVMBuildNSWSub(b, groups, gen_i64(g, 1), ""), k, "");
    }
    LLVMValueRef place = LLVMBuildNSWAdd(b, from, LLVMBuildNSWMul(b, k, gen_i64(g, lanes), ""), "");
    upwards.mirrored = false;
    set_index(g, op, &upwards, last, place);
    LLVMValueRef left = LLVMBuildNSWSub(b, to, place, "");
    gen_set(g, op->regions[0]->params[d->rank], gen_first_lanes(g, lanes, left));
}

/* a run that is no longer than a group */
static void
one_group(gen *g, const ir_op *op, const domain *d, LLVMValueRef from, LLVMValueRef to, LLVMValueRef *sums)
{
    unsigned lanes = gen_group_lanes(op);
    set_group(g, op, d, from, to, gen_i64(g, 1), gen_i64(g, 0));
    gen_region(g, op->regions[0]);
    LLVMValueRef *values = gen_yielded(g, op->regions[0], op->nresults);
    for (uint32_t r = 0; r < op->nresults; r++)
        sums[r] = gen_contribute(g, op, r, sums[r], gen_splat(g, lanes, values[r]));
}

/* the same run, in groups */
static void
groups_of(gen *g, const ir_op *op, const domain *d, LLVMValueRef from, LLVMValueRef to, LLVMValueRef *sums)
{
    unsigned lanes = gen_group_lanes(op);
    uint32_t n = op->nresults;
    if (g->target->warp && gen_single_groups(g, op)) {
        one_group(g, op, d, from, to, sums);
        return;
    }
    LLVMValueRef run = LLVMBuildNSWSub(g->b, to, from, "");
    LLVMValueRef groups = LLVMBuildNSWAdd(g->b, run, gen_i64(g, lanes - 1), "");
    groups = LLVMBuildUDiv(g->b, groups, gen_i64(g, lanes), "groups");
    counted c = gen_counted_begin(g, polls_inside(g, op), gen_i64(g, 0), groups, n, sums);
    set_group(g, op, d, from, to, groups, c.at);
    gen_region(g, op->regions[0]);
    LLVMValueRef *values = gen_yielded(g, op->regions[0], n);
    for (uint32_t r = 0; r < n; r++)
        sums[r] = gen_contribute(g, op, r, c.sums[r], gen_splat(g, lanes, values[r]));
    gen_counted_end(g, &c, sums);
}

/* the iterations `from` <= place < `to` of the last index; replaces the sums by those after it */
static void
innermost_loop(gen *g, const ir_op *op, const domain *d, LLVMValueRef from, LLVMValueRef to,
               LLVMValueRef *sums)
{
    uint32_t n = op->nresults;
    if (gen_group_lanes(op)) {
        groups_of(g, op, d, from, to, sums);
        return;
    }
    counted c = gen_counted_begin(g, polls_inside(g, op), from, to, n, sums);
    set_index(g, op, d, d->rank - 1, c.at);
    gen_region(g, op->regions[0]);
    LLVMValueRef *values = gen_yielded(g, op->regions[0], n);
    for (uint32_t r = 0; r < n; r++)
        sums[r] = gen_contribute(g, op, r, c.sums[r], values[r]);
    gen_counted_end(g, &c, sums);
}

/* Runs of the last index. The others are carried: each moves on where those behind it wrapped. */
static void
rows(gen *g, const ir_op *op, const domain *d, LLVMValueRef lo, LLVMValueRef hi, LLVMValueRef *sums)
{
    uint32_t n = op->nresults, last = d->rank - 1;
    LLVMBuilderRef b = g->b;
    LLVMValueRef start[RANK_MAX], place[RANK_MAX], rest = lo, nil = gen_i64(g, 0);
    for (uint32_t k = d->rank; k-- > 0;) {
        start[k] = k ? LLVMBuildURem(b, rest, d->count[k], "") : rest;
        rest = k ? LLVMBuildUDiv(b, rest, d->count[k], "") : rest;
    }
    LLVMBasicBlockRef before = gen_here(g), loop = gen_block(g, "rows");
    LLVMBuildBr(b, loop);
    gen_at(g, loop);
    LLVMValueRef linear = LLVMBuildPhi(b, g->i64, "linear");
    LLVMAddIncoming(linear, &lo, &before, 1);
    for (uint32_t k = 0; k < d->rank; k++) {
        place[k] = LLVMBuildPhi(b, g->i64, "place");
        LLVMAddIncoming(place[k], &start[k], &before, 1);
    }
    LLVMValueRef *carried = arena_new_n(g->scratch, LLVMValueRef, n + 1);
    for (uint32_t r = 0; r < n; r++) {
        carried[r] = LLVMBuildPhi(b, LLVMTypeOf(sums[r]), "sum");
        LLVMAddIncoming(carried[r], &sums[r], &before, 1);
        sums[r] = carried[r];
    }
    for (uint32_t k = 0; k < last; k++)
        set_index(g, op, d, k, place[k]);
    LLVMValueRef left = LLVMBuildSub(b, hi, linear, "");
    LLVMValueRef row = LLVMBuildSub(b, d->count[last], place[last], "");
    LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntSLT, left, row, "");
    LLVMValueRef run = LLVMBuildSelect(b, fits, left, row, "");
    innermost_loop(g, op, d, place[last], LLVMBuildNSWAdd(b, place[last], run, ""), sums);
    if (polls_inside(g, op))
        gen_poll(g, op, 0);
    LLVMValueRef next = LLVMBuildNSWAdd(b, linear, run, ""), carry = gen_i64(g, 1);
    LLVMBasicBlockRef end = gen_here(g);
    LLVMAddIncoming(linear, &next, &end, 1);
    LLVMAddIncoming(place[last], &nil, &end, 1);
    for (uint32_t k = last; k-- > 0;) {
        LLVMValueRef moved = LLVMBuildNSWAdd(b, place[k], carry, "");
        LLVMValueRef wraps = LLVMBuildICmp(b, LLVMIntEQ, moved, d->count[k], "");
        moved = LLVMBuildSelect(b, wraps, nil, moved, "");
        carry = LLVMBuildZExt(b, wraps, g->i64, "");
        LLVMAddIncoming(place[k], &moved, &end, 1);
    }
    for (uint32_t r = 0; r < n; r++)
        LLVMAddIncoming(carried[r], &sums[r], &end, 1);
    LLVMBasicBlockRef after = gen_block(g, "endrows");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, next, hi, ""), loop, after);
    gen_at(g, after);
}

/* the iterations lo <= i < hi, not none, of the linearised domain */
void
gen_iterate(gen *g, const ir_op *op, const domain *d, LLVMValueRef lo, LLVMValueRef hi,
            LLVMValueRef *sums)
{
    if (d->mirrored) {
        LLVMValueRef first = LLVMBuildSub(g->b, d->total, hi, "");
        hi = LLVMBuildSub(g->b, d->total, lo, "");
        lo = first;
    }
    if (d->rank == 1)
        innermost_loop(g, op, d, lo, hi, sums);
    else
        rows(g, op, d, lo, hi, sums);
}
