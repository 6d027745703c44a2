/* Kernels compiled ahead of time for a GPU. SPDX-License-Identifier: Apache-2.0 */
#include "ahead/build_gpu.h"

#if RG_HAVE_CUDA
#include "base/settings.h"
#include "codegen/llvm/ll.h"
#include "compiler/process.h"

static void
add_parameters(str *out, const ir_fn *kernel)
{
    for (uint32_t i = 0; i < kernel->body->nparams; i++) {
        ir_type type = kernel->body->params[i]->type;
        str_addf(out, "// argument %u: %s %s", i, ir_dtype_name((rg_dtype)type.dtype), kernel->body->params[i]->name);
        for (uint32_t k = 0; type.kind == IR_BUFFER && k < type.rank; k++)
            str_addz(out, "[]");
        str_addz(out, type.kind == IR_BUFFER && !type.rank ? ", a place in memory\n" : "\n");
    }
}

static void
add_entries(str *out, const build_gpu *b, const ll_gpu_info *infos)
{
    for (uint32_t i = 0; i < b->n; i++)
        str_addf(out, "// entry %s: arguments %s%s%s%s\n", b->names[i], ll_ptx_by_value(b->fns[i]) ? "by value" : "by address",
                 infos[i].waits ? "; waits" : "", infos[i].has_tape ? "; tape" : "", infos[i].prints ? "; prints" : "");
}

static void
add_places(str *out, const ll_gpu_info *info)
{
    for (size_t i = 0; i < info->places.n; i++) {
        const ll_place *p = &info->places.at[i];
        str_addf(out, "// place %zu: %s:%u", i, p->file ? p->file : "", p->line);
        if (p->text)
            str_addz(out, p->dtypes ? " prints " : " asserts ");
        for (const char *c = p->text; c && *c; c++)
            if (*c == '\n')
                str_addz(out, "\\n");
            else
                str_addc(out, *c);
        str_addc(out, '\n');
    }
}

static void
info_release(void *info)
{
    ll_gpu_info_free(info);
}

/* infos[0] has the places of all entries. */
static rg_status
make_text(const build_gpu *b, ll_gpu_info *infos, str *out, diag_list *diags)
{
    settings asked = settings_read();
    ll_options options = {.contiguous = b->dense, .cpu = b->gpu, .fast_math = b->fast_math, .native_math = b->native_math,
                          .libdevice = asked.libdevice};
    str text = {.in = mem_scratch()};
    TRY(b->apart ? process_emit_ptx_entries(b->fns, b->names, b->n, &options, b->kernel->name, &text, infos, diags)
                 : ll_emit_ptx_entries(b->fns, b->names, b->n, &options, &text, infos, diags));
    str_addf(out, "// kernel %s; blocks of at most %u threads\n", b->kernel->name, ll_ptx_block(b->fns, b->n));
    add_parameters(out, b->kernel);
    add_entries(out, b, infos);
    add_places(out, &infos[0]);
    str_addz(out, text.ptr);
    return RG_OK;
}

rg_status
build_gpu_text(const build_gpu *b, str *out, diag_list *diags)
{
    ll_gpu_info infos[RG_FORM_COUNT] = {0};
    mem_owner owns;
    assert(b->n <= countof(infos));
    mem_own(&owns, info_release, &infos[0]);
    rg_status status = make_text(b, infos, out, diags);
    mem_disown(&owns);
    info_release(&infos[0]);
    return status;
}
#else
rg_status
build_gpu_text(const build_gpu *b, str *out, diag_list *diags)
{
    (void)b, (void)out;
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "this build makes no code for GPUs: clang of LLVM's version was missing");
    return RG_UNSUPPORTED;
}
#endif
