/* Modules: source or IR, and the kernels found in it. SPDX-License-Identifier: Apache-2.0 */
#include "api.h"

#if RG_HAVE_CLANG
#include "front/c/front_c.h"
#endif

/* -- making ------------------------------------------------------------------------------------------ */

static rg_str
kept(arena *a, rg_str s)
{
    return (rg_str){arena_str(a, s), s.len};
}

static const rg_str *
kept_list(arena *a, const rg_str *list, size_t n)
{
    rg_str *copy = arena_new_n(a, rg_str, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = kept(a, list[i]);
    return copy;
}

static void
module_drop(void *module)
{
    api_module_release(module);
}

static rg_module *
module_new(rg_context *context, const rg_module_desc *desc)
{
    rg_module *m = api_new(API_MODULE, sizeof(*m));
    mem_owner owns;
    mem_own(&owns, api_free, m);
    m->arena = arena_new();
    mem_disown(&owns);
    m->context = context;
    context->handle.refs++;
    mem_own(&owns, module_drop, m);
    if (desc) {
        m->desc.include_paths = kept_list(m->arena, desc->include_paths, desc->include_count);
        m->desc.include_count = desc->include_count;
        m->desc.defines = kept_list(m->arena, desc->defines, desc->define_count);
        m->desc.define_count = desc->define_count;
        m->desc.name = kept(m->arena, desc->name);
    }
    mem_disown(&owns);
    return m;
}

static void
list_ir_kernels(rg_module *m)
{
    size_t n = 0;
    for (ir_fn *fn = m->ir->first; fn; fn = fn->next)
        n += fn->kernel;
    m->names = arena_new_n(m->arena, rg_str, n + 1);
    for (ir_fn *fn = m->ir->first; fn; fn = fn->next)
        if (fn->kernel)
            m->names[m->name_count++] = kept(m->arena, rg_str_of(fn->name));
}

rg_status
api_module_adopt(rg_context *context, ir_module *ir, rg_module **module)
{
    mem_owner owns_ir, owns_module;
    mem_own(&owns_ir, ir_module_release, ir);
    rg_module *m = module_new(context, NULL);
    mem_disown(&owns_ir);
    m->ir = ir;
    mem_own(&owns_module, module_drop, m);
    list_ir_kernels(m);
    mem_disown(&owns_module);
    *module = m;
    return RG_OK;
}

/* Hands the diagnostics to the caller as the message. */
static rg_status
refused(diag_list *diags)
{
    rg_status status = api_error_text(RG_COMPILE, str_view(&diags->text));
    diag_free(diags);
    return status;
}

static void
release_diags(void *diags)
{
    diag_free(diags);
}

static rg_status
from_ir(rg_context *context, rg_str text, const char *name, rg_module **module)
{
    diag_list diags = {0};
    mem_owner owns;
    mem_own(&owns, release_diags, &diags);
    ir_module *ir = ir_parse(text, name, &diags);
    if (ir && !ir_verify(ir, IR_STAGE_SLOTS, NULL, &diags)) {
        ir_module_free(ir);
        ir = NULL;
    }
    mem_disown(&owns);
    if (!ir)
        return refused(&diags);
    diag_free(&diags);
    return api_module_adopt(context, ir, module);
}

#if RG_HAVE_CLANG
static front_c_source
front_source(const rg_module *m, const char *kernel)
{
    return (front_c_source){
        .path = m->path,
        .text = (rg_str){m->source, m->source_len},
        .include_paths = m->desc.include_paths,
        .include_count = m->desc.include_count,
        .defines = m->desc.defines,
        .define_count = m->desc.define_count,
        .kernel = kernel,
    };
}

static rg_status
from_c(rg_context *context, rg_str text, rg_str path, const rg_module_desc *desc,
       rg_module **module)
{
    rg_module *m = module_new(context, desc);
    diag_list diags = {0};
    mem_owner owns_module, owns_diags;
    mem_own(&owns_module, module_drop, m);
    m->path = (char *)(uintptr_t)arena_str(m->arena, path);
    m->source = (char *)(uintptr_t)arena_str(m->arena, text);
    m->source_len = text.len;
    mem_own(&owns_diags, release_diags, &diags);
    front_c_source source = front_source(m, NULL);
    bool ok = front_c_kernels(&source, m->arena, &m->names, &m->name_count, &diags);
    mem_disown(&owns_diags);
    mem_disown(&owns_module);
    if (!ok) {
        api_module_release(m);
        return refused(&diags);
    }
    diag_free(&diags);
    *module = m;
    return RG_OK;
}
#else
static rg_status
from_c(rg_context *context, rg_str text, rg_str path, const rg_module_desc *desc,
       rg_module **module)
{
    return api_error(RG_UNSUPPORTED, "this build has no C front end: it was made without libclang");
}
#endif

static bool
ends_with(rg_str s, const char *end)
{
    size_t n = strlen(end);
    return s.len >= n && memcmp(s.ptr + s.len - n, end, n) == 0;
}

static rg_status
module_load(rg_context *context, rg_str path, const rg_module_desc *desc, rg_module **module)
{
    str name = {0}, text = {0};
    mem_owner owns_name, owns_text;
    mem_own(&owns_name, mem_release_str, &name);
    mem_own(&owns_text, mem_release_str, &text);
    str_add(&name, path);
    rg_status status = file_read(name.ptr, &text);
    if (status)
        api_error(status, "%s: %s", name.ptr,
                  status == RG_NOT_FOUND ? "no such file" : "cannot be read");
    else if (ends_with(path, ".ir"))
        status = from_ir(context, str_view(&text), name.ptr, module);
    else
        status = from_c(context, str_view(&text), path, desc, module);
    mem_disown(&owns_text);
    mem_disown(&owns_name);
    str_free(&text);
    str_free(&name);
    return status;
}

static rg_status
module_from_ir(rg_context *context, rg_str text, const rg_module_desc *desc, rg_module **module)
{
    str name = {0};
    mem_owner owns;
    mem_own(&owns, mem_release_str, &name);
    str_add(&name, desc && desc->name.len ? desc->name : RG_STR("source.ir"));
    rg_status status = from_ir(context, text, name.ptr, module);
    mem_disown(&owns);
    str_free(&name);
    return status;
}

static rg_status
check_desc(const rg_module_desc *desc)
{
    if (desc && ((desc->include_count && !desc->include_paths) ||
                 (desc->define_count && !desc->defines)))
        return api_error(RG_INVALID, "desc counts include paths or defines that are NULL");
    return RG_OK;
}

#define CHECK_MAKING(text) \
    do { \
        if (!module) \
            return api_error(RG_INVALID, "module is NULL"); \
        *module = NULL; \
        API_CHECK(context, API_CONTEXT, "context"); \
        if (!(text).ptr) \
            return api_error(RG_INVALID, #text " is NULL"); \
        if (check_desc(desc)) \
            return RG_INVALID; \
    } while (0)

rg_status
rg_module_load(rg_context *context, rg_str path, const rg_module_desc *desc, rg_module **module)
{
    CHECK_MAKING(path);
    API_GUARDED(module_load(context, path, desc, module));
}

rg_status
rg_module_from_c(rg_context *context, rg_str source, const rg_module_desc *desc,
                 rg_module **module)
{
    CHECK_MAKING(source);
    API_GUARDED(from_c(context, source, desc && desc->name.len ? desc->name : RG_STR("source.c"),
                       desc, module));
}

rg_status
rg_module_from_ir(rg_context *context, rg_str text, const rg_module_desc *desc, rg_module **module)
{
    CHECK_MAKING(text);
    API_GUARDED(module_from_ir(context, text, desc, module));
}

/* -- ending ------------------------------------------------------------------------------------------ */

void
api_module_release(rg_module *m)
{
    if (--m->handle.refs)
        return;
    while (m->kernels) {
        rg_kernel *kernel = m->kernels;
        m->kernels = kernel->next;
        api_kernel_free(kernel);
    }
    ir_module_free(m->ir);
    arena_free(m->arena);
    api_context_release(m->context);
    api_free(m);
}

void
rg_module_destroy(rg_module *module)
{
    if (!api_retire(module, API_MODULE))
        return;
    /* kernels are lent: nobody may start anything new with them */
    for (rg_kernel *k = module->kernels; k; k = k->next)
        api_retire(k, API_KERNEL);
    api_module_release(module);
}

/* -- kernels ------------------------------------------------------------------------------------------ */

size_t
rg_module_kernel_count(const rg_module *module)
{
    return api_check(module, API_MODULE, "module") ? 0 : module->name_count;
}

rg_str
rg_module_kernel_name(const rg_module *module, size_t index)
{
    if (api_check(module, API_MODULE, "module") || index >= module->name_count)
        return (rg_str){0};
    return module->names[index];
}

static rg_status
no_such_kernel(const rg_module *m, rg_str name)
{
    char there[512] = "";
    size_t used = 0;
    for (size_t i = 0; i < m->name_count && used < sizeof(there); i++)
        used += (size_t)snprintf(there + used, sizeof(there) - used, "%s%s", i ? ", " : "",
                                 m->names[i].ptr);
    return api_error(RG_NOT_FOUND, "there is no kernel `%.*s`%s%s%s", (int)name.len, name.ptr,
                     used ? " (there is " : "", there, used ? ")" : "");
}

/* The IR in which the kernel stands. *own: it was made for this kernel and is the caller's to free. */
static rg_status
kernel_source(rg_module *m, rg_str name, ir_module **ir, bool *own)
{
    *ir = m->ir;
    *own = false;
    if (m->ir)
        return RG_OK;
#if RG_HAVE_CLANG
    diag_list diags = {0};
    mem_owner owns;
    mem_own(&owns, release_diags, &diags);
    front_c_source source = front_source(m, arena_str(m->arena, name));
    *ir = front_c_compile(&source, &diags);
    mem_disown(&owns);
    if (!*ir)
        return refused(&diags);
    diag_free(&diags);
    *own = true;
#endif
    return RG_OK;
}

static rg_status
get_kernel(rg_module *m, rg_str name, rg_kernel **kernel)
{
    for (rg_kernel *k = m->kernels; k; k = k->next)
        if (str_eq(name, rg_str_of(k->fn->name))) {
            *kernel = k;
            return RG_OK;
        }
    bool listed = false;
    for (size_t i = 0; i < m->name_count; i++)
        listed = listed || str_eq(m->names[i], name);
    if (!listed)
        return no_such_kernel(m, name);
    ir_module *ir;
    bool own;
    rg_status status = kernel_source(m, name, &ir, &own);
    if (status)
        return status;
    mem_owner owns;
    mem_own(&owns, ir_module_release, own ? ir : NULL);
    ir_fn *fn = ir_fn_find(ir, name);
    diag_list diags = {0};
    status = fn ? api_kernel_create(m, fn, &diags, kernel) : no_such_kernel(m, name);
    mem_disown(&owns);
    if (own)
        ir_module_free(ir);
    if (status == RG_COMPILE)
        refused(&diags);
    diag_free(&diags);
    return status;
}

rg_status
rg_module_get_kernel(rg_module *module, rg_str name, rg_kernel **kernel)
{
    if (!kernel)
        return api_error(RG_INVALID, "kernel is NULL");
    *kernel = NULL;
    API_CHECK(module, API_MODULE, "module");
    if (!name.ptr)
        return api_error(RG_INVALID, "name is NULL");
    API_GUARDED(get_kernel(module, name, kernel));
}
