/* Arrays that another device reaches, too. SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

typedef struct api_reached {
    struct api_reached *next;
    rg_device *device; /* a reference */
    unsigned plane;
    rt_adopted adopted;
    void *data;
} api_reached;

/* Threads that only read an array may ask for it at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static api_reached *
find_reached(const rg_array *a, unsigned plane, const rg_device *device)
{
    api_reached *r = a->reached;
    while (r && (r->device != device || r->plane != plane))
        r = r->next;
    return r;
}

static rg_status
reach_anew(const rg_array *a, unsigned plane, const rg_device *device, api_reached *r, str *error)
{
    const rt_memory_table *from = a->device->table->memory, *to = device->table->memory;
    rt_shared shared;
    if (!from || !from->share || !to || !to->adopt) {
        str_addf(error, "device %s does not reach memory of device %s", device->table->name, a->device->table->name);
        return RG_UNSUPPORTED;
    }
    TRY(from->share(a->device->device, a->plane[plane], &shared, error));
    TRY(to->adopt(device->device, &shared, &r->adopted, error));
    r->data = (void *)(uintptr_t)(r->adopted.base + shared.offset);
    return RG_OK;
}

static rg_status
add_reached(rg_array *a, unsigned plane, rg_device *device, str *error)
{
    api_reached *r = mem_zalloc(sizeof(*r));
    mem_owner owns;
    mem_own(&owns, mem_release_ptr, &r);
    rg_status status = reach_anew(a, plane, device, r, error);
    mem_disown(&owns);
    if (status) {
        mem_free(r);
        return status;
    }
    r->device = device;
    api_keep(device);
    r->plane = plane;
    r->next = a->reached;
    a->reached = r;
    return RG_OK;
}

rg_status
api_reach(rg_array *a, unsigned plane, rg_device *device, void **data, str *error)
{
    mem_owner locks;
    rg_status status = RG_OK;
    pthread_mutex_lock(&lock);
    mem_own(&locks, mem_release_mutex, &lock);
    if (!find_reached(a, plane, device))
        status = add_reached(a, plane, device, error);
    if (!status)
        *data = find_reached(a, plane, device)->data;
    mem_disown(&locks);
    pthread_mutex_unlock(&lock);
    return status;
}

void
api_reached_drop(rg_array *a, unsigned plane)
{
    for (api_reached **at = &a->reached, *r = *at; r; r = *at) {
        if (r->plane != plane) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        r->device->table->memory->abandon(r->device->device, &r->adopted);
        api_device_release(r->device);
        mem_free(r);
    }
}

static rg_status
reach_or_tell(rg_array *a, unsigned plane, rg_device *device, void **data)
{
    str text = {.in = mem_scratch()};
    rg_status status = api_reach(a, plane, device, data, &text);
    return status ? api_error(status, "device %s does not reach %s on device %s: %s", device->table->name, API_SHOWN_NAME(a),
                              a->device->table->name, text.len ? text.ptr : "it does not say why")
                  : RG_OK;
}

rg_status
rg_array_reach(rg_array *array, unsigned plane, rg_device *device, void **data)
{
    API_OUT(data);
    TRY(api_check_there(array, plane));
    API_CHECK(device, API_DEVICE, "device");
    if (device == array->device) {
        *data = array->plane[plane];
        return RG_OK;
    }
    API_GUARDED(reach_or_tell(array, plane, device, data));
}
