/* What is particular to NVIDIA's GPUs. SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_LLVM_NVIDIA_H
#define CODEGEN_LLVM_NVIDIA_H

#include "codegen/llvm/gpu.h"

#define NVIDIA_TRIPLE "nvptx64-nvidia-cuda"
#define NVIDIA_OLDEST "sm_70"
#define NVIDIA_NEWEST "sm_121"
enum { NVIDIA_REDUX = 80 }; /* the first with an instruction that reduces a warp's integers */

/* The version of PTX for a GPU, as a feature of LLVM's; NULL: it is none of those above. */
const char *nvidia_features(const char *cpu);
/* "sm_90" gives 90. */
unsigned nvidia_number(const char *cpu);
/* Where libdevice is: the caller's path, or that of a CUDA toolkit; false: nowhere. */
bool nvidia_libdevice(const char *path, str *out);

/* counters.c: addresses are computed from loops' counters where they are used */
void nvidia_hide_counters(LLVMModuleRef module);

/* of code that the generator makes */
static inline bool
gen_for_nvidia(const gen *g)
{
    return g->kind == &gpu_nvidia;
}

/* latch.c: what stands before the branch back to a loop's head; nothing if the body has no loops, or for other machines.
 * NULL: it has. */
void gen_way_back(gen *g, const ir_region *body);

/* predicated.c: of arrays, where r->mask holds; `at` is the thread's own element, which others need not have */
LLVMValueRef gen_load_if(gen *g, const gen_reach *r, LLVMValueRef at);
void gen_store_if(gen *g, const gen_reach *r, LLVMValueRef at, LLVMValueRef value);
/* an addition whose result nobody asks for, to what other threads may add to as well; r->mask is the caller's */
bool gen_adds_unseen(const gen *g, rg_dtype d);
void gen_add_unseen(gen *g, const gen_reach *r, LLVMValueRef at, LLVMValueRef value);

/* the lower 32 of 64 bits, by an instruction that LLVM does not see through */
LLVMValueRef gen_low_half(gen *g, LLVMValueRef bits);

/* fast.c: where gen_is_fast, approximations of f32 */
bool gen_is_fast(const gen *g, LLVMTypeRef type);
LLVMValueRef gen_fast_division(gen *g, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef gen_fast_root(gen *g, LLVMValueRef x, bool reciprocal);
LLVMValueRef gen_fast_math(gen *g, const char *name, LLVMValueRef *args); /* NULL: there is none */

#endif
