/* See devices.h. SPDX-License-Identifier: Apache-2.0 */
#include "devices.h"

#include "api/api.h"
#include "remote.h"

static const rt_device_table *const own[] = {&remote_device, &plain_device};

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
open_own(const rt_device_table *table, const rg_context_desc *desc, rg_context **context)
{
    API_GUARDED(api_context_create(table, desc, context));
}

rg_status
devices_open(const rg_context_desc *desc, rg_context **context)
{
    for (size_t i = 0; i < countof(own); i++)
        if (str_eq(desc->device, rg_str_of(own[i]->name)))
            return open_own(own[i], desc, context);
    rg_context_desc given = *desc;
    if (!given.tape_budget && str_eq(desc->device, RG_STR("cuda")))
        given.tape_budget = SHARED_BUDGET; /* many programs use one GPU at a time */
    return rg_context_create(&given, context);
}

bool
devices_share_memory(const rg_context *context)
{
    return !context->table->memory;
}

bool
devices_wait(const rg_context *context)
{
    return !context->table->sync;
}

rg_status
devices_array(rg_context *context, const rg_array_desc *desc, rg_array **array)
{
    rg_array_desc made = *desc;
    if (devices_share_memory(context) || !desc->data)
        return rg_array_create(context, desc, array);
    made.data = NULL;
    rg_status status = rg_array_create(context, &made, array);
    rg_array_info info;
    if (!status)
        status = rg_array_get_info(*array, &info);
    return status ? status : rg_array_write(*array, RG_PRIMAL, desc->data, info.bytes);
}

void *
devices_address(const rg_array *array)
{
    rg_array_info info;
    return rg_array_get_info(array, &info) ? NULL : info.data[RG_PRIMAL];
}

const char *
devices_named(const char *usual)
{
    const char *asked = getenv("RG_TEST_DEVICE");
    return asked && *asked ? asked : usual;
}
