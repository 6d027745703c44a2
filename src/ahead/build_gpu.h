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
    const char *gpu; /* "sm_90", "gfx942" */
    bool fast_math, native_math;
    bool apart; /* LLVM runs in a process of its own (compiler/process.h) */
} build_gpu;

/* The machine that such a name is one of; NULL: it names no GPU. */
const target *build_gpu_target(const char *name);
/* What is loaded there, and what a loader has to know of it (docs/gpu.md). The latter are comments at the beginning of PTX; of other code
 * they are a text of their own. */
rg_status build_gpu_code(const build_gpu *b, str *out, str *description, diag_list *diags);

#endif
