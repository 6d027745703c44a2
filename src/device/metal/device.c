/* A device: opening and closing it, what it is. SPDX-License-Identifier: Apache-2.0 */
#include "device/metal/metal.h"

#include "device/forks.h"

/* -- entering ------------------------------------------------------------------------------------------------------ */

bool
mtl_is_fork(const rt_device *d)
{
    return d->forks != rt_forks();
}

static void
pop_pool(void *entry)
{
    mtl_entry *e = entry;
    if (e->pool)
        e->device->api.pop_pool(e->pool);
    e->pool = NULL;
}

rg_status
mtl_enter(mtl_entry *entry, rt_device *d, str *error)
{
    bool fork = mtl_is_fork(d);
    const char *why = fork ? rt_fork_error : __atomic_load_n(&d->lost, __ATOMIC_ACQUIRE);
    *entry = (mtl_entry){.device = d, .pool = fork ? NULL : d->api.push_pool()};
    mem_own(&entry->leaves, pop_pool, entry);
    if (why)
        str_addz(error, why);
    return why ? RG_DEVICE : RG_OK;
}

void
mtl_leave(mtl_entry *entry)
{
    mem_disown(&entry->leaves);
    pop_pool(entry);
}

void
mtl_lose(rt_device *d, const char *why)
{
    pthread_mutex_lock(&d->lock);
    if (!d->lost) {
        snprintf(d->lost_text, sizeof(d->lost_text), "the device is lost (%.160s): nothing works on it any more in this process", why);
        __atomic_store_n(&d->lost, d->lost_text, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&d->lock);
}

/* -- facts --------------------------------------------------------------------------------------------------------- */

static void
read_facts(const mtl_api *api, mtl_id device, mtl_facts *facts)
{
    snprintf(facts->model, sizeof(facts->model), "%.95s", mtl_text(api, mtl_name(api, device)));
    snprintf(facts->system, sizeof(facts->system), "%.95s", mtl_text(api, mtl_system(api, mtl_process(api, api->process_class))));
    facts->memory = mtl_memory_size(api, device);
    facts->allocated = mtl_allocated(api, device);
    facts->piece = mtl_longest_buffer(api, device);
    facts->fits = mtl_supports(api, device, MTL_FAMILY_METAL3) && mtl_supports(api, device, MTL_FAMILY_APPLE7);
}

static rg_status
find_device(const mtl_api *api, uint32_t ordinal, mtl_id *device, mtl_facts *facts, str *error)
{
    mtl_id all = api->copy_devices();
    unsigned long n = mtl_count(api, all);
    if (ordinal < n) {
        *device = mtl_retain(api, mtl_at(api, all, ordinal));
        read_facts(api, *device, facts);
    } else if (n) {
        str_addf(error, "there are %lu GPUs with Metal, and none of number %u", n, ordinal);
    } else {
        str_addz(error, "Metal has no GPU here");
    }
    mtl_release(api, all);
    return ordinal < n ? RG_OK : RG_NOT_FOUND;
}

/* -- opening ------------------------------------------------------------------------------------------------------- */

static rg_status
open_any(rt_device *d, uint32_t ordinal, str *error)
{
    mtl_entry entry;
    TRY(mtl_load(&d->api, d->settings.metal_driver, error));
    rg_status status = mtl_enter(&entry, d, error);
    if (!status)
        status = find_device(&d->api, ordinal, &d->device, &d->facts, error);
    mtl_leave(&entry);
    return status;
}

static void
close_device(void *device)
{
    mtl_close(device);
}

/* One of any kind. */
static rg_status
new_device(uint32_t ordinal, rt_device **device, str *error)
{
    rt_device *d = mem_zalloc(sizeof(*d));
    mem_owner owns;
    d->settings = settings_read();
    d->forks = rt_forks();
    pthread_mutex_init(&d->lock, NULL);
    mem_own(&owns, close_device, d);
    rg_status status = open_any(d, ordinal, error);
    mem_disown(&owns);
    if (status)
        mtl_close(d);
    else
        *device = d;
    return status;
}

/* For kernels. */
static rg_status
make_ready(rt_device *d, str *error)
{
    if (!d->facts.fits) {
        str_addf(error, "a GPU of Apple's with Metal 3 is needed (M1 or later, macOS 13), which %s is not", d->facts.model);
        return RG_UNSUPPORTED;
    }
    return mtl_trial(d, error);
}

rg_status
mtl_open(uint32_t ordinal, rt_device **device, str *error)
{
    rt_device *d;
    mtl_entry entry;
    mem_owner owns;
    TRY(new_device(ordinal, &d, error));
    mem_own(&owns, close_device, d);
    rg_status status = mtl_enter(&entry, d, error);
    if (!status)
        status = make_ready(d, error);
    mtl_leave(&entry);
    mem_disown(&owns);
    if (status)
        mtl_close(d);
    else
        *device = d;
    return status;
}

rg_status
mtl_look(uint32_t ordinal, rt_device_facts *facts, str *error)
{
    rt_device *d;
    TRY(new_device(ordinal, &d, error));
    if (facts) {
        *facts = (rt_device_facts){.memory = d->facts.memory};
        facts->memory_free = d->facts.allocated < d->facts.memory ? d->facts.memory - d->facts.allocated : 0;
        snprintf(facts->model, sizeof(facts->model), "%s", d->facts.model);
        snprintf(facts->code, sizeof(facts->code), "metal 3");
    }
    mtl_close(d);
    return RG_OK;
}

/* In a fork what the driver has stays. */
void
mtl_close(rt_device *d)
{
    for (size_t i = 0; i < d->pieces.n; i++)
        mtl_free_buffer(d, &d->pieces.at[i]);
    if (d->device && !mtl_is_fork(d))
        mtl_release(&d->api, d->device);
    mtl_unload(&d->api);
    vec_free(&d->pieces);
    pthread_mutex_destroy(&d->lock);
    mem_free(d);
}
