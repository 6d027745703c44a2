/* Target machines, and which of LLVM's passes run. SPDX-License-Identifier: Apache-2.0
 *
 * The lists are short: our own passes have simplified the kernel already. What remains is what only
 * shows below the IR: address arithmetic, loads from memory, loops of constant length over local
 * arrays, and vectors for threads that do the same without branching (floats are never reordered
 * for it). The longer a function, the fewer passes it gets. */
#include "codegen/llvm/gen.h"

#include "llvm/start.h"

#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#define COMBINE "instcombine<no-verify-fixpoint>"
/* Chains of ifs on one value become switches first: instcombine holds each comparison against all others of the value,
 * so that a thousand cost a million steps. */
#define CLEAN                                                                                      \
    "sroa,early-cse,simplifycfg," COMBINE ",simplifycfg,loop-mssa(licm),loop(indvars,loop-unroll-full),sroa,"  \
    "gvn," COMBINE ",simplifycfg"
/* What is the same in all iterations is decided before the loop: whether sums are private, whether
 * threads have elements of their own. */
#define UNSWITCH "loop-mssa(simple-loop-unswitch<nontrivial>)," COMBINE ",simplifycfg"
/* Loops that have been unrolled may leave something else that is the same in all iterations. */
#define OUT_OF_LOOPS "loop-mssa(licm)"
#define UNROLL COMBINE ",simplifycfg,loop-unroll<O2>,slp-vectorizer,early-cse"
/* A long function is one of many directions more often than not: its short loops over rows and
 * columns are vectors, each with as many accumulators as there are directions. */
#define MANY "sroa,early-cse,simplifycfg," COMBINE ",simplifycfg,loop-mssa(licm),loop(indvars)"
#define MANY_UNROLL "loop(loop-unroll-full),sroa,gvn," COMBINE ",simplifycfg"

/* A list ends where something of ours is done: loops are looked at before they are vectorised (uniform.c), and where
 * there may be new masked loads these are held (held.c) before others see them. */
enum { VECTORIZE = 1, LISTS = 3 };
static const char *const passes[][LISTS] = {
    [MACHINE_FULL] = {"function(" CLEAN "," UNSWITCH "," OUT_OF_LOOPS ")", "function(loop-vectorize)",
                      "function(" UNROLL ")"},
    [MACHINE_SHORT] = {"function(" MANY ")", "function(loop-vectorize)", "function(" MANY_UNROLL ")"},
    [MACHINE_QUICK] = {"function(sroa,early-cse)"},
};

/* For GPUs: which addresses are of arrays is told first, while it is plain to see; then tasks come to stand where they are
 * run, and what a thread does stays scalar. What is the same in all iterations stays in them unless the assembler moves
 * it: it knows how many registers there are, and that arguments take none. */
#define OF_THREADS(list) "ipsccp,deadargelim,function(infer-address-spaces),always-inline,cgscc(inline),globaldce,function(" list ")"
#define CLEAN_THREADS                                                                              \
    "sroa,early-cse," COMBINE ",simplifycfg,loop(indvars,loop-unroll-full),sroa,gvn," COMBINE ",simplifycfg"
#define ROLLED UNSWITCH ",loop-unroll<O2>,early-cse"
static const char *const warp_passes[][LISTS] = {
    [MACHINE_FULL] = {OF_THREADS(CLEAN_THREADS "," ROLLED)},
    [MACHINE_SHORT] = {OF_THREADS("sroa,early-cse," COMBINE ",simplifycfg,sroa,gvn," COMBINE ",simplifycfg")},
    [MACHINE_QUICK] = {OF_THREADS("sroa,early-cse")},
};

bool
machine_create(const ll_options *options, machine_effort effort, machine_ref *out, str *error)
{
    llvm_start();
    bool host = !options->triple && !options->cpu;
    char *triple =
        options->triple ? LLVMNormalizeTargetTriple(options->triple) : LLVMGetDefaultTargetTriple();
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        LLVMDisposeMessage(triple);
        str_addz(error, message);
        LLVMDisposeMessage(message);
        return false;
    }
    char *cpu = host ? LLVMGetHostCPUName() : NULL;
    char *features = host && !options->features ? LLVMGetHostCPUFeatures() : NULL;
    *out = LLVMCreateTargetMachine(target, triple,
                                   cpu            ? cpu
                                   : options->cpu ? options->cpu
                                                  : "",
                                   features            ? features
                                   : options->features ? options->features
                                                       : "",
                                   effort == MACHINE_QUICK ? LLVMCodeGenLevelNone
                                                           : LLVMCodeGenLevelDefault,
                                   LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMDisposeMessage(triple);
    if (cpu)
        LLVMDisposeMessage(cpu);
    if (features)
        LLVMDisposeMessage(features);
    if (!*out) {
        str_addz(error, "no code for this target");
        return false;
    }
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(*out);
    bool fits = LLVMPointerSize(layout) == sizeof(void *);
    LLVMDisposeTargetData(layout);
    if (fits)
        return true;
    str_addz(error, "only targets with 64-bit addresses are supported"); /* rt/abi.h */
    LLVMDisposeTargetMachine(*out);
    *out = NULL;
    return false;
}

void
machine_free(machine_ref machine)
{
    if (machine)
        LLVMDisposeTargetMachine(machine);
}

const char *
machine_passes(machine_effort effort, bool warps, unsigned list)
{
    return list < LISTS ? (warps ? warp_passes : passes)[effort][list] : NULL;
}

bool
machine_optimize(machine_ref machine, LLVMModuleRef module, machine_effort effort, bool warps, str *error)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = NULL;
    const char *list;
    for (unsigned i = 0; !failed && (list = machine_passes(effort, warps, i)); i++) {
        machine_hold_loads(module);
        if (i == VECTORIZE)
            machine_spare_vectorizer(module);
        failed = LLVMRunPasses(module, list, machine, options);
        if (i == VECTORIZE)
            machine_end_vectorizer(module);
    }
    LLVMDisposePassBuilderOptions(options);
    /* The passes have left scalars alone in the functions that say so; copies of memory go through vectors. */
    unsigned kind = LLVMGetEnumAttributeKindForName("noimplicitfloat", 15);
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        LLVMRemoveEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex, kind);
    if (!failed)
        return true;
    char *message = LLVMGetErrorMessage(failed);
    str_addz(error, message);
    LLVMDisposeErrorMessage(message);
    return false;
}
