/* Masked loads stay where they are. SPDX-License-Identifier: Apache-2.0
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
