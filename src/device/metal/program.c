/* Programs: code from IR, pipelines from code. SPDX-License-Identifier: Apache-2.0 */
#include "device/metal/metal.h"

enum { NAME = 16 };

/* -- code ---------------------------------------------------------------------------------------------------------- */

rg_status
mtl_make(rt_device *d, const rt_program_desc *desc, unsigned wanted, str *code, diag_list *diags)
{
    return rt_segments_make(msl_make, desc, d->features, code, diags);
}

bool
mtl_describe(rt_device *d, const rt_program_desc *desc, str *key)
{
    str_addf(key, "metal %08x\n%s\n%s", d->features, d->facts.model, d->facts.system);
    return true;
}

/* false: it is damaged, or for a device that can do more */
static bool
read_code(rt_program *p, rg_str bytes)
{
    rg_str made;
    spirv_code_free(&p->code);
    return rt_segments_read(bytes, p->nparams, &p->needs, &made) && msl_read(made, &p->code, &p->text) &&
           !(p->code.uses & ~p->device->features);
}

/* -- pipelines ----------------------------------------------------------------------------------------------------- */

static rg_status
refuse(str *error, const char *what, const char *why)
{
    str_addf(error, "Metal does not %s: %s", what, why);
    return RG_DEVICE;
}

/* Floats are computed as they are written: no fast math. */
static mtl_id
make_library(rt_device *d, const char *msl, mtl_id *error)
{
    const mtl_api *api = &d->api;
    mtl_id options = mtl_new_object(api, api->options_class), text = mtl_string(api, api->string_class, msl), library = NULL;
    mtl_set_language(api, options, MTL_LANGUAGE_3_0);
    if (mtl_responds(api, options, api->selectors.set_math)) /* macOS 15 */
        mtl_set_math(api, options, MTL_MATH_SAFE);
    else
        mtl_set_fast_math(api, options, 0);
    if (options && text)
        library = mtl_new_library(api, d->device, text, options, error);
    mtl_release(api, options);
    return library;
}

static rg_status
make_part(rt_device *d, mtl_id library, uint32_t entry, uint32_t entries, mtl_id *pipeline, str *error)
{
    const mtl_api *api = &d->api;
    mtl_id why = NULL;
    char name[NAME], what[64];
    snprintf(name, sizeof(name), "e%u", entry);
    mtl_id string = mtl_string(api, api->string_class, name), function = string ? mtl_new_function(api, library, string) : NULL;
    if (function)
        *pipeline = mtl_new_pipeline(api, d->device, function, &why);
    mtl_release(api, function);
    snprintf(what, sizeof(what), "take part %u of %u", entry + 1, entries);
    if (!function)
        return refuse(error, what, "the function is missing");
    if (!*pipeline)
        return refuse(error, what, mtl_reason(api, why));
    return mtl_width(api, *pipeline) == RT_WARP ? RG_OK : refuse(error, what, "SIMD-groups of 32 threads are needed");
}

rg_status
mtl_make_pipelines(rt_device *d, const char *msl, uint32_t entries, mtl_id *pipelines, str *error)
{
    mtl_id why = NULL, library = make_library(d, msl, &why);
    rg_status status = library ? RG_OK : refuse(error, "compile it", mtl_reason(&d->api, why));
    for (uint32_t i = 0; i < entries && !status; i++)
        status = make_part(d, library, i, entries, &pipelines[i], error);
    mtl_release(&d->api, library);
    return status;
}

static rg_status
load(rt_program *p, diag_list *diags)
{
    double since = clock_ms();
    str why = {.in = mem_scratch()};
    p->pipelines = mem_zalloc((p->code.entries + 1) * sizeof(*p->pipelines));
    p->expected = mem_zalloc((p->code.info.steps.n + 1) * sizeof(*p->expected));
    rg_status status = mtl_make_pipelines(p->device, p->text, p->code.entries, p->pipelines, &why);
    if (status)
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s: %s", p->label, why.ptr);
    else if (p->device->settings.gpu) /* RG_DEBUG=gpu */
        fprintf(stderr, "gpu: %s: %u parts, %zu bytes of MSL%s, compiled in %.1f ms\n", p->label, p->code.entries, strlen(p->text),
                p->code.info.has_tape ? ", tape" : "", clock_ms() - since);
    return status;
}

/* -- making and releasing ------------------------------------------------------------------------------------------ */

static void
release_program(void *program)
{
    mtl_release_program(program);
}

static rg_status
compile_here(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    rt_program *p = mem_zalloc(sizeof(*p));
    mem_owner owns;
    mem_own(&owns, release_program, p);
    p->device = d;
    p->label = rt_program_label(desc);
    p->file = rt_program_file(desc);
    p->nparams = rt_program_params(desc);
    rg_status status = rt_segments_load(&rt_device_metal, d, desc, read_code, p, diags);
    if (!status)
        status = load(p, diags);
    mem_disown(&owns);
    if (status)
        mtl_release_program(p);
    else
        *program = p;
    return status;
}

rg_status
mtl_compile(rt_device *d, const rt_program_desc *desc, rt_program **program, diag_list *diags)
{
    mtl_entry entry;
    str error = {.in = mem_scratch()};
    rg_status status = mtl_enter(&entry, d, &error);
    if (status)
        diag_add(diags, DIAG_ERROR, 0, (diag_place){0}, "%s", error.ptr);
    else
        status = compile_here(d, desc, program, diags);
    mtl_leave(&entry);
    return status;
}

void
mtl_release_program(rt_program *p)
{
    for (uint32_t i = 0; p->pipelines && !mtl_is_fork(p->device) && i < p->code.entries; i++)
        mtl_release(&p->device->api, p->pipelines[i]);
    mem_free(p->pipelines);
    mem_free(p->expected);
    rt_needs_free(&p->needs);
    spirv_code_free(&p->code);
    mem_free(p);
}
