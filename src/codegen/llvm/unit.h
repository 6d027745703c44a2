/* One compilation: a kernel on its way through LLVM. SPDX-License-Identifier: Apache-2.0 */
#ifndef CODEGEN_LLVM_UNIT_H
#define CODEGEN_LLVM_UNIT_H

#include "codegen/llvm/gen.h"

#include <llvm-c/TargetMachine.h>

/* begin; set the machine; then make the module or the object; end. A failed allocation ends it too.
 */
typedef struct unit {
    gen g;
    math_library math;
    mem_owner owns;
    machine_effort effort;
    machine_ref machine; /* freed by end, unless taken out before */
    ll_gpu_info gpu;     /* of code in warps; freed by end, unless taken out before */
    const char *stage;   /* where it failed */
    bool refused;        /* by LLVM, in a diagnostic: error has its text */
    str error;
} unit;

extern const ll_options unit_no_options;

machine_effort unit_effort(const ir_fn *fn); /* by its length */
void unit_begin(unit *u, const ir_fn *fn, const ll_options *options, const char *symbol);
bool unit_generate(unit *u); /* LLVM's IR, as generated */
bool unit_add_kernel(unit *u, const ir_fn *fn, const char *name); /* one more, to the IR generated so far */
bool unit_optimize(unit *u);
bool unit_emit(unit *u, LLVMCodeGenFileType kind, LLVMMemoryBufferRef *out);
void unit_end(unit *u); /* but for error */
/* Reports u->error and frees it; RG_COMPILE. */
rg_status unit_failed(unit *u, diag_list *diags);
/* ll_print of a GPU */
rg_status gpu_print(const ir_fn *fn, const ll_options *options, ll_stage stage, str *out, diag_list *diags);
rg_status unit_report(diag_list *diags, const char *stage, str *error);
ll_times *unit_times(void);

#endif
