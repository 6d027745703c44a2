/* Kernels and their parameters. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

/* -- making ------------------------------------------------------------------------------------ */

/* Bit a: the shape region says what axis a of a buffer must be. */
static uint32_t
fixed_axes(const ir_fn *fn, uint32_t first_extent, uint32_t rank)
{
    if (!fn->shape)
        return 0;
    const ir_op *yield = ir_terminator(fn->shape);
    uint32_t fixed = 0;
    for (uint32_t k = 0; k < rank; k++) {
        uint64_t bits;
        bool any = ir_is_const(yield->args[first_extent + k], &bits) && (int64_t)bits == -1;
        fixed |= any ? 0 : 1u << k;
    }
    return fixed;
}

static void
describe_params(rg_kernel *k, uint32_t results)
{
    const ir_fn *fn = k->fn;
    for (uint32_t i = 0; i < k->nparams; i++) {
        const ir_value *v = fn->body->params[i];
        const ir_param *p = &fn->params[i];
        k->params[i] = (rg_param){
            .name = rg_str_of(p->name),
            .dtype = (rg_dtype)v->type.dtype,
            .array = v->type.kind == IR_BUFFER,
            .rank = v->type.kind == IR_BUFFER ? v->type.rank : 0,
            .flat = p->flat,
            .read = p->read,
            .written = p->written,
            .result = i >= k->nparams - results,
            .record = p->record,
            .field_offset = p->field_offset,
            .record_size = p->record_size,
            .inner_axes = p->inner_axes,
        };
        k->params[i].fixed = fixed_axes(fn, k->nextents, k->params[i].rank);
        k->nextents += k->params[i].rank;
    }
    api_mark_extents(k);
}

static rg_kernel *
kernel_new(rg_module *module)
{
    rg_kernel *k = api_new(API_KERNEL, sizeof(*k));
    k->module = module;
    pthread_mutexattr_t recursive; /* devices ask for code while they compile, and later */
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&k->compiling, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return k;
}

/* k->outline is set. */
static void
describe_kernel(rg_kernel *k, uint32_t results)
{
    k->fn = k->outline->first;
    k->nparams = k->fn->body->nparams;
    k->params = mem_zalloc((k->nparams + 1) * sizeof(*k->params));
    describe_params(k, results);
}

static void
list_kernel(rg_kernel *k, rg_kernel **kernel)
{
    k->next = k->module->kernels;
    k->module->kernels = k;
    *kernel = k;
}

rg_status
api_kernel_create(rg_module *module, const ir_fn *source, diag_list *diags, rg_kernel **kernel)
{
    rg_kernel *k = kernel_new(module);
    mem_owner owns;
    mem_own(&owns, api_kernel_free, k);
    k->text = api_code_text(module, source);
    digest_of(k->text.ptr, k->text.len, k->digest);
    pipeline_options options = {.contraction = !module->desc.no_contraction};
    k->ir = pipeline_source(source, &options, diags);
    if (k->ir) {
        const ir_fn *fn = k->ir->first;
        const char *file = fn->loc.file < k->ir->files.n ? k->ir->files.at[fn->loc.file].path : NULL;
        k->file = file ? arena_str(module->arena, rg_str_of(file)) : NULL;
        k->outline = api_outline(fn);
        describe_kernel(k, ir_terminator(source->body)->nargs);
    }
    mem_disown(&owns);
    if (!k->ir) {
        api_kernel_free(k);
        return RG_COMPILE;
    }
    list_kernel(k, kernel);
    return RG_OK;
}

bool
api_kernel_read(rg_module *module, rg_str text, rg_str outline, rg_kernel **kernel)
{
    rg_kernel *k = kernel_new(module);
    rg_str file;
    uint32_t results;
    mem_owner owns;
    mem_own(&owns, api_kernel_free, k);
    k->outline = api_outline_read(outline, k->digest, &file, &results);
    if (k->outline) {
        describe_kernel(k, results);
        k->text = (rg_str){arena_str(module->arena, text), text.len};
        k->file = file.ptr ? arena_str(module->arena, file) : NULL;
    }
    mem_disown(&owns);
    bool good = k->outline != NULL;
    if (good)
        list_kernel(k, kernel);
    else
        api_kernel_free(k);
    return good;
}

/* -- its IR ------------------------------------------------------------------------------------ */

/* Whether the outline is that of the kernel as it is now. */
static bool
has_outline(const rg_kernel *k, const ir_fn *fn)
{
    bool same = fn->body->nparams == k->nparams;
    for (uint32_t i = 0; same && i < k->nparams; i++)
        same = ir_type_eq(fn->body->params[i]->type, k->fn->body->params[i]->type);
    return same;
}

static ir_module *
make_whole(const rg_kernel *k, diag_list *diags)
{
    pipeline_options options = {.contraction = !k->module->desc.no_contraction};
    ir_module *source = api_module_source(k->module, k->fn->name, k->text, diags), *whole = NULL;
    mem_owner owns;
    mem_own(&owns, ir_module_release, source);
    const ir_fn *fn = source ? ir_fn_find(source, rg_str_of(k->fn->name)) : NULL;
    if (fn)
        whole = pipeline_source(fn, &options, diags);
    mem_disown(&owns);
    ir_module_free(source);
    if (!whole || has_outline(k, whole->first))
        return whole;
    diag_add(diags, DIAG_ERROR, 0, (diag_place){0},
             "kernel `%s` is another by now than when it was taken from the cache; load its module again",
             k->fn->name);
    ir_module_free(whole);
    return NULL;
}

const ir_fn *
api_kernel_body(rg_kernel *kernel, diag_list *diags)
{
    if (!kernel->ir)
        kernel->ir = make_whole(kernel, diags);
    return kernel->ir ? kernel->ir->first : NULL;
}

ir_module *
api_kernel_copy(rg_kernel *kernel, diag_list *diags)
{
    mem_owner turn;
    pthread_mutex_lock(&kernel->compiling);
    mem_own(&turn, mem_release_mutex, &kernel->compiling);
    const ir_fn *fn = api_kernel_body(kernel, diags);
    ir_module *copy = fn ? pipeline_copy(fn) : NULL;
    mem_disown(&turn);
    pthread_mutex_unlock(&kernel->compiling);
    return copy;
}

/* -- asking ------------------------------------------------------------------------------------ */

rg_str
rg_kernel_name(const rg_kernel *kernel)
{
    return api_check(kernel, API_KERNEL, "kernel") ? (rg_str){0} : rg_str_of(kernel->fn->name);
}

rg_status
rg_kernel_get_text(const rg_kernel *kernel, rg_str *text)
{
    if (!text)
        return api_error(RG_INVALID, "text is NULL");
    *text = (rg_str){0};
    API_CHECK(kernel, API_KERNEL, "kernel");
    *text = kernel->text;
    return RG_OK;
}

uint32_t
rg_kernel_param_count(const rg_kernel *kernel)
{
    return api_check(kernel, API_KERNEL, "kernel") ? 0 : kernel->nparams;
}

rg_status
rg_kernel_get_param(const rg_kernel *kernel, uint32_t index, rg_param *param)
{
    TRY(api_begin_info(param, "rg_param"));
    API_CHECK(kernel, API_KERNEL, "kernel");
    if (index >= kernel->nparams)
        return api_error(RG_INVALID, "kernel `%s` has %u parameters; there is no number %u",
                         kernel->fn->name, kernel->nparams, index);
    api_write_info(param, &kernel->params[index], sizeof(*param));
    return RG_OK;
}

rg_status
rg_kernel_find_param(const rg_kernel *kernel, rg_str name, uint32_t *index)
{
    API_OUT(index);
    API_CHECK(kernel, API_KERNEL, "kernel");
    return api_param_find(kernel, name, index);
}

rg_status
api_param_find(const rg_kernel *kernel, rg_str name, uint32_t *index)
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (str_eq(kernel->params[i].name, name)) {
            *index = i;
            return RG_OK;
        }
    char there[512] = "none";
    size_t used = 0;
    for (uint32_t i = 0; i < kernel->nparams && used < sizeof(there); i++)
        used += (size_t)snprintf(there + used, sizeof(there) - used, "%s%s", i ? ", " : "",
                                 kernel->params[i].name.ptr);
    return api_error(RG_NOT_FOUND, "kernel `%s` has no parameter `%.*s` (it has %s)",
                     kernel->fn->name, (int)name.len, name.ptr, there);
}
