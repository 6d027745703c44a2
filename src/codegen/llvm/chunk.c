/* Loops over the iterations of a chunk (ad/chunks.c). SPDX-License-Identifier: Apache-2.0
 *
 * A recording sweep runs its loop R iterations at a time. On a GPU they become straight code, or a few of them do where
 * they are long: no counter, and what an iteration loads is asked for while those before it still compute. What records
 * dropped frames again runs seldom and stays a loop. */
#include "codegen/llvm/gen.h"

#include <llvm-c/DebugInfo.h>

enum { FUNCTION = 24 /* ops that one of the math library counts for */, MOST_OPS = 640 };

static bool
count_op(ir_op *op, void *user)
{
    *(uint32_t *)user += ir_ops[op->code].flags & IR_FUNCTION ? FUNCTION : op->code != RG_OP_CONST;
    return op->code != RG_OP_FOR && op->code != RG_OP_LOOP;
}

/* 0: it does not record chunks */
uint64_t
gen_iterations_of_chunk(const ir_op *op)
{
    uint64_t lo, hi;
    if (!ir_is_const(op->args[0], &lo) || !ir_is_const(op->args[1], &hi) || op->attr.step != 1)
        return 0;
    ir_for_ops (beside, op->parent)
        if (beside->code == RG_OP_TAPE_PUSH && !beside->again)
            return hi - lo;
    return 0;
}

/* 1: not at all */
static void
mark_loop(gen *g, LLVMValueRef branch, uint64_t count)
{
    LLVMContextRef c = g->context;
    const char *what = count > 1 ? "llvm.loop.unroll.count" : "llvm.loop.unroll.disable";
    LLVMMetadataRef itself = LLVMTemporaryMDNode(c, NULL, 0);
    LLVMMetadataRef words[2] = {LLVMMDStringInContext2(c, what, strlen(what)), LLVMValueAsMetadata(gen_i32(g, (int64_t)count))};
    LLVMMetadataRef fields[2] = {itself, LLVMMDNodeInContext2(c, words, count > 1 ? 2 : 1)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(c, fields, 2);
    LLVMMetadataReplaceAllUsesWith(itself, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, node));
}

/* `branch` closes the loop that op, a `for`, became */
void
gen_unroll_chunk(gen *g, const ir_op *op, LLVMValueRef branch)
{
    uint64_t count = g->options->simt ? gen_iterations_of_chunk(op) : 0;
    uint32_t ops = 0;
    if (count < 2 || !ir_walk(op->regions[0], count_op, &ops))
        return;
    if (g->bet_is_lost)
        count = 1;
    while (count > 1 && count * ops > MOST_OPS)
        count = count % 2 ? 1 : count / 2;
    mark_loop(g, branch, count);
}
