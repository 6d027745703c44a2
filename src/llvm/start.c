/* See start.h. SPDX-License-Identifier: Apache-2.0 */
#include "llvm/start.h"

#if RG_HAVE_CLANG
#include <clang-c/Index.h>
#endif
#if RG_HAVE_LLVM
#include <llvm-c/Target.h>
#endif

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

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
}

void
llvm_start(void)
{
    pthread_once(&once, start);
}
