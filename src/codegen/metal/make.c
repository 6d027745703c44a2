/* A kernel as MSL. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/metal/msl.h"
#include "codegen/spirv/code.h"

static void
free_spirv(void *code)
{
    spirv_code_free(code);
}

rg_status
msl_make(const ir_fn *fn, const spirv_options *options, str *bytes, diag_list *diags)
{
    str spirv = {.in = mem_scratch()}, head = {.in = mem_scratch()}, text = {.in = mem_scratch()};
    spirv_options ours = *options;
    spirv_code code = {0};
    mem_owner owns;
    ours.platform = "Metal";
    TRY(spirv_make(fn, &ours, &spirv, diags));
    if (!spirv_read(str_view(&spirv), &code)) {
        diag_add(diags, DIAG_ERROR, MSL_ERROR, (diag_place){0}, "Metal: the module cannot be read back");
        return RG_DEVICE;
    }
    mem_own(&owns, free_spirv, &code);
    rg_status status = msl_print(code.words, code.nwords, &text, diags);
    code.nwords = 0;
    if (!status) {
        spirv_code_write(&head, &code);
        bytes_put(bytes, str_view(&head));
        bytes_put(bytes, str_view(&text));
    }
    mem_disown(&owns);
    spirv_code_free(&code);
    return status;
}
