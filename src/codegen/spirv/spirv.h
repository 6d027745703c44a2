/* SPIR-V for Vulkan. SPDX-License-Identifier: Apache-2.0
 *
 * A kernel at IR_STAGE_SEGMENTS becomes one module with an entry point for each segment and task (and for what follows a task): "e0",
 * "e1", ... Each has one workgroup size, RT_WARP invocations, and takes rt_vulkan_push (rt/vulkan/launch.h). Addresses are those of
 * bufferDeviceAddress. It is made without Vulkan and without LLVM. */
#ifndef CODEGEN_SPIRV_SPIRV_H
#define CODEGEN_SPIRV_SPIRV_H

#include "codegen/llvm/code.h"
#include "segments/segments.h"

/* What a device has, bits. INT64, ADDRESSES and MODEL code cannot do without; what needs another one that is missing is made in another
 * way, or refused. */
enum {
    SPIRV_INT64 = 1,          /* shaderInt64 */
    SPIRV_ADDRESSES = 2,      /* bufferDeviceAddress */
    SPIRV_MODEL = 4,          /* vulkanMemoryModel and vulkanMemoryModelDeviceScope */
    SPIRV_FLOAT64 = 8,        /* shaderFloat64 */
    SPIRV_STORAGE8 = 16,      /* storageBuffer8BitAccess */
    SPIRV_STORAGE16 = 32,     /* storageBuffer16BitAccess */
    SPIRV_ATOMIC_INT64 = 64,  /* shaderBufferInt64Atomics */
    SPIRV_ATOMIC_ADD32 = 128, /* shaderBufferFloat32AtomicAdd */
    SPIRV_ATOMIC_ADD64 = 256, /* shaderBufferFloat64AtomicAdd */
    /* subgroups of RT_WARP can be required (subgroupSizeControl) and have ballot and shuffle; pipelines are made so then, with full
     * subgroups */
    SPIRV_SUBGROUPS = 512,
    SPIRV_DENORM32 = 1024, /* shaderDenormPreserveFloat32, ...64 */
    SPIRV_DENORM64 = 2048,
    SPIRV_ROUND32 = 4096, /* shaderRoundingModeRTEFloat32, ...64 */
    SPIRV_ROUND64 = 8192,
    SPIRV_KEEPS32 = 1 << 14, /* shaderSignedZeroInfNanPreserveFloat32, ...64 */
    SPIRV_KEEPS64 = 1 << 15,
    /* the device was seen to round as IEEE 754 asks for: division and square root, fma in one step (of f32, of f64) */
    SPIRV_EXACT32 = 1 << 16,
    SPIRV_EXACT64 = 1 << 17,
    SPIRV_FUSED32 = 1 << 18,
    SPIRV_FUSED64 = 1 << 19,
    SPIRV_MEETS = 1 << 20 /* shaderSubgroupUniformControlFlow: lanes that a branch has parted meet where it ends */
};
typedef uint32_t spirv_features;

/* What is known about the launches that the code is for, as ll_options. */
typedef struct spirv_options {
    const uint8_t *present, *absent;
    const bool *contiguous;
    bool noalias, deterministic;
    spirv_features features;
    const char *platform; /* as messages call it; NULL: Vulkan */
} spirv_options;

typedef struct spirv_code {
    const uint32_t *words; /* the module, nwords of them: in the bytes that were read, or the code's own */
    uint32_t nwords;
    uint32_t entries;
    uint32_t cells;  /* of partial results, 8 bytes each, for each row of pieces */
    uint32_t lane_cells; /* of sums that a row keeps for each of its lanes while it is not done */
    bool keeps;      /* tapes outlive a task */
    bool fixed;      /* deterministic: rows do not follow from how many workgroups there are */
    spirv_features uses;
    /* has_tape, prints, the places, bytes of the record, the steps: RUN is a dispatch of one workgroup, TASK one of
     * rt_vulkan_launch.groups; what has to follow a segment or task are entries of their own. AGAIN is the task's entry once more, as
     * often as rt_vulkan_fewer says from `groups` down to one, with rt_vulkan_task.groups workgroups: mostly none */
    ll_gpu_info info;
    arena *in;
} spirv_code;

/* RG_UNSUPPORTED: the diagnostics say what the device lacks, or this generator. */
RG_MUST_CHECK rg_status spirv_make(const ir_fn *fn, const spirv_options *options, str *bytes, diag_list *diags);
/* Of bytes that spirv_make gave, which need not outlive it; false: they are damaged. */
bool spirv_read(rg_str bytes, spirv_code *out);
void spirv_code_free(spirv_code *code); /* of one that is all zero, too */

#endif
