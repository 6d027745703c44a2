/* Shaders of our own. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

rg_status
vk_make_pipeline(rt_device *d, const rt_shader *s, vk_handle *pipeline, str *error)
{
    vk_handle shader = 0;
    vk_shader_desc module = {.head = {VK_S_SHADER}, .bytes = s->nwords * sizeof(*s->words), .words = s->words};
    TRY(vk_check(d, d->api.create_shader(d->logical, &module, NULL, &shader), "load a shader", error));
    vk_compute_desc desc = {.head = {VK_S_COMPUTE}, .layout = d->layout,
                            .stage = {.head = {VK_S_STAGE}, .stage = VK_STAGE_COMPUTE, .shader = shader, .entry = "e0"}};
    int32_t code = d->api.create_pipeline(d->logical, 0, 1, &desc, NULL, pipeline);
    d->api.destroy_shader(d->logical, shader, NULL);
    if (code < 0)
        *pipeline = 0;
    return vk_check(d, code, "make a pipeline", error);
}

/* In the device's own queue. */
static rg_status
run(rt_device *d, const rt_shader *shader, const rt_shader_push *push, const rt_trial_memory *memory, uint32_t groups, str *error)
{
    vk_handle pipeline;
    vk_commands commands;
    rt_queue *q = d->own;
    TRY(vk_make_pipeline(d, shader, &pipeline, error));
    rg_status status = vk_begin(q, &commands, error);
    if (!status) {
        d->api.bind_pipeline(commands, VK_BIND_COMPUTE, pipeline);
        d->api.push(commands, d->layout, VK_STAGE_COMPUTE, 0, sizeof(*push), push);
        d->api.dispatch(commands, groups, 1, 1);
        status = vk_submit(q, error);
    }
    if (!status)
        status = vk_wait_for(q, q->value, error);
    d->api.destroy_pipeline(d->logical, pipeline, NULL);
    return status;
}

static rg_status
open_memory(rt_device *d, uint64_t bytes, rt_trial_memory *memory, str *error)
{
    vk_buffer *buffer = arena_one(mem_scratch(), vk_buffer);
    TRY(vk_buffer_make(d, bytes, VK_USE_SHARED, buffer, error));
    *memory = (rt_trial_memory){buffer->data, buffer->address, buffer};
    return RG_OK;
}

static void
close_memory(rt_device *d, rt_trial_memory *memory)
{
    vk_buffer_free(d, memory->buffer);
}

rg_status
vk_trial(rt_device *d, str *error)
{
    str driver = {.in = mem_scratch()}, name = {.in = mem_scratch()};
    str_addz(&driver, "vulkan trial\n");
    vk_identify(&d->facts, &driver);
    str_addf(&name, "%s (%s %s)", d->facts.model, d->facts.driver, d->facts.driver_info);
    const rt_trial trial = {.settings = &d->settings, .driver = str_view(&driver), .name = name.ptr,
                            .has_f64 = d->facts.features & SPIRV_FLOAT64,
                            .remedy = " (Mesa's lavapipe: 25 or newer; Debian 12: mesa-vulkan-drivers of bookworm-backports)",
                            .open = open_memory, .close = close_memory, .run = run};
    d->features = d->facts.features;
    return rt_segments_try(d, &trial, &d->features, error);
}
