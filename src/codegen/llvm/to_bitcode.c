/* rgbitcode: the runtime for a kind of GPU as one C array. SPDX-License-Identifier: Apache-2.0
 *
 *     rgbitcode OUT.c NAME SCOPE|- FILE.bc...
 *
 * The files are what a compiler of C made of src/rt/gpu, not optimised. They are linked and optimised here, once, so
 * that a kernel's compilation only takes in what it calls. */
#include "base/base.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

static int
report_failure(const char *what, const char *why)
{
    fprintf(stderr, "rgbitcode: %s: %s\n", what, why);
    return 1;
}

static LLVMModuleRef
read_module(LLVMContextRef context, const char *path)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        report_failure(path, message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    bool bad = LLVMParseBitcodeInContext2(context, buffer, &module);
    LLVMDisposeMemoryBuffer(buffer);
    if (bad)
        report_failure(path, "is no bitcode of this LLVM");
    return bad ? NULL : module;
}

static LLVMModuleRef
link_files(LLVMContextRef context, int n, char **paths)
{
    LLVMModuleRef whole = read_module(context, paths[0]);
    for (int i = 1; whole && i < n; i++) {
        LLVMModuleRef next = read_module(context, paths[i]);
        if (!next || LLVMLinkModules2(whole, next)) {
            report_failure(paths[i], "cannot be linked");
            return NULL;
        }
    }
    return whole;
}

/* Compilers of C know no scopes for atomics of some GPUs and take the whole system; nobody but the device looks. */
static void
narrow_runtime_atomics(LLVMValueRef fn, unsigned scope)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(fn); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAtomic(i))
                LLVMSetAtomicSyncScopeID(i, scope);
}

/* What it was compiled for says nothing about what it will be: functions are taken into others of their target. */
static void
forget_target(LLVMValueRef fn)
{
    static const char *const names[] = {"target-cpu", "target-features", "tune-cpu"};
    for (size_t i = 0; i < countof(names); i++)
        LLVMRemoveStringAttributeAtIndex(fn, LLVMAttributeFunctionIndex, names[i], (unsigned)strlen(names[i]));
}

static int
optimize(LLVMModuleRef module)
{
    LLVMTargetRef target;
    char *message = NULL;
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    if (LLVMGetTargetFromTriple(LLVMGetTarget(module), &target, &message))
        return report_failure(LLVMGetTarget(module), message);
    LLVMTargetMachineRef machine =
        LLVMCreateTargetMachine(target, LLVMGetTarget(module), "", "", LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                LLVMCodeModelDefault);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPasses(module, "default<O2>", machine, options);
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeTargetMachine(machine);
    return failed ? report_failure("passes", LLVMGetErrorMessage(failed)) : 0;
}

static int
write_array(LLVMModuleRef module, const char *path, const char *name)
{
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(module);
    const unsigned char *at = (const unsigned char *)LLVMGetBufferStart(buffer);
    size_t n = LLVMGetBufferSize(buffer);
    FILE *out = fopen(path, "w");
    if (!out)
        return report_failure(path, "cannot be written");
    fprintf(out, "#include <stddef.h>\nextern const unsigned char %s[];\nextern const size_t %s_size;\n", name, name);
    fprintf(out, "const size_t %s_size = %zu;\nconst unsigned char %s[] = {", name, n, name);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%u,", i % 24 ? "" : "\n", at[i]);
    fprintf(out, "\n};\n");
    LLVMDisposeMemoryBuffer(buffer);
    return fclose(out) ? report_failure(path, "cannot be written") : 0;
}

int
main(int argc, char **argv)
{
    if (argc < 5)
        return report_failure("usage", "rgbitcode OUT.c NAME SCOPE|- FILE.bc...");
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = link_files(context, argc - 4, argv + 4);
    if (!module)
        return 1;
    bool narrows = strcmp(argv[3], "-") != 0;
    unsigned scope = LLVMGetSyncScopeID(context, argv[3], strlen(argv[3]));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
        if (narrows)
            narrow_runtime_atomics(fn, scope);
        forget_target(fn);
    }
    int code = optimize(module) || write_array(module, argv[1], argv[2]);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return code;
}
