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

rg_status
rt_segments_load(const rt_device_table *table, rt_device *d, const rt_program_desc *desc, rt_segments_taker *take, rt_program *p,
                 diag_list *diags)
{
    bool kept = true, whole = false;
    for (unsigned wanted = 0; !whole && kept; wanted |= RT_CODE_ANEW) {
        str bytes = {.in = mem_scratch()};
        TRY(rt_program_code(table, d, desc, wanted, &bytes, &kept, diags));
        whole = take(p, str_view(&bytes));
    }
    if (!whole)
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s: the code is damaged, or for a device that can do more", rt_program_label(desc));
    return whole ? RG_OK : RG_COMPILE;
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
