/* SPIR-V and what the host has to know of it, as bytes. SPDX-License-Identifier: Apache-2.0 */
#include "codegen/spirv/code.h"

void
spirv_code_write(str *out, const spirv_code *code)
{
    bytes_put_u32(out, code->entries);
    bytes_put_u32(out, code->record);
    bytes_put_u32(out, code->cells);
    bytes_put_u32(out, code->uses);
    bytes_put_u32(out, (uint32_t)code->steps.n);
    for (size_t i = 0; i < code->steps.n; i++) {
        const spirv_step *s = &code->steps.at[i];
        bytes_put_u32(out, s->kind);
        bytes_put_u32(out, s->entry);
        bytes_put_u32(out, s->place);
        bytes_put_u32(out, s->to);
    }
    bytes_put_u32(out, code->nwords);
    for (uint32_t i = 0; i < code->nwords; i++)
        bytes_put_u32(out, code->words[i]);
    ll_gpu_info_write(out, &code->info);
}

/* whether each number is one of what it counts */
static bool
names_steps(const spirv_code *code)
{
    for (size_t i = 0; i < code->steps.n; i++) {
        const spirv_step *s = &code->steps.at[i];
        bool runs = s->kind == SEGMENTS_RUN || s->kind == SEGMENTS_TASK;
        bool asks = s->kind == SEGMENTS_IF || s->kind == SEGMENTS_EXIT_IF;
        if (s->kind > SEGMENTS_END || (runs ? s->entry >= code->entries : s->to >= code->steps.n) ||
            (asks && (s->place % 4 || s->place + 4ull > code->record)))
            return false;
    }
    return true;
}

bool
spirv_read(rg_str bytes, spirv_code *out)
{
    bytes_reader r = bytes_of(bytes);
    arena *in = arena_new();
    *out = (spirv_code){.in = in, .entries = bytes_u32(&r), .steps.in = in};
    out->record = bytes_u32(&r);
    out->cells = bytes_u32(&r);
    out->uses = bytes_u32(&r);
    for (uint32_t n = bytes_count(&r, 16); n > 0; n--) {
        spirv_step s = {.kind = bytes_u32(&r)};
        s.entry = bytes_u32(&r);
        s.place = bytes_u32(&r);
        s.to = bytes_u32(&r);
        vec_push(&out->steps, s);
    }
    out->nwords = bytes_count(&r, 4);
    uint32_t *words = arena_new_n(in, uint32_t, out->nwords + 1);
    for (uint32_t i = 0; i < out->nwords; i++)
        words[i] = bytes_u32(&r);
    out->words = words;
    ll_gpu_info_read(&r, &out->info);
    if (bytes_done(&r) && names_steps(out))
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
