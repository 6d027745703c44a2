/* LLVM's passes for the control flow of AMD's GPUs, on what goes into joins. SPDX-License-Identifier: Apache-2.0
 *
 *   joins_test [--bare] FILE.ll...
 *
 * A FILE.ll has a function i64 @walk(ptr addrspace(1), i32, i32, i32), that some LLVM's passes get wrong. Made into control flow as the
 * GPUs have it, it has to give the same as before, for a null pointer and all small numbers, in LLVM's interpreter. --bare: without what
 * we do against LLVM's faults (codegen/llvm/held.c). Otherwise what LLVM's passes alone make of it is only said. */
#include "codegen/llvm/gen.h"

#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Transforms/PassBuilder.h>

enum { MOST = 5, RESULTS = MOST * MOST * MOST };

/* as LLVM's own list for these GPUs has them */
static const char passes[] = "function(loop-simplify,fix-irreducible,unify-loop-exits),structurizecfg";

static _Noreturn void
quit(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

static LLVMModuleRef
read_module(LLVMContextRef context, const char *path)
{
    LLVMMemoryBufferRef text;
    LLVMModuleRef module;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &text, &message) || LLVMParseIRInContext(context, text, &module, &message))
        quit(path, message);
    return module;
}

/* The interpreter does not know it; there is no poison here. */
static void
drop_freezes(LLVMModuleRef module)
{
    LLVMValueRef walk = LLVMGetNamedFunction(module, "walk");
    for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(walk); at; at = LLVMGetNextBasicBlock(at))
        for (LLVMValueRef i = LLVMGetFirstInstruction(at), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (LLVMIsAFreezeInst(i)) {
                LLVMReplaceAllUsesWith(i, LLVMGetOperand(i, 0));
                LLVMInstructionEraseFromParent(i);
            }
        }
}

static void
structurize(LLVMModuleRef module, machine_ref machine, bool bare)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    if (!bare)
        machine_hold_joins(module);
    LLVMErrorRef failed = LLVMRunPasses(module, passes, machine, options);
    if (failed)
        quit(passes, LLVMGetErrorMessage(failed));
    LLVMDisposePassBuilderOptions(options);
    drop_freezes(module);
}

/* Takes the module. */
static void
run(LLVMModuleRef module, uint64_t results[RESULTS])
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMExecutionEngineRef engine;
    char *message = NULL;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMValueRef walk = LLVMGetNamedFunction(module, "walk");
    if (LLVMCreateInterpreterForModule(&engine, module, &message))
        quit("LLVM's interpreter", message);
    for (unsigned n = 0; n < RESULTS; n++) {
        LLVMGenericValueRef args[] = {LLVMCreateGenericValueOfPointer(NULL), LLVMCreateGenericValueOfInt(i32, n % MOST, false),
                                      LLVMCreateGenericValueOfInt(i32, n / MOST % MOST, false),
                                      LLVMCreateGenericValueOfInt(i32, n / MOST / MOST, false)};
        LLVMGenericValueRef result = LLVMRunFunction(engine, walk, countof(args), args);
        results[n] = LLVMGenericValueToInt(result, false);
        LLVMDisposeGenericValue(result);
        for (size_t i = 0; i < countof(args); i++)
            LLVMDisposeGenericValue(args[i]);
    }
    LLVMDisposeExecutionEngine(engine);
}

static bool
is_right(const char *path, machine_ref machine, bool bare)
{
    uint64_t before[RESULTS], after[RESULTS];
    LLVMContextRef context = LLVMContextCreate();
    run(read_module(context, path), before);
    LLVMModuleRef module = read_module(context, path);
    structurize(module, machine, bare);
    run(module, after);
    LLVMContextDispose(context);
    return memcmp(before, after, sizeof before) == 0;
}

int
main(int argc, char **argv)
{
    bool bare = argc > 1 && strcmp(argv[1], "--bare") == 0;
    const ll_options options = {.triple = "amdgcn-amd-amdhsa", .cpu = "gfx1100"};
    machine_ref machine;
    str error = {0};
    int failures = 0;
    LLVMLinkInInterpreter();
    if (!machine_create(&options, MACHINE_FULL, &machine, &error))
        quit("the target", error.ptr);
    for (int i = bare ? 2 : 1; i < argc; i++) {
        bool right = is_right(argv[i], machine, bare);
        failures += !right;
        printf("%s: %s\n", argv[i], right ? "right" : "WRONG");
        if (!bare && is_right(argv[i], machine, true))
            printf("%s: right with this LLVM's passes alone\n", argv[i]);
    }
    machine_free(machine);
    return failures != 0 || argc < 2;
}
