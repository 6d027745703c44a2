/* Kernels compiled ahead of time: objects, assembly, PTX, code objects. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include "ahead/build_gpu.h"
#include "ahead/header.h"
#if RG_HAVE_LLVM
#include "codegen/llvm/ll.h"
#include "compiler/process.h"
#endif

struct rg_object {
    api_handle handle;
    arena *memory; /* of what follows */
    uint32_t forms;
    rg_str code, header;
};

/* -- what goes into one ------------------------------------------------------------------------ */

typedef struct parts {
    const rg_kernel *of;
    const char *target, *cpu, *features; /* NULL: not named */
    const struct target *gpu; /* NULL: target is none */
    bool assembly;
    ir_module *source, *modules[RG_FORM_COUNT];
    const ir_fn *fns[RG_FORM_COUNT];
    const char *names[RG_FORM_COUNT];
    header_entry entries[RG_FORM_COUNT];
    uint32_t n, forms;
    bool *dense; /* by parameter: its elements lie as C has them; fields of records are further apart */
    diag_list diags;
    diag_list refused; /* why the last form is left out that may be */
} parts;

static void
parts_free(void *user)
{
    parts *p = user;
    for (uint32_t i = 0; i < p->n; i++)
        ir_module_free(p->modules[i]);
    ir_module_free(p->source);
}

static const struct {
    unsigned planes;
    const char *doc;
} forms[RG_FORM_COUNT] = {
    [RG_FORWARD] = {0, "The kernel itself."},
    [RG_VJP] = {1u << RG_ADJOINT, "The reverse sweep after an earlier forward launch."},
    [RG_FORWARD_VJP] = {1u << RG_ADJOINT, "The kernel and its reverse sweep in one launch."},
    [RG_JVP] = {1u << RG_TANGENT, "The kernel and the tangents of what it writes."},
    [RG_JVP_VJP] = {1u << RG_ADJOINT | 1u << RG_TANGENT | 1u << (RG_ADJOINT | RG_TANGENT),
                    "The tangents of what the reverse sweep alone computes."},
    [RG_JVP_FORWARD_VJP] = {1u << RG_ADJOINT | 1u << RG_TANGENT | 1u << (RG_ADJOINT | RG_TANGENT),
                            "The kernel, its reverse sweep, and the tangents of both."},
};

/* NULL: this machine's */
static const target *
machine_of(const parts *p)
{
    return p->gpu ? p->gpu : p->target || p->cpu ? target_named(p->target, p->cpu) : NULL;
}

/* A form that is not needed is left out where it is refused; other errors are faults of ours, which nothing may hide. */
static rg_status
make_form(parts *p, rg_form form, bool needed)
{
    const rg_module_desc *code = &p->of->module->desc;
    const ir_fn *kernel = p->source->first;
    diag_list said = {.text.in = mem_scratch()};
    ir_fn *fn;
    pipeline_options options = {.form = form,
                                .contraction = !code->no_contraction,
                                .checked = code->checked,
                                .stage = IR_STAGE_SLOTS,
                                .target = machine_of(p)};
    ir_module *made = pipeline_run(kernel, &options, &said, &fn);
    if (!made && !needed && said.kinds == DIAG_REFUSALS) {
        p->refused = said;
        return RG_OK;
    }
    if (!made) {
        p->diags = said;
        return RG_COMPILE;
    }
    p->modules[p->n] = made;
    p->n++; /* now it is freed */
    str symbol = {.in = mem_scratch()}; /* its own prefix: never a name of the C library */
    str_addf(&symbol, "rgk_%s_%s", kernel->name, pipeline_form_name(form));
    p->fns[p->n - 1] = fn;
    p->names[p->n - 1] = symbol.ptr;
    p->entries[p->n - 1] = (header_entry){symbol.ptr, pipeline_form_name(form), forms[form].planes, forms[form].doc};
    p->forms |= 1u << form;
    return RG_OK;
}

static rg_status
make_forms(parts *p, const rg_object_desc *desc)
{
    uint32_t needed = desc->forms || desc->also ? desc->forms : 1u << RG_FORWARD;
    uint32_t n = p->source->first->body->nparams;
    for (int f = 0; f < RG_FORM_COUNT; f++)
        if ((needed | desc->also) >> f & 1)
            TRY(make_form(p, (rg_form)f, needed >> f & 1));
    p->dense = arena_new_n(mem_scratch(), bool, n);
    for (uint32_t i = 0; i < n; i++)
        p->dense[i] = !p->source->first->params[i].record;
    return RG_OK;
}

/* -- code -------------------------------------------------------------------------------------- */

#if RG_HAVE_LLVM
static ll_options
target_options(const parts *p)
{
    return (ll_options){
        .triple = p->target,
        .cpu = p->cpu ? p->cpu : p->target ? "generic" : NULL,
        .features = p->features ? p->features : p->target ? "" : NULL,
    };
}

static void
add_feature(str *out, const char *word, size_t n)
{
    str_addf(out, "%s%.*s", out->len ? " " : "", (int)n, word);
}

/* What the processor has to have: of this machine all that matters, of one that is named what its vectors take. */
static void
add_needs(str *out, const parts *p)
{
    const target *named = machine_of(p);
    const char *list = p->features ? p->features : "";
#if defined(__x86_64__)
#define FEATURE(name, builtin)                                                                     \
    if (!named && __builtin_cpu_supports(builtin))                                                 \
        add_feature(out, name, strlen(name));
#include "target/features.def"
#undef FEATURE
    if (named)
        add_feature(out, named->features, strlen(named->features));
#else
    named = named ? named : target_host();
    add_feature(out, named->features, strlen(named->features));
#endif
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (*list == '+')
            add_feature(out, list + 1, n - 1);
    }
}

static rg_status
add_object(str *out, parts *p, const char *made)
{
    const rg_module_desc *code = &p->of->module->desc;
    str needs = {.in = mem_scratch()};
    add_needs(&needs, p);
    ll_options options = target_options(p);
    options.made = made;
    options.needs = needs.len ? needs.ptr : "";
    options.contiguous = p->dense;
    options.assembly = p->assembly;
    options.native_math = code->native_math;
    options.deterministic = code->deterministic;
    if (code->compile_process)
        return process_emit_object(p->fns, p->names, p->n, &options, p->source->first->name, out, &p->diags);
    return ll_emit_object(p->fns, p->names, p->n, &options, out, &p->diags);
}

static rg_status
check_target(parts *p)
{
    ll_options options = target_options(p);
    if (!options.triple && !options.cpu && !options.features)
        return RG_OK;
    if (p->of->module->desc.compile_process)
        return process_has_target(&options, p->of->fn->name, &p->diags);
    return ll_has_target(&options, &p->diags) ? RG_OK : RG_UNSUPPORTED;
}
#else
static rg_status
add_object(str *out, parts *p, const char *made)
{
    return RG_UNSUPPORTED;
}

static rg_status
check_target(parts *p)
{
    diag_add(&p->diags, DIAG_ERROR, 0, (diag_place){0}, "this build was made without LLVM: it makes no object files");
    return RG_UNSUPPORTED;
}
#endif

static rg_status
add_gpu_code(str *out, str *description, parts *p)
{
    const rg_module_desc *code = &p->of->module->desc;
    build_gpu made = {.kernel = p->source->first, .fns = p->fns, .names = p->names, .n = p->n, .dense = p->dense,
                      .gpu = p->target, .fast_math = code->fast_math, .native_math = code->native_math,
                      .apart = code->compile_process};
    return build_gpu_code(&made, out, description, &p->diags);
}

/* -- all of it --------------------------------------------------------------------------------- */

static rg_status
no_forms(const parts *p)
{
    str text = {.in = mem_scratch()};
    str_addf(&text, "kernel `%s` has none of the forms asked for\n", p->source->first->name);
    str_add(&text, str_view(&p->refused.text));
    return api_error_text(RG_COMPILE, str_view(&text));
}

static rg_status
make_parts(parts *p, rg_kernel *kernel, const rg_object_desc *desc, str *code, str *header)
{
    str made = {.in = mem_scratch()}, error = {.in = mem_scratch()};
    if (!p->gpu)
        TRY(check_target(p));
    p->source = api_kernel_copy(kernel, &p->diags);
    if (!p->source)
        return RG_COMPILE;
    TRY(make_forms(p, desc));
    if (!p->n)
        return no_forms(p);
    if (p->gpu)
        return add_gpu_code(code, header, p);
    if (!header_write(header, p->source->first, p->entries, p->n, &made, &error))
        return api_error(RG_UNSUPPORTED, "%s", error.ptr);
    return add_object(code, p, made.ptr);
}

static void
object_free(void *object)
{
    rg_object *o = object;
    arena_free(o->memory);
    api_free(o);
}

static rg_object *
keep_object(const parts *p, const str *code, const str *header)
{
    rg_object *o = api_new(API_OBJECT, sizeof(*o));
    mem_owner owns;
    mem_own(&owns, object_free, o);
    o->memory = arena_new();
    o->forms = p->forms;
    o->code = (rg_str){arena_str(o->memory, str_view(code)), code->len};
    o->header = (rg_str){arena_str(o->memory, str_view(header)), header->len};
    mem_disown(&owns);
    return o;
}

static const char *
named_text(rg_str s)
{
    return s.len ? arena_str(mem_scratch(), s) : NULL;
}

static rg_status
build_kernel(rg_kernel *kernel, const rg_object_desc *desc, rg_object **object)
{
    str code = {.in = mem_scratch()}, header = {.in = mem_scratch()};
    parts p = {.of = kernel,
               .target = named_text(desc->target),
               .cpu = named_text(desc->cpu),
               .features = named_text(desc->features),
               .assembly = desc->assembly,
               .diags.text.in = mem_scratch()};
    p.gpu = build_gpu_target(p.target);
    if (p.gpu && (p.cpu || p.features))
        return api_error(RG_INVALID, "cpu and features are of processors; target names the GPU, here %s", p.target);
    if (p.gpu && kernel->module->desc.deterministic)
        return api_error(RG_UNSUPPORTED, "code ahead of time for a GPU cannot be of a deterministic module, whose sums need memory that only a "
                                         "launch knows\ncompile it by launching it on the GPU");
    mem_owner owns;
    mem_own(&owns, parts_free, &p);
    rg_status status = make_parts(&p, kernel, desc, &code, &header);
    if (!status)
        *object = keep_object(&p, &code, &header);
    mem_disown(&owns);
    parts_free(&p);
    return status && p.diags.text.len ? api_error_text(status, str_view(&p.diags.text)) : status;
}

rg_status
rg_kernel_build(rg_kernel *kernel, const rg_object_desc *desc, rg_object **object)
{
    rg_object_desc d;
    API_OUT(object);
    API_CHECK(kernel, API_KERNEL, "kernel");
    API_READ_DESC(&d, desc, rg_object_desc);
    if ((d.forms | d.also) >> RG_FORM_COUNT)
        return api_error(RG_INVALID, "forms and also have a bit for each form of a launch: 0x%x has others", d.forms | d.also);
    API_GUARDED(build_kernel(kernel, &d, object));
}

rg_status
rg_object_get_info(const rg_object *object, rg_object_info *info)
{
    rg_object_info ours = {0};
    TRY(api_begin_info(info, "rg_object_info"));
    API_CHECK(object, API_OBJECT, "object");
    ours.forms = object->forms;
    ours.code = object->code;
    ours.header = object->header;
    api_write_info(info, &ours, sizeof(ours));
    return RG_OK;
}

void
rg_object_destroy(rg_object *object)
{
    if (api_retire(object, API_OBJECT))
        object_free(object);
}
