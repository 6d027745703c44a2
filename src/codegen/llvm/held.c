/* Masked loads stay where they are, and what a join takes in. SPDX-License-Identifier: Apache-2.0
 *
 * LLVM 22's InstCombine makes of `select m, (masked.load p, m, x), y`, where nothing else uses what is loaded, a
 * masked load with y for the lanes that m leaves out. It puts that load where the select stands: what was stored
 * to p between the two is read. (LLVM 23 looks whether it may.) Any pass may bring a load and a select together,
 * so no care with selects helps. But a fold that looks for a masked load does not look through `freeze`, and a
 * freeze of what comes from memory stays: nobody knows that it is not poison. It costs no instruction. */
#include "codegen/llvm/gen.h"

static bool
is_masked_load(LLVMValueRef i)
{
    static const char name[] = "llvm.masked.load";
    LLVMValueRef fn = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return fn && LLVMIsAFunction(fn) && LLVMGetIntrinsicID(fn) == LLVMLookupIntrinsicID(name, sizeof name - 1);
}

static bool
is_held(LLVMValueRef load)
{
    LLVMUseRef use = LLVMGetFirstUse(load);
    return !use || (!LLVMGetNextUse(use) && LLVMIsAFreezeInst(LLVMGetUser(use)));
}

static void
hold(LLVMBuilderRef b, LLVMValueRef load)
{
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(load));
    LLVMValueRef held = LLVMBuildFreeze(b, load, "");
    LLVMReplaceAllUsesWith(load, held);
    LLVMSetOperand(held, 0, load);
}

void
machine_hold_loads(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(fn); at; at = LLVMGetNextBasicBlock(at))
            for (LLVMValueRef i = LLVMGetFirstInstruction(at); i; i = LLVMGetNextInstruction(i))
                if (is_masked_load(i) && !is_held(i))
                    hold(b, i);
    LLVMDisposeBuilder(b);
}

/* -- joins -------------------------------------------------------------------------------------------------------
 *
 * For AMD's GPUs, LLVM 22's StructurizeCFG takes an instruction that costs nothing, and whose value one of two arms hands to a phi,
 * to where the arms part. If the arms are not all that comes to the phi's block, some paths get the value from before: a loop's pointer
 * does not go on (LLVM 23 looks at how many there are). It does not move what another instruction of the same block goes into: a freeze. */

/* Those that cost something, on every GPU. Pointers that move, casts, parts of vectors, and some calls do not. */
static bool
may_be_free(LLVMValueRef i)
{
    return !(LLVMIsAPHINode(i) || LLVMIsABinaryOperator(i) || LLVMIsACmpInst(i) || LLVMIsASelectInst(i) || LLVMIsALoadInst(i) ||
             LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAAllocaInst(i));
}

static void
hold_incoming(LLVMBuilderRef b, LLVMValueRef phi, LLVMBasicBlockRef from)
{
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, k);
        if (LLVMGetIncomingBlock(phi, k) != from || !LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != from ||
            !may_be_free(value))
            continue;
        LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(value));
        LLVMSetOperand(phi, k, LLVMBuildFreeze(b, value, ""));
    }
}

void
machine_hold_joins(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(fn); at; at = LLVMGetNextBasicBlock(at)) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(at);
            if (LLVMGetNumSuccessors(end) != 1)
                continue;
            LLVMBasicBlockRef to = LLVMGetSuccessor(end, 0);
            for (LLVMValueRef phi = LLVMGetFirstInstruction(to); phi && LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi))
                hold_incoming(b, phi, at);
        }
    LLVMDisposeBuilder(b);
}
