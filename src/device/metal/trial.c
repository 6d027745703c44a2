/* Shaders of our own, in MSL. SPDX-License-Identifier: Apache-2.0 */
#include "device/metal/metal.h"

rg_status
mtl_make_shader(rt_device *d, const rt_shader *shader, mtl_id *pipeline, str *error)
{
    str text = {.in = mem_scratch()};
    diag_list diags = {.text.in = mem_scratch()};
    rg_status status = msl_print(shader->words, shader->nwords, &text, &diags);
    if (status)
        str_add(error, str_view(&diags.text));
    return status ? status : mtl_make_pipelines(d, text.ptr, 1, pipeline, error);
}

static rg_status
run(rt_device *d, const rt_shader *shader, const rt_shader_push *push, const rt_trial_memory *memory, uint32_t groups, str *error)
{
    mtl_id pipeline = NULL;
    rg_status status = mtl_make_shader(d, shader, &pipeline, error);
    if (!status)
        status = mtl_run_shader(d, pipeline, push, ((mtl_buffer *)memory->buffer)->buffer, groups, error);
    mtl_release(&d->api, pipeline);
    return status;
}

static rg_status
open_memory(rt_device *d, uint64_t bytes, rt_trial_memory *memory, str *error)
{
    mtl_buffer *buffer = arena_one(mem_scratch(), mtl_buffer);
    TRY(mtl_make_buffer(d, bytes, buffer, error));
    *memory = (rt_trial_memory){buffer->data, buffer->address, buffer};
    return RG_OK;
}

static void
close_memory(rt_device *d, rt_trial_memory *memory)
{
    mtl_free_buffer(d, memory->buffer);
}

rg_status
mtl_trial(rt_device *d, str *error)
{
    str driver = {.in = mem_scratch()};
    str_addf(&driver, "metal trial\n%s\n%s", d->facts.model, d->facts.system);
    const rt_trial trial = {.settings = &d->settings, .driver = str_view(&driver), .name = d->facts.model, .remedy = "", .small = true,
                            .open = open_memory, .close = close_memory, .run = run};
    d->features = MSL_FEATURES;
    TRY(rt_segments_try(d, &trial, &d->features, error));
    d->features &= ~d->settings.metal_without;
    return RG_OK;
}
