/* Loop counters that the code generator for GPUs does not follow. SPDX-License-Identifier: Apache-2.0
 *
 * LLVM's strength reduction makes of every address that follows from a counter a number of its own that the loop carries:
 * good where addition is cheaper than multiplication and registers are few but fast to spill; on a GPU each is two of
 * the 128 registers that a thread has, and saves nothing. So, after all other passes,
 *
 *     %i = phi [start], [%next]                    %i = phi [start], [%next]
 *     .. uses of %i ..                   becomes   %same = mov %i, in assembly; .. uses of %same ..
 *     %next = add %i, step                         %next = add %i, step
 *
 * where comparisons and phis go on using %i. The assembler sees through the copy. */
#include "codegen/llvm/nvidia.h"

static bool
is_step(LLVMValueRef user, LLVMValueRef phi)
{
    return LLVMGetInstructionOpcode(user) == LLVMAdd && LLVMGetOperand(user, 0) == phi && LLVMIsConstant(LLVMGetOperand(user, 1));
}

/* counts, by a constant */
static bool
counts_by_constant(LLVMValueRef phi)
{
    LLVMTypeRef type = LLVMTypeOf(phi);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || (LLVMGetIntTypeWidth(type) != 32 && LLVMGetIntTypeWidth(type) != 64))
        return false;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, i);
        if (LLVMIsAInstruction(v) && is_step(v, phi))
            return true;
    }
    return false;
}

/* In this operand the loop itself needs it. */
static bool
is_needed_by_loop(LLVMValueRef user, LLVMValueRef phi, LLVMValueRef same)
{
    return user == same || is_step(user, phi) || LLVMIsAICmpInst(user) || LLVMIsAPHINode(user);
}

static LLVMValueRef
opaque_copy(LLVMContextRef context, LLVMBuilderRef b, LLVMValueRef phi)
{
    static const char *const pure[] = {"nounwind", "willreturn", "memory"};
    bool wide = LLVMGetIntTypeWidth(LLVMTypeOf(phi)) == 64;
    char text[] = "mov.b64 $0, $1;", places[] = "=l,l";
    if (!wide) {
        memcpy(text, "mov.b32", 7);
        memcpy(places, "=r,r", 4);
    }
    LLVMTypeRef number = LLVMTypeOf(phi), type = LLVMFunctionType(number, &number, 1, false);
    LLVMValueRef assembly = LLVMGetInlineAsm(type, text, sizeof text - 1, places, sizeof places - 1, false, false,
                                             LLVMInlineAsmDialectATT, false);
    LLVMValueRef same = LLVMBuildCall2(b, type, assembly, &phi, 1, "");
    for (size_t i = 0; i < countof(pure); i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(pure[i], strlen(pure[i]));
        LLVMAddCallSiteAttribute(same, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
    }
    return same;
}

static bool
has_other_uses(LLVMValueRef phi)
{
    for (LLVMUseRef use = LLVMGetFirstUse(phi); use; use = LLVMGetNextUse(use))
        if (!is_needed_by_loop(LLVMGetUser(use), phi, NULL))
            return true;
    return false;
}

static void
hide_counter(LLVMContextRef context, LLVMBuilderRef b, LLVMValueRef phi)
{
    LLVMValueRef first = phi;
    while (LLVMIsAPHINode(first))
        first = LLVMGetNextInstruction(first);
    LLVMPositionBuilderBefore(b, first);
    LLVMValueRef same = opaque_copy(context, b, phi);
    for (LLVMUseRef use = LLVMGetFirstUse(phi), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (is_needed_by_loop(user, phi, same))
            continue;
        for (int k = 0; k < LLVMGetNumOperands(user); k++)
            if (LLVMGetOperand(user, (unsigned)k) == phi)
                LLVMSetOperand(user, (unsigned)k, same);
        next = LLVMGetFirstUse(phi); /* the list is another one now */
    }
}

void
nvidia_hide_counters(LLVMModuleRef module)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
                if (counts_by_constant(i) && has_other_uses(i))
                    hide_counter(context, b, i);
    LLVMDisposeBuilder(b);
}
