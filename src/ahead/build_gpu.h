/* Kernels compiled ahead of time for a GPU. SPDX-License-Identifier: Apache-2.0 */
#ifndef AHEAD_BUILD_GPU_H
#define AHEAD_BUILD_GPU_H

#include "pipeline/pipeline.h"

typedef struct build_gpu {
    const ir_fn *kernel;     /* from pipeline_source */
    const ir_fn *const *fns; /* its forms */
    const char *const *names;
    uint32_t n;
    const bool *dense;
    const char *gpu; /* "sm_90" */
    bool fast_math, native_math;
    bool apart; /* LLVM runs in a process of its own (compiler/process.h) */
} build_gpu;

/* PTX, after comments that say what a loader has to know (docs/gpu.md). */
rg_status build_gpu_text(const build_gpu *b, str *out, diag_list *diags);

#endif
