/* Code as bytes: what a launch needs, and what the maker gave. SPDX-License-Identifier: Apache-2.0 */
#include "device/segments/segments.h"

static void
release_needs(void *needs)
{
    rt_needs_free(needs);
}

rg_status
rt_segments_make(rt_segments_maker *make, const rt_program_desc *desc, spirv_features features, str *code, diag_list *diags)
{
    spirv_options options = {.present = desc->present, .absent = desc->absent, .contiguous = desc->dense, .noalias = desc->noalias,
                             .deterministic = desc->deterministic, .features = features};
    str made = {.in = mem_scratch()};
    rt_needs needs = {0};
    mem_owner owns;
    TRY(make(desc->fn, &options, &made, diags));
    mem_own(&owns, release_needs, &needs);
    rt_needs_make(&needs, desc->fn);
    rt_needs_write(&needs, code);
    bytes_put(code, str_view(&made));
    mem_disown(&owns);
    rt_needs_free(&needs);
    return RG_OK;
}

bool
rt_segments_read(rg_str bytes, uint32_t nparams, rt_needs *needs, rg_str *made)
{
    bytes_reader r = bytes_of(bytes);
    rt_needs_free(needs);
    rt_needs_read(&r, nparams, needs);
    *made = bytes_str(&r);
    return bytes_done(&r) && made->ptr;
}
