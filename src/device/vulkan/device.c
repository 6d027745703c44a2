/* A device: opening and closing it, whose it is, what its driver says. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

#include "device/forks.h"

bool
vk_is_fork(const rt_device *d)
{
    return d->forks != rt_forks();
}

/* -- errors -------------------------------------------------------------------------------------------------------- */

rg_status
vk_usable(rt_device *d, str *error)
{
    const char *why = __atomic_load_n(&d->lost, __ATOMIC_ACQUIRE);
    if (vk_is_fork(d))
        why = rt_fork_error;
    if (why && error)
        str_addz(error, why);
    return why ? RG_DEVICE : RG_OK;
}

static void
lose(rt_device *d, const char *doing)
{
    pthread_mutex_lock(&d->lock);
    if (!d->lost) {
        snprintf(d->lost_text, sizeof(d->lost_text),
                 "the device is lost (noticed at: %s): a launch took longer than the driver allows, or used memory that is not there; "
                 "nothing works on it any more in this process", doing);
        __atomic_store_n(&d->lost, d->lost_text, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&d->lock);
}

rg_status
vk_check(rt_device *d, int32_t code, const char *doing, str *error)
{
    if (code >= 0)
        return RG_OK;
    if (code == VK_LOST)
        lose(d, doing);
    if (error && code == VK_LOST)
        str_addz(error, d->lost);
    else if (error)
        str_addf(error, "cannot %s: %s", doing, vk_name(code));
    return code == VK_NO_HOST_MEMORY || code == VK_NO_DEVICE_MEMORY ? RG_OUT_OF_MEMORY : RG_DEVICE;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */

static rg_status
open_layout(rt_device *d, str *error)
{
    _Static_assert(sizeof(rt_shader_push) <= sizeof(rt_vulkan_push), "one layout is for both");
    const vk_push_range push = {VK_STAGE_COMPUTE, 0, sizeof(rt_vulkan_push)};
    vk_layout_desc desc = {.head = {VK_S_LAYOUT}, .nranges = 1, .ranges = &push};
    return vk_check(d, d->api.create_layout(d->logical, &desc, NULL, &d->layout), "make a layout of pipelines", error);
}

static rg_status
open_logical(rt_device *d, uint32_t ordinal, str *error)
{
    vk_instance instance;
    TRY(vk_load(&d->api, d->settings.vulkan_driver, &instance, error));
    TRY(vk_find(&d->api, instance, ordinal, &d->physical, error));
    vk_facts_read(&d->api, d->physical, &d->facts);
    TRY(vk_facts_need(&d->facts, error));
    if (d->settings.vulkan_allocation && d->settings.vulkan_allocation < d->facts.allocation)
        d->facts.allocation = d->settings.vulkan_allocation;
    TRY(vk_create_logical(&d->api, d->physical, &d->facts, &d->logical, error));
    vk_load_device(&d->api, d->logical);
    d->nlanes = d->facts.lanes < countof(d->lanes) ? d->facts.lanes : countof(d->lanes);
    for (unsigned i = 0; i < d->nlanes; i++)
        d->api.get_lane(d->logical, d->facts.family, i, &d->lanes[i]);
    return RG_OK;
}

/* What binds buffers of several allocations, where there are any. */
static rg_status
open_binder(rt_device *d, str *error)
{
    vk_timeline_type type = {.head = {VK_S_TIMELINE_TYPE}, .type = VK_TIMELINE};
    vk_semaphore_desc semaphore = {.head = {VK_S_SEMAPHORE, &type}};
    if (!d->facts.space)
        return RG_OK;
    d->api.get_lane(d->logical, d->facts.binds, 0, &d->binder);
    return vk_check(d, d->api.create_semaphore(d->logical, &semaphore, NULL, &d->bound), "make a semaphore", error);
}

static rg_status
open_all(rt_device *d, uint32_t ordinal, str *error)
{
    TRY(open_logical(d, ordinal, error));
    TRY(open_layout(d, error));
    TRY(open_binder(d, error));
    TRY(vk_open_queue(d, &(rt_queue_desc){0}, &d->own, error));
    TRY(vk_trial(d, error));
    d->features &= ~d->settings.vulkan_without;
    return RG_OK;
}

static void
close_device(void *device)
{
    vk_close(device);
}

rg_status
vk_open(uint32_t ordinal, rt_device **device, str *error)
{
    rt_device *d = mem_zalloc(sizeof(*d));
    mem_owner owns;
    d->settings = settings_read();
    d->forks = rt_forks();
    pthread_mutex_init(&d->queues_lock, NULL);
    pthread_mutex_init(&d->lock, NULL);
    mem_own(&owns, close_device, d);
    rg_status status = open_all(d, ordinal, error);
    mem_disown(&owns);
    if (status)
        vk_close(d);
    else
        *device = d;
    return status;
}

static void
close_logical(rt_device *d)
{
    for (size_t i = 0; i < d->pieces.n; i++)
        vk_buffer_free(d, &d->pieces.at[i]);
    for (size_t i = 0; i < d->garbage.n; i++)
        vk_buffer_free(d, &d->garbage.at[i].buffer);
    if (d->bound)
        d->api.destroy_semaphore(d->logical, d->bound, NULL);
    if (d->layout)
        d->api.destroy_layout(d->logical, d->layout, NULL);
    d->api.destroy_device(d->logical, NULL);
}

/* In a fork what the driver has stays. */
void
vk_close(rt_device *d)
{
    if (d->own)
        vk_close_queue(d->own);
    if (d->logical && !vk_is_fork(d))
        close_logical(d);
    vec_free(&d->queues);
    vec_free(&d->pieces);
    vec_free(&d->garbage);
    vec_free(&d->programs);
    pthread_mutex_destroy(&d->queues_lock);
    pthread_mutex_destroy(&d->lock);
    mem_free(d);
}
