/* Modules: source or IR, and the kernels found in it. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#if RG_HAVE_CLANG
#include "api/api_source.h"
#endif

/* -- making ------------------------------------------------------------------------------------ */

static rg_str
kept_str(arena *a, rg_str s)
{
    return (rg_str){arena_str(a, s), s.len};
}

static const rg_str *
kept_list(arena *a, const rg_str *list, size_t n)
{
    rg_str *copy = arena_new_n(a, rg_str, n + 1);
    for (size_t i = 0; i < n; i++)
        copy[i] = kept_str(a, list[i]);
    return copy;
}

static void
set_options(rg_module *m, const rg_module_desc *desc)
{
    m->desc.no_contraction = desc->no_contraction;
    m->desc.native_math = desc->native_math;
    m->desc.deterministic = desc->deterministic;
    m->desc.fast_math = desc->fast_math;
    m->desc.checked = desc->checked;
    m->desc.log = desc->log;
    m->desc.user = desc->user;
    m->desc.compile_process = desc->compile_process || settings_read().apart;
    m->desc.cache = kept_str(m->arena, desc->cache);
}

static rg_module *
module_new(const rg_module_desc *desc)
{
    rg_module *m = api_new(API_MODULE, sizeof(*m));
    mem_owner owns;
    mem_own(&owns, api_free, m);
    m->arena = arena_new();
    mem_disown(&owns);
    pthread_mutex_init(&m->lock, NULL);
    mem_own(&owns, api_module_release, m);
    set_options(m, desc);
    m->desc.include_paths = kept_list(m->arena, desc->include_paths, desc->include_count);
    m->desc.include_count = desc->include_count;
    m->desc.defines = kept_list(m->arena, desc->defines, desc->define_count);
    m->desc.define_count = desc->define_count;
    m->desc.options = kept_list(m->arena, desc->options, desc->option_count);
    m->desc.option_count = desc->option_count;
    rg_module_file *copy = arena_new_n(m->arena, rg_module_file, desc->file_count + 1);
    for (size_t i = 0; i < desc->file_count; i++) {
        copy[i].path = kept_str(m->arena, desc->files[i].path);
        if (desc->files[i].text.ptr)
            copy[i].text = kept_str(m->arena, desc->files[i].text);
    }
    m->desc.files = copy;
    m->desc.file_count = desc->file_count;
    m->desc.name = kept_str(m->arena, desc->name);
    mem_disown(&owns);
    return m;
}

rg_status
api_module_adopt(const rg_module_desc *desc, ir_module *ir, rg_module **module)
{
    static const rg_module_desc none;
    mem_owner owns_ir, owns_module;
    mem_own(&owns_ir, ir_module_release, ir);
    rg_module *m = module_new(&none);
    set_options(m, desc);
    mem_disown(&owns_ir);
    m->ir = ir;
    mem_own(&owns_module, api_module_release, m);
    size_t n = 0;
    for (ir_fn *fn = m->ir->first; fn; fn = fn->next)
        n += fn->kernel;
    m->names = arena_new_n(m->arena, rg_str, n + 1);
    for (ir_fn *fn = m->ir->first; fn; fn = fn->next)
        if (fn->kernel)
            m->names[m->name_count++] = kept_str(m->arena, rg_str_of(fn->name));
    m->listed = true;
    mem_disown(&owns_module);
    *module = m;
    return RG_OK;
}

static rg_status
from_ir(rg_str text, const char *name, const rg_module_desc *desc, rg_module **module)
{
    diag_list diags = {.text.in = mem_scratch()};
    mem_owner owns;
    ir_module *ir = ir_parse(text, name, &diags);
    mem_own(&owns, ir_module_release, ir);
    bool sound = ir && ir_verify(ir, ir_stage_of(ir), NULL, &diags);
    mem_disown(&owns);
    if (!sound)
        ir_module_free(ir);
    if (!sound)
        return api_error_text(RG_COMPILE, str_view(&diags.text));
    return api_module_adopt(desc, ir, module);
}

#if RG_HAVE_CLANG
static rg_status
module_from_c(rg_str text, rg_str path, bool on_disk, const rg_module_desc *desc,
              rg_module **module)
{
    rg_module *m = module_new(desc);
    mem_owner owns;
    mem_own(&owns, api_module_release, m);
    m->on_disk = on_disk;
    m->path = arena_str(m->arena, path);
    m->source = arena_str(m->arena, text);
    m->source_len = text.len;
    mem_disown(&owns);
    *module = m;
    return RG_OK;
}

static const char *const *
zero_terminated(arena *a, const rg_str *list, size_t n)
{
    const char **out = arena_new_n(a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = list[i].ptr; /* kept_str() made them so */
    return out;
}

static const front_c_file *
front_files(arena *a, const rg_module_file *list, size_t n)
{
    front_c_file *out = arena_new_n(a, front_c_file, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = (front_c_file){list[i].path.ptr, list[i].text};
    return out;
}

/* Its lists are in mem_scratch(). */
static front_c_source
front_source(const rg_module *m, const char *kernel)
{
    return (front_c_source){
        .path = m->path,
        .text = {m->source, m->source_len},
        .kernel = kernel,
        .include_count = (uint32_t)m->desc.include_count,
        .define_count = (uint32_t)m->desc.define_count,
        .include_paths = zero_terminated(mem_scratch(), m->desc.include_paths, m->desc.include_count),
        .defines = zero_terminated(mem_scratch(), m->desc.defines, m->desc.define_count),
        .option_count = (uint32_t)m->desc.option_count,
        .options = zero_terminated(mem_scratch(), m->desc.options, m->desc.option_count),
        .file_count = (uint32_t)m->desc.file_count,
        .files = front_files(mem_scratch(), m->desc.files, m->desc.file_count),
        .on_disk = m->on_disk,
    };
}

static rg_status
list_c_kernels(rg_module *m, diag_list *diags)
{
    front_c_source source = front_source(m, NULL);
    settings asked = api_settings(&m->desc);
    front_c_names names;
    TRY(api_source_list(&asked, &source, &names, diags));
    m->names = arena_new_n(m->arena, rg_str, names.count + names.statics);
    for (uint32_t i = 0; i < names.count + names.statics; i++)
        m->names[i] = kept_str(m->arena, rg_str_of(names.names[i]));
    m->name_count = names.count;
    m->static_count = names.statics;
    return RG_OK;
}

#else
static rg_status
module_from_c(rg_str text, rg_str path, bool on_disk, const rg_module_desc *desc,
              rg_module **module)
{
    return api_error(RG_UNSUPPORTED, "this build has no C front end: it was made without libclang");
}

static rg_status
list_c_kernels(rg_module *m, diag_list *diags)
{
    return RG_COMPILE;
}
#endif

static rg_status
module_load(rg_str path, const rg_module_desc *desc, rg_module **module)
{
    const char *name = arena_str(mem_scratch(), path);
    str text;
    rg_status status = file_read(name, &text);
    if (status)
        return api_error(status, "%s: %s", name, status == RG_NOT_FOUND ? "no such file" : "cannot be read");
    if (str_ends(path, ".ir") || str_ends(path, ".rg"))
        return from_ir(str_view(&text), name, desc, module);
    return module_from_c(str_view(&text), path, true, desc, module);
}

static rg_status
module_from_ir(rg_str text, const rg_module_desc *desc, rg_module **module)
{
    rg_str name = desc->name.len ? desc->name : RG_STR("source.ir");
    return from_ir(text, arena_str(mem_scratch(), name), desc, module);
}

static rg_status
check_module_desc(const rg_module_desc *desc)
{
    for (size_t i = 0; desc->files && i < desc->file_count; i++)
        if (!desc->files[i].path.ptr)
            return api_error(RG_INVALID, "desc has a file without a path");
    if ((desc->include_count && !desc->include_paths) || (desc->define_count && !desc->defines) ||
        (desc->option_count && !desc->options) || (desc->file_count && !desc->files))
        return api_error(RG_INVALID, "desc counts include paths, defines, options or files that are NULL");
    return RG_OK;
}

/* Into `d`, a rg_module_desc. */
#define CHECK_MAKING(text)                                                                         \
    do {                                                                                           \
        API_OUT(module);                                                                           \
        API_READ_DESC(&d, desc, rg_module_desc);                                                   \
        if (!(text).ptr)                                                                           \
            return api_error(RG_INVALID, #text " is NULL");                                        \
        TRY(check_module_desc(&d));                                                                \
    } while (0)

rg_status
rg_module_load(rg_str path, const rg_module_desc *desc, rg_module **module)
{
    rg_module_desc d;
    CHECK_MAKING(path);
    API_GUARDED(module_load(path, &d, module));
}

rg_status
rg_module_from_c(rg_str source, const rg_module_desc *desc, rg_module **module)
{
    rg_module_desc d;
    CHECK_MAKING(source);
    API_GUARDED(module_from_c(source, d.name.len ? d.name : RG_STR("source.c"), false, &d, module));
}

rg_status
rg_module_from_ir(rg_str text, const rg_module_desc *desc, rg_module **module)
{
    rg_module_desc d;
    CHECK_MAKING(text);
    API_GUARDED(module_from_ir(text, &d, module));
}

/* -- ending ------------------------------------------------------------------------------------ */

void
api_module_release(void *module)
{
    rg_module *m = module;
    if (!api_drop(m))
        return;
    while (m->kernels) {
        rg_kernel *kernel = m->kernels;
        m->kernels = kernel->next;
        api_kernel_free(kernel);
    }
    ir_module_free(m->ir);
    arena_free(m->arena);
    pthread_mutex_destroy(&m->lock);
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

/* -- kernels ----------------------------------------------------------------------------------- */

/* RG_COMPILE and others: the message is set. */
static rg_status
list_kernels(rg_module *m)
{
    if (m->listed)
        return RG_OK;
    diag_list diags = {.text.in = mem_scratch()};
    rg_status status = list_c_kernels(m, &diags);
    if (status)
        return api_error_text(status, str_view(&diags.text));
    m->listed = true;
    return RG_OK;
}

/* One thread at a time lists and compiles, also where an allocation fails in between. */
static rg_status
list_locked(rg_module *m)
{
    mem_owner owns;
    pthread_mutex_lock(&m->lock);
    mem_own(&owns, mem_release_mutex, &m->lock);
    rg_status status = list_kernels(m);
    mem_disown(&owns);
    pthread_mutex_unlock(&m->lock);
    return status;
}

static rg_status
guarded_list(rg_module *m)
{
    API_GUARDED(list_locked(m));
}

rg_status
rg_module_get_names(rg_module *module, const rg_str **names, size_t *count)
{
    if (!names || !count)
        return api_error(RG_INVALID, "names or count is NULL");
    *names = NULL;
    *count = 0;
    API_CHECK(module, API_MODULE, "module");
    TRY(guarded_list(module));
    *names = module->names;
    *count = module->name_count;
    return RG_OK;
}

static rg_status
no_such_kernel(const rg_module *m, rg_str name)
{
    char there[512] = "";
    size_t used = 0, n = m->name_count ? m->name_count : m->static_count;
    for (size_t i = 0; i < n && used < sizeof(there); i++)
        used += (size_t)snprintf(there + used, sizeof(there) - used, "%s%s", i ? ", " : "",
                                 m->names[i].ptr);
    return api_error(RG_NOT_FOUND, "there is no kernel `%.*s`%s%s%s", (int)name.len, name.ptr,
                     used ? " (there is " : "", there, used ? ")" : "");
}

/* From IR that holds the kernel, which stays the caller's. */
static rg_status
kernel_from(rg_module *m, ir_module *ir, rg_str name, diag_list *diags, rg_kernel **kernel)
{
    ir_fn *fn = ir_fn_find(ir, name);
    if (!fn || !fn->kernel)
        return no_such_kernel(m, name);
    return api_kernel_create(m, fn, diags, kernel);
}

#if RG_HAVE_CLANG
static rg_status
compile_kernel(rg_module *m, rg_str name, const settings *asked, front_c_source *source, rg_str key, diag_list *diags,
               rg_kernel **kernel)
{
    bool unknown = false;
    seen_list seen;
    source->unknown = &unknown;
    ir_module *ir = NULL;
    rg_status status = api_source_compile(asked, source, &seen, &ir, diags);
    mem_owner owns;
    mem_own(&owns, ir_module_release, ir);
    rg_kernel *made = NULL;
    if (ir)
        status = kernel_from(m, ir, name, diags, &made);
    else if (unknown && !list_kernels(m))
        status = no_such_kernel(m, name);
    mem_disown(&owns);
    ir_module_free(ir);
    if (made) {
        str outline = {.in = mem_scratch()};
        api_outline_write(&outline, made);
        api_source_keep(asked, key, &seen, made->text, str_view(&outline));
    }
    *kernel = made;
    return status;
}

/* The file is parsed once for a kernel; only if it has none of the name are those that it has asked for. */
static rg_status
kernel_from_c(rg_module *m, rg_str name, diag_list *diags, rg_kernel **kernel)
{
    front_c_source source = front_source(m, arena_str(mem_scratch(), name));
    settings asked = api_settings(&m->desc);
    rg_str text, outline;
    str key = api_source_key(&asked, &source);
    if (api_source_find(&asked, &source, str_view(&key), &text, &outline) && api_kernel_read(m, text, outline, kernel))
        return RG_OK;
    return compile_kernel(m, name, &asked, &source, str_view(&key), diags, kernel);
}

ir_module *
api_module_source(const rg_module *m, const char *kernel, rg_str text, diag_list *diags)
{
    front_c_source source = front_source(m, kernel);
    settings asked = api_settings(&m->desc);
    return api_source_parse(&asked, &source, text, diags);
}
#else
static rg_status
kernel_from_c(rg_module *m, rg_str name, diag_list *diags, rg_kernel **kernel)
{
    return RG_COMPILE;
}

ir_module *
api_module_source(const rg_module *m, const char *kernel, rg_str text, diag_list *diags)
{
    return NULL;
}
#endif

static rg_status
get_kernel(rg_module *m, rg_str name, rg_kernel **kernel)
{
    for (rg_kernel *k = m->kernels; k; k = k->next)
        if (str_eq(name, rg_str_of(k->fn->name))) {
            *kernel = k;
            return RG_OK;
        }
    diag_list diags = {.text.in = mem_scratch()};
    rg_status status = m->ir ? kernel_from(m, m->ir, name, &diags, kernel)
                             : kernel_from_c(m, name, &diags, kernel);
    return !status || status == RG_NOT_FOUND ? status : api_error_text(status, str_view(&diags.text));
}

static rg_status
get_kernel_locked(rg_module *m, rg_str name, rg_kernel **kernel)
{
    mem_owner owns;
    pthread_mutex_lock(&m->lock);
    mem_own(&owns, mem_release_mutex, &m->lock);
    rg_status status = get_kernel(m, name, kernel);
    mem_disown(&owns);
    pthread_mutex_unlock(&m->lock);
    return status;
}

rg_status
rg_module_get_kernel(rg_module *module, rg_str name, rg_kernel **kernel)
{
    API_OUT(kernel);
    API_CHECK(module, API_MODULE, "module");
    if (!name.ptr)
        return api_error(RG_INVALID, "name is NULL");
    if (memchr(name.ptr, 0, name.len))
        return api_error(RG_INVALID, "name has a zero byte inside");
    API_GUARDED(get_kernel_locked(module, name, kernel));
}
