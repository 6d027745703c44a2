/* Kernels compiled ahead of time for a GPU. SPDX-License-Identifier: Apache-2.0 */
#include "ahead/build_gpu.h"

#if RG_HAVE_LLVM
#include "base/settings.h"
#include "codegen/llvm/ll.h"
#include "compiler/process.h"

typedef rg_status emits(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, str *out,
                        ll_gpu_info *infos, diag_list *diags);
typedef rg_status emits_apart(const ir_fn *const *fns, const char *const *names, uint32_t n, const ll_options *options, const char *label,
                              str *out, ll_gpu_info *infos, diag_list *diags);

static unsigned
hsaco_block(const ir_fn *const *fns, uint32_t n)
{
    return LL_AMD_BLOCK;
}

/* by the beginning of their names */
static const struct kind {
    const char *begins;
    const target *target;
    bool text; /* in which comments may stand */
    emits *emit;
    emits_apart *emit_apart;
    bool (*by_value)(const ir_fn *fn);
    unsigned (*block)(const ir_fn *const *fns, uint32_t n);
} kinds[] = {
    {"sm_", &target_nvidia, true, ll_emit_ptx_entries, process_emit_ptx_entries, ll_ptx_by_value, ll_ptx_block},
    {"gfx", &target_amd, false, ll_emit_hsaco_entries, process_emit_hsaco_entries, ll_amd_by_value, hsaco_block},
};

static const struct kind *
kind_of(const char *name)
{
    for (size_t i = 0; i < countof(kinds); i++)
        if (name && strncmp(name, kinds[i].begins, strlen(kinds[i].begins)) == 0)
            return &kinds[i];
    return NULL;
}

const target *
build_gpu_target(const char *name)
{
    const struct kind *kind = kind_of(name);
    return kind ? kind->target : NULL;
}

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
add_entries(str *out, const build_gpu *b, const struct kind *kind, const ll_gpu_info *infos)
{
    for (uint32_t i = 0; i < b->n; i++)
        str_addf(out, "// entry %s: arguments %s%s%s%s\n", b->names[i], kind->by_value(b->fns[i]) ? "by value" : "by address",
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
make_gpu_code(const build_gpu *b, ll_gpu_info *infos, str *out, str *description, diag_list *diags)
{
    const struct kind *kind = kind_of(b->gpu);
    settings asked = settings_read();
    ll_options options = {.contiguous = b->dense, .cpu = b->gpu, .fast_math = b->fast_math, .native_math = b->native_math,
                          .libdevice = asked.libdevice};
    str text = {.in = mem_scratch()};
    TRY(b->apart ? kind->emit_apart(b->fns, b->names, b->n, &options, b->kernel->name, &text, infos, diags)
                 : kind->emit(b->fns, b->names, b->n, &options, &text, infos, diags));
    str *says = kind->text ? out : description;
    str_addf(says, "// kernel %s; blocks of at most %u threads\n", b->kernel->name, kind->block(b->fns, b->n));
    add_parameters(says, b->kernel);
    add_entries(says, b, kind, infos);
    add_places(says, &infos[0]);
    str_add(out, str_view(&text));
    return RG_OK;
}

rg_status
build_gpu_code(const build_gpu *b, str *out, str *description, diag_list *diags)
{
    ll_gpu_info infos[RG_FORM_COUNT] = {0};
    mem_owner owns;
    assert(b->n <= countof(infos));
    mem_own(&owns, info_release, &infos[0]);
    rg_status status = make_gpu_code(b, infos, out, description, diags);
    mem_disown(&owns);
    info_release(&infos[0]);
    return status;
}
#else
const target *
build_gpu_target(const char *name)
{
    return NULL;
}

rg_status
build_gpu_code(const build_gpu *b, str *out, str *description, diag_list *diags)
{
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "this build makes no code for GPUs: LLVM was missing");
    return RG_UNSUPPORTED;
}
#endif
