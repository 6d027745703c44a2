/* The compiler in a process of its own (rg_module_desc.compile_process). SPDX-License-Identifier: Apache-2.0
 *
 * compiler.def's calls, made in a helper program: whatever ends it there is an error here. The program (serve.c) is found
 * beside this library, or where RG_COMPILE_PROCESS says. It is started when it is first needed; each call is the work of a process
 * that it forks. This process has no child of it, no signal of it, and no descriptor that an exec keeps. It ends with this
 * library or this process, and after fork() the child starts one of its own. All functions: any thread. */
#ifndef COMPILER_PROCESS_H
#define COMPILER_PROCESS_H

#include "compiler/compiler.h"

/* As ll_make and the others of compiler.def, but for RG_OUT_OF_MEMORY and RG_DEVICE, where the helper ended:
 * diags say how. `label` is what messages call the kernel. */
#if RG_HAVE_LLVM
RG_MUST_CHECK rg_status process_make(const ir_fn *fn, const ll_options *options, const char *label, str *bytes, diag_list *diags);
RG_MUST_CHECK rg_status process_emit_ptx_entries(const ir_fn *const *fns, const char *const *names, uint32_t n,
                                                 const ll_options *options, const char *label, str *ptx, ll_gpu_info *infos,
                                                 diag_list *diags);
RG_MUST_CHECK rg_status process_emit_hsaco_entries(const ir_fn *const *fns, const char *const *names, uint32_t n,
                                                   const ll_options *options, const char *label, str *hsaco,
                                                   ll_gpu_info *infos, diag_list *diags);
RG_MUST_CHECK rg_status process_emit_object(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options,
                                            const char *label, str *out, diag_list *diags);
RG_MUST_CHECK rg_status process_has_target(const ll_options *options, const char *label, diag_list *diags);
#endif
#if RG_HAVE_CLANG
RG_MUST_CHECK rg_status process_compile_c(const front_c_source *source, ir_module **out, diag_list *diags);
RG_MUST_CHECK rg_status process_list_c(const front_c_source *source, front_c_names *names, diag_list *diags);
#endif

#endif
