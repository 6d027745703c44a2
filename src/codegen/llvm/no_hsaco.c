/* Code objects for AMD's GPUs, where this build makes none. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/llvm/ll.h"

rg_status
ll_emit_hsaco_entries(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, str *hsaco,
                      ll_gpu_info *infos, diag_list *diags)
{
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "this build makes no code for AMD's GPUs");
    return RG_UNSUPPORTED;
}
