/* See devices.h. SPDX-License-Identifier: Apache-2.0 */
#include "devices.h"

#include "api/api.h"
#include "remote.h"

static const rt_device_table *const own[] = {
    &remote_device,
    &plain_device,
};

const char *const *
devices_to_test(void)
{
    static const char *list[8];
    static const char *const usual[] = {"interp", "cpu", "simt"};
    size_t n = 0;
    list[0] = devices_named(NULL);
    if (list[0])
        return list;
    for (size_t i = 0; i < countof(usual); i++)
        if (rt_device_find(rg_str_of(usual[i])))
            list[n++] = usual[i];
    for (size_t i = 0; i < countof(own); i++)
        list[n++] = own[i]->name;
    list[n] = NULL;
    return list;
}

enum { SHARED_BUDGET = 1 << 30 };

static rg_status
open_own(const rt_device_table *table, const rg_device_desc *desc, rg_device **device)
{
    API_GUARDED(api_device_open(table, 0, desc, device));
}

static rg_status
open_device(const devices_desc *desc, rg_device **device)
{
    rg_device_desc which = RG_DESC(rg_device_desc, .name = desc->device, .allocator = desc->allocator);
    for (size_t i = 0; i < countof(own); i++)
        if (str_eq(desc->device, rg_str_of(own[i]->name)))
            return open_own(own[i], &which, device);
    return rg_device_open(&which, device);
}

bool
devices_has_warps(const char *name)
{
    const rt_device_table *table = rt_device_find(rg_str_of(name));
    return table && table->target && table->target->warp;
}

static bool
is_gpu(rg_str name)
{
    const rt_device_table *table = rt_device_find(name);
    bool played = table && (strcmp(table->name, "simt") == 0 || strcmp(table->name, "segments") == 0);
    return table && !played && table->look != rt_host_look;
}

bool
devices_is_gpu(const char *name)
{
    return is_gpu(rg_str_of(name));
}

bool
devices_has_doubles(const char *name)
{
    return strcmp(name, "metal") != 0;
}

bool
devices_uses_llvm(const char *name)
{
    const rt_device_table *table = rt_device_find(rg_str_of(name));
    return table && table->make && strcmp(table->name, "vulkan") != 0 && strcmp(table->name, "metal") != 0;
}

static rg_status
open_queues(const devices_desc *desc, rg_queue **queues, int count)
{
    rg_device *device;
    memset(queues, 0, (size_t)count * sizeof *queues);
    rg_status status = open_device(desc, &device);
    if (status)
        return status;
    rg_queue_desc given = RG_DESC(rg_queue_desc, .tape_budget = desc->tape_budget, .num_threads = desc->num_threads,
                                  .stream = desc->stream);
    if (!given.tape_budget && is_gpu(desc->device))
        given.tape_budget = SHARED_BUDGET; /* many programs use one GPU at a time */
    for (int k = 0; k < count && !status; k++)
        status = rg_queue_create(device, &given, &queues[k]);
    rg_device_destroy(device);
    return status;
}

rg_status
devices_open(const devices_desc *desc, rg_queue **queue)
{
    return open_queues(desc, queue, 1);
}

rg_status
devices_open_two(const devices_desc *desc, rg_queue *queues[2])
{
    return open_queues(desc, queues, 2);
}

bool
devices_share_memory(const rg_queue *queue)
{
    return !queue->device->table->memory;
}

bool
devices_wait(const rg_queue *queue)
{
    return !queue->device->table->streams;
}

const char *
devices_name(const rg_queue *queue)
{
    return queue->device->table->name;
}

rg_status
devices_array(rg_queue *queue, const rg_array_desc *desc, rg_array **array)
{
    rg_array_desc made = *desc;
    if (devices_share_memory(queue) || !desc->data)
        return rg_array_create(queue, desc, array);
    made.data = NULL;
    rg_status status = rg_array_create(queue, &made, array);
    rg_array_info info = RG_INIT(rg_array_info);
    if (!status)
        status = rg_array_get_info(*array, &info);
    return status ? status : rg_array_write(queue, *array, RG_PRIMAL, desc->data, info.bytes);
}

void *
devices_address(const rg_array *array)
{
    rg_array_info info = RG_INIT(rg_array_info);
    return rg_array_get_info(array, &info) ? NULL : info.data[RG_PRIMAL];
}

const char *
devices_named(const char *usual)
{
    const char *asked = getenv("RG_TEST_DEVICE");
    return asked && *asked ? asked : usual;
}
