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
        };
        k->params[i].fixed = fixed_axes(fn, k->nextents, k->params[i].rank);
        k->nextents += k->params[i].rank;
    }
}

rg_status
api_kernel_create(rg_module *module, const ir_fn *source, diag_list *diags, rg_kernel **kernel)
{
    rg_kernel *k = api_new(API_KERNEL, sizeof(*k));
    mem_owner owns;
    mem_own(&owns, api_kernel_free, k);
    k->module = module;
    pthread_mutexattr_t recursive; /* devices ask for code while they compile, and later */
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&k->compiling, &recursive);
    pthread_mutexattr_destroy(&recursive);
    k->text = api_code_text(module, source);
    pipeline_options options = {.contraction = !module->desc.no_contraction};
    uint32_t results = ir_terminator(source->body)->nargs;
    k->ir = pipeline_source(source, &options, diags);
    if (k->ir) {
        k->fn = k->ir->first;
        k->nparams = k->fn->body->nparams;
        k->params = mem_zalloc((k->nparams + 1) * sizeof(*k->params));
        describe_params(k, results);
    }
    mem_disown(&owns);
    if (!k->ir) {
        api_kernel_free(k);
        return RG_COMPILE;
    }
    k->next = module->kernels;
    module->kernels = k;
    *kernel = k;
    return RG_OK;
}

/* -- asking ------------------------------------------------------------------------------------ */

rg_str
rg_kernel_name(const rg_kernel *kernel)
{
    return api_check(kernel, API_KERNEL, "kernel") ? (rg_str){0} : rg_str_of(kernel->fn->name);
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
