/* Metal Shading Language for Apple's GPUs. SPDX-License-Identifier: Apache-2.0
 *
 * Metal takes programs as text. The text is printed from the SPIR-V module that codegen/spirv has made for a device with MSL_FEATURES, so
 * kernels, tapes and sums have one generator. Entry "e0" becomes the kernel function e0, with
 *
 *   buffer(0)   rt_vulkan_push (rt/vulkan/launch.h): two addresses, as 64-bit numbers, and what is asked for
 *
 * in threadgroups of RT_WARP threads, one SIMD-group each; steps and memory of a launch are those of spirv.h. Needs Metal 3: pointers
 * made of numbers, atomic additions of floats. */
#ifndef CODEGEN_METAL_MSL_H
#define CODEGEN_METAL_MSL_H

#include "codegen/spirv/spirv.h"

enum { MSL_ERROR = 921 };

/* There is no f64 and no atomic of 64 bits. Division, roots and fma are the library's until a device was seen to round them right. */
enum { MSL_FEATURES = SPIRV_INT64 | SPIRV_ADDRESSES | SPIRV_MODEL | SPIRV_STORAGE8 | SPIRV_STORAGE16 | SPIRV_ATOMIC_ADD32 |
                      SPIRV_SUBGROUPS };

/* Of a kernel at IR_STAGE_SEGMENTS, as msl_read reads it. RG_UNSUPPORTED: it needs what Metal lacks, as the diagnostics say. The options'
 * features: MSL_FEATURES, and what a device was seen to have. */
RG_MUST_CHECK rg_status msl_make(const ir_fn *fn, const spirv_options *options, str *bytes, diag_list *diags);
/* The text, zero-terminated, which is the code's own, and what the host has to know of it, without words. false: the bytes are damaged. */
bool msl_read(rg_str bytes, spirv_code *code, const char **text);
/* The text of a module that spirv_make gave, or one written as it writes; without LLVM. */
RG_MUST_CHECK rg_status msl_print(const uint32_t *words, uint32_t nwords, str *out, diag_list *diags);

#endif
