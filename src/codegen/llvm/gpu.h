/* Kinds of GPUs: what differs in their modules. SPDX-License-Identifier: Apache-2.0
 *
 * gpu.c makes a kernel's module for any of them. A generator that makes code for a GPU has its kind (gen.kind); what rt/simt runs
 * has none. */
#ifndef CODEGEN_LLVM_GPU_H
#define CODEGEN_LLVM_GPU_H

#include "codegen/llvm/unit.h"

enum { GPU_GLOBAL = 1 }; /* the address space of arrays */

typedef struct gpu_kind {
    const target *target;
    const char *triple;
    const char *oldest, *newest; /* what messages name; the first where none is asked for */
    const char *scope;           /* LLVM's, of atomic operations that nobody but the device sees */
    unsigned convention;         /* of entries */
    unsigned constants;          /* the address space of the module's own */
    const unsigned char *runtime; /* on the device, in LLVM's bitcode; */
    const size_t *runtime_size;   /* 0: the build had no compiler for it */
    const char *(*features)(const char *cpu); /* as LLVM writes them; NULL: there is no such GPU */
    void (*begin)(unit *u); /* the module with the runtime, before all passes; may be NULL */
    void (*make_entry)(unit *u, const ir_fn *fn, LLVMValueRef entry);
    void (*mark_atomic)(unit *u, LLVMValueRef instruction); /* may be NULL */
    LLVMMemoryBufferRef (*library)(unit *u); /* the vendor's math functions; NULL: there are none, and ours are taken */
    void (*finish)(LLVMModuleRef module);    /* behind all passes; may be NULL */
    bool never_quick; /* LLVM allocates the registers, and not by its fast allocator (llvm/start.c) */
    bool (*link)(rg_str object, str *out, str *error); /* NULL: what is loaded is the assembly */
} gpu_kind;

extern const gpu_kind gpu_nvidia, gpu_amd;

void gpu_add_attribute(unit *u, LLVMValueRef fn, unsigned where, const char *name, const char *value);
void gpu_set_constant(unit *u, const char *name, int value); /* an int32_t of the runtime, if there is one of that name */
unsigned gpu_attribute_kind(const char *name);
/* ll_emit_..._entries */
rg_status gpu_emit_entries(const gpu_kind *kind, const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options,
                           str *out, ll_gpu_info *infos, diag_list *diags);

#endif
