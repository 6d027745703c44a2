/* See start.h. SPDX-License-Identifier: Apache-2.0 */
#include "llvm/start.h"

#if RG_HAVE_CLANG
#include <clang-c/Index.h>
#endif
#if RG_HAVE_LLVM
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#endif

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Code for AMD's GPUs gets its scalar registers before its vector registers. What LLVM 22's greedy allocator computes again for the
 * former may stand at the head of a block, before the lanes come back that have left a loop or a branch: then the allocation of the latter
 * takes that place for the first after their return, and copies for these lanes run while they are off (llvm/llvm-project 222368).
 * The basic allocator computes at the uses only. Both kinds are meant: scalar registers, and vector registers that hold such. Where the
 * fast allocator has the rest LLVM crashes by that: code for these GPUs never gets it. */
#if RG_HAVE_AMD /* LLVM ends the process where it does not know an option */
static void
choose_allocators(void)
{
    static const char *const options[] = {"retrograd", "-sgpr-regalloc=basic", "-wwm-regalloc=basic"};
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, "");
}
#endif

static void
start(void)
{
#if RG_HAVE_CLANG
    clang_disposeIndex(clang_createIndex(0, 0));
#endif
#if RG_HAVE_LLVM
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
#endif
#if RG_HAVE_AMD
    choose_allocators();
#endif
}

void
llvm_start(void)
{
    pthread_once(&once, start);
}
