/* Loops in two versions, where what decides is known before. SPDX-License-Identifier: Apache-2.0
 *
 * Whether a sum is a worker's own, and whether threads have elements of their own, is the same in all iterations. LLVM would take such
 * questions out of small loops alone, and makes vectors only of loops without them.
 *
 *   if (each sum is our own, each thread has its elements) for .. { plain additions }  else for .. { all of it } */
#include "analysis/rows.h"
#include "codegen/llvm/gen.h"

enum { OPS_MAX = 400 };

static LLVMValueRef
both(gen *g, LLVMValueRef x, LLVMValueRef y)
{
    return !x || x == y ? y : LLVMBuildAnd(g->b, x, y, "");
}

/* Whether the loop's body is straight code but for such questions; *all: whether the answers are those hoped for. */
static bool
find_questions(gen *g, const ir_op *loop, LLVMValueRef *all)
{
    uint32_t ops = 0;
    ir_for_ops (op, loop->regions[0]) {
        const ir_op *plain = rows_plain(loop, op);
        const private_sum *sum = op->code == RG_OP_RMW ? gen_private_sum(g, op) : NULL;
        if ((plain == op && op->nregions) || ir_lanes_of(plain) || op->code == RG_OP_CALL || ++ops > OPS_MAX)
            return false;
        if (plain != op && !gen_is_alone(g))
            *all = both(g, *all, gen_get(g, op->args[0]));
        if (sum)
            *all = both(g, *all, sum->used);
    }
    return true;
}

static void
take_results(gen *g, const ir_op *op, const group *groups, uint32_t n, LLVMValueRef *values)
{
    for (uint32_t k = 0; k < n; k++)
        values[k] = gen_get_group(g, op->results + groups[k].first, groups[k].n);
}

/* what was made of op is in the other version */
static bool
forget_results(ir_op *op, void *user)
{
    gen *g = user;
    for (uint32_t i = 0; i < op->nresults; i++) {
        uint32_t id = op->results[i]->id;
        g->s->values[id] = g->s->wide[id] = NULL;
        if (g->s->vectors)
            g->s->vectors[id] = NULL;
    }
    return true;
}

bool
gen_for_versions(gen *g, const ir_op *op)
{
    LLVMValueRef all = NULL;
    if (g->target->warp || g->s->decided || g->bet || !find_questions(g, op, &all) || !all)
        return false;
    uint32_t n;
    group *groups = gen_groups(g, op, true, op->nresults, &n);
    LLVMValueRef *values[2];
    LLVMBasicBlockRef blocks[2] = {gen_block(g, "plain"), gen_block(g, "any")}, after = gen_block(g, "either"), ends[2];
    LLVMBuildCondBr(g->b, all, blocks[0], blocks[1]);
    for (unsigned version = 0; version < 2; version++) {
        gen_at(g, blocks[version]);
        g->s->decided = version == 0;
        gen_one_for(g, op);
        g->s->decided = false;
        values[version] = arena_new_n(g->scratch, LLVMValueRef, n + 1);
        take_results(g, op, groups, n, values[version]);
        ends[version] = gen_here(g);
        LLVMBuildBr(g->b, after);
        ir_walk(op->regions[0], forget_results, g);
    }
    LLVMMoveBasicBlockAfter(after, gen_here(g));
    gen_at(g, after);
    for (uint32_t k = 0; k < n; k++) {
        LLVMValueRef joined = LLVMBuildPhi(g->b, LLVMTypeOf(values[0][k]), "");
        LLVMAddIncoming(joined, (LLVMValueRef[]){values[0][k], values[1][k]}, ends, 2);
        gen_set_group(g, op->results + groups[k].first, groups[k].n, joined);
    }
    return true;
}
