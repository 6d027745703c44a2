/* One way back to the head of a loop that has loops in it, on NVIDIA's GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * The assembler (CUDA 13.0, in the driver too) takes an inner loop for a part of the outer one where two branches lead back to
 * the outer head, one of them out of the inner loop: of `b ? x : (a ? y : z)` in the inner one it makes
 *
 *   @!b  x = a ? y : z
 *
 * and x, made in the outer loop, has another value in the next round of the inner one. Our loops have one way back each, but
 * LLVM leads those who leave an inner loop straight to the outer head where nothing stands between. So a place stands there
 * that it neither passes by nor doubles, where a warp's threads, which are together anyway, meet. (To LLVM it touches no memory
 * that code knows, as rt_warp_sync would: what is loaded once before the loop still is.) */
#include "codegen/llvm/nvidia.h"

enum { MEMORY_OF_NOBODY = 3 << 2 }; /* LLVM's attribute `memory`: what no pointer reaches */

static bool
makes_no_loop(ir_op *op, void *user)
{
    const gen *g = user;
    bool takes_turns = g->options->deterministic && op->code == RG_OP_RMW; /* sums that are formed late, too */
    return !ir_is_loop(op) && op->code != RG_OP_PARALLEL && !gen_is_tried(op) && !takes_turns;
}

void
gen_way_back(gen *g, const ir_region *body)
{
    static const char text[] = "bar.warp.sync -1;";
    if (!gen_for_nvidia(g) || (body && ir_walk((ir_region *)body /* only looked at */, makes_no_loop, g)))
        return;
    LLVMTypeRef type = LLVMFunctionType(g->nothing, NULL, 0, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), "", 0, true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(g->b, type, code, NULL, 0, "");
    gen_mark_call(g, call, "convergent", 0);
    gen_mark_call(g, call, "nounwind", 0);
    gen_mark_call(g, call, "willreturn", 0);
    gen_mark_call(g, call, "memory", MEMORY_OF_NOBODY);
}
