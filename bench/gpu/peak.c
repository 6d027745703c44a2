/* See peak.h. SPDX-License-Identifier: Apache-2.0 */
#include "peak.h"

#include <string.h>

#if RG_HAVE_LLVM
#include "api/api.h"
#include "device/cuda/cuda.h"

uint64_t
peak_of_tape(const rg_context *context)
{
    return strcmp(rg_context_device(context), "cuda") == 0 ? rt_cuda_tape_peak(context->device) : 0;
}
#else
uint64_t
peak_of_tape(const rg_context *context)
{
    return 0;
}
#endif
