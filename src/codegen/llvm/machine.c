/* Target machines, and which of LLVM's passes run. SPDX-License-Identifier: Apache-2.0
 *
 * The list is short: our own passes have simplified the kernel already. What remains is what only shows
 * below the IR: address arithmetic, loads from memory, the shape of loops. */
#include "codegen/llvm/gen.h"

#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <pthread.h>

#define COMBINE "instcombine<no-verify-fixpoint>"
static const char passes[] = "function(sroa,early-cse," COMBINE ",simplifycfg,loop-mssa(licm),gvn,"
                             COMBINE ",simplifycfg)";
/* for very long functions, where each pass costs */
static const char quick_passes[] = "function(sroa,early-cse)";

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
initialize(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

static bool
given(str *error, char *message)
{
    str_addz(error, message);
    LLVMDisposeMessage(message);
    return false;
}

bool
machine_create(const ll_options *options, bool quick, machine_ref *out, str *error)
{
    pthread_once(&once, initialize);
    bool host = !options->triple && !options->cpu;
    char *triple = options->triple ? LLVMNormalizeTargetTriple(options->triple)
                                   : LLVMGetDefaultTargetTriple();
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        LLVMDisposeMessage(triple);
        return given(error, message);
    }
    char *cpu = host ? LLVMGetHostCPUName() : NULL;
    char *features = host && !options->features ? LLVMGetHostCPUFeatures() : NULL;
    *out = LLVMCreateTargetMachine(
        target, triple, cpu ? cpu : options->cpu ? options->cpu : "",
        features ? features : options->features ? options->features : "",
        quick ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMDisposeMessage(triple);
    if (cpu)
        LLVMDisposeMessage(cpu);
    if (features)
        LLVMDisposeMessage(features);
    if (!*out)
        str_addz(error, "no code for this target");
    return *out != NULL;
}

void
machine_free(machine_ref machine)
{
    if (machine)
        LLVMDisposeTargetMachine(machine);
}

bool
machine_optimize(machine_ref machine, LLVMModuleRef module, bool quick, str *error)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed =
        LLVMRunPasses(module, quick ? quick_passes : passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!failed)
        return true;
    char *message = LLVMGetErrorMessage(failed);
    str_addz(error, message);
    LLVMDisposeErrorMessage(message);
    return false;
}
