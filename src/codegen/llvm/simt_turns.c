/* Lanes of a warp that update one element, in their order: for code that gives the same bits in every run.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   turn = how many lanes before this one have its address      (rt_warp_turn)
 *   for round = 0, while some lane's turn is still to come
 *       if round is the lane's turn: what it does, by plain loads and stores
 *       all lanes meet
 *
 * Lanes with addresses of their own all have the first turn. No other warp is at these addresses: they are of the warp's own row
 * of cells, or the task runs one piece after the other. */
#include "analysis/order.h"
#include "codegen/llvm/gen.h"

bool
gen_takes_turns(const gen *g, const ir_op *op)
{
    return g->options->deterministic && g->target->warp && g->s->task && !gen_is_alone(g) && ir_update_has_order(op);
}

gen_turns
gen_turns_begin(gen *g, LLVMValueRef at, LLVMValueRef mask)
{
    LLVMBuilderRef b = g->b;
    gen_warp_sync(g); /* what lanes did before, all see */
    LLVMValueRef key = LLVMBuildPtrToInt(b, LLVMBuildFreeze(b, at, ""), g->i64, "");
    LLVMValueRef args[2] = {key, mask ? LLVMBuildZExt(b, mask, g->i32, "") : gen_i32(g, 1)};
    gen_turns t = {.own = gen_warp_call(g, b, "rt_warp_turn", g->i32, 2, args), .before = gen_here(g)};
    t.loop = gen_block(g, "turns");
    LLVMBuildBr(b, t.loop);
    gen_at(g, t.loop);
    t.round = LLVMBuildPhi(b, g->i32, "round");
    t.some = gen_some_begin(g, LLVMBuildICmp(b, LLVMIntEQ, t.own, t.round, ""));
    return t;
}

void
gen_turns_end(gen *g, gen_turns *t)
{
    LLVMBuilderRef b = g->b;
    gen_some_end(g, &t->some);
    gen_warp_sync(g);
    LLVMBasicBlockRef after = gen_block(g, "taken");
    LLVMValueRef next = LLVMBuildAdd(b, t->round, gen_i32(g, 1), "");
    LLVMValueRef more = gen_ballot(g, LLVMBuildICmp(b, LLVMIntSGE, t->own, next, ""));
    LLVMBasicBlockRef from[2] = {t->before, gen_here(g)};
    LLVMValueRef back = LLVMBuildCondBr(b, LLVMBuildIsNotNull(b, more, ""), t->loop, after);
    gen_mark_loop(back, "llvm.loop.unroll.disable", NULL);
    LLVMAddIncoming(t->round, (LLVMValueRef[]){gen_i32(g, 0), next}, from, 2);
    gen_at(g, after);
}
