/* SPIR-V and what the host has to know of it, as bytes. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/spirv/code.h"

void
spirv_code_write(str *out, const spirv_code *code)
{
    bytes_put_u32(out, code->entries);
    bytes_put_u32(out, code->cells);
    bytes_put_u32(out, code->lane_cells);
    bytes_put_u32(out, code->keeps);
    bytes_put_u32(out, code->fixed);
    bytes_put_u32(out, code->uses);
    bytes_put_u32(out, code->nwords);
    for (uint32_t i = 0; i < code->nwords; i++)
        bytes_put_u32(out, code->words[i]);
    ll_gpu_info_write(out, &code->info);
}

/* whether each step is one that a host of these modules can follow, and runs an entry that there is */
static bool
names_entries(const spirv_code *code)
{
    for (size_t i = 0; i < code->info.steps.n; i++) {
        const segments_step *s = &code->info.steps.at[i];
        bool runs = s->kind == SEGMENTS_RUN || s->kind == SEGMENTS_TASK || s->kind == SEGMENTS_AGAIN;
        if (s->kind > SEGMENTS_AGAIN || (runs && s->entry >= code->entries))
            return false;
    }
    return true;
}

bool
spirv_read(rg_str bytes, spirv_code *out)
{
    bytes_reader r = bytes_of(bytes);
    arena *in = arena_new();
    *out = (spirv_code){.in = in, .entries = bytes_u32(&r)};
    out->cells = bytes_u32(&r);
    out->lane_cells = bytes_u32(&r);
    out->keeps = bytes_u32(&r);
    out->fixed = bytes_u32(&r);
    out->uses = bytes_u32(&r);
    out->nwords = bytes_count(&r, 4);
    uint32_t *words = arena_new_n(in, uint32_t, out->nwords + 1);
    for (uint32_t i = 0; i < out->nwords; i++)
        words[i] = bytes_u32(&r);
    out->words = words;
    ll_gpu_info_read(&r, &out->info);
    if (bytes_done(&r) && names_entries(out))
        return true;
    spirv_code_free(out);
    return false;
}

void
spirv_code_free(spirv_code *code)
{
    ll_gpu_info_free(&code->info);
    arena_free(code->in);
    *code = (spirv_code){0};
}
