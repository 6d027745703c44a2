/* Finding Vulkan's loader and its functions. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

#include <dlfcn.h>

static const struct {
    int level;
    const char *symbol;
    size_t at;
} calls[] = {
#define VK_CALL(level, name, symbol, result, parameters) {level, symbol, offsetof(vk_api, name)},
#include "device/vulkan/calls.def"
#undef VK_CALL
};

static const struct {
    int32_t code;
    const char *name;
} names[] = {
    {-1, "out of memory of the host"}, {-2, "out of memory of the device"}, {-3, "it cannot be initialised"},
    {-4, "the device is lost"}, {-5, "memory cannot be mapped"}, {-6, "a layer is missing"},
    {-7, "an extension is missing"}, {-8, "a feature is missing"}, {-9, "the driver is not compatible"},
    {-10, "too many objects"}, {-12, "memory is fragmented"}, {-13, "an unknown error"},
};

const char *
vk_name(int32_t code)
{
    for (size_t i = 0; i < countof(names); i++)
        if (names[i].code == code)
            return names[i].name;
    return "an error";
}

/* The name of the first function that is missing; NULL: none. */
static const char *
take_calls(vk_api *api, int level, vk_instance instance, vk_logical logical)
{
    for (size_t i = 0; i < countof(calls); i++) {
        if (calls[i].level != level)
            continue;
        void *found = level >= 2 ? api->device_symbol(logical, calls[i].symbol) : api->symbol(instance, calls[i].symbol);
        if (!found && level < 3)
            return calls[i].symbol;
        memcpy((char *)api + calls[i].at, &found, sizeof(found));
    }
    return NULL;
}

static rg_status
make_instance(vk_api *api, vk_instance *instance, str *error)
{
    uint32_t version = 0;
    const char *missing = take_calls(api, 0, NULL, NULL);
    if (missing || api->instance_version(&version) < 0 || version < VK_1_2) {
        str_addf(error, "Vulkan 1.2 is needed; the loader has %u.%u", version >> 22, version >> 12 & 0x3ff);
        return RG_DEVICE;
    }
    vk_application application = {.head = {VK_S_APPLICATION}, .name = "retrograd", .api = VK_1_2};
    vk_instance_desc desc = {.head = {VK_S_INSTANCE}, .application = &application};
    int32_t code = api->create_instance(&desc, NULL, instance);
    if (code < 0) {
        *instance = NULL;
        str_addf(error, "no driver of Vulkan is usable: %s", vk_name(code));
        return code == VK_NO_HOST_MEMORY ? RG_OUT_OF_MEMORY : RG_DEVICE;
    }
    missing = take_calls(api, 1, *instance, NULL);
    if (missing)
        str_addf(error, "the driver lacks %s", missing);
    return missing ? RG_DEVICE : RG_OK;
}

rg_status
vk_load(vk_api *api, const char *path, vk_instance *instance, str *error)
{
    *api = (vk_api){0};
    *instance = NULL;
    /* drivers that are unloaded take threads and handlers of theirs along: they stay */
    api->library = dlopen(path ? path : "libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *symbol = api->library ? dlsym(api->library, "vkGetInstanceProcAddr") : NULL;
    if (!symbol) {
        str_addf(error, "there is no Vulkan: %s is missing (Debian: libvulkan1, and a driver as mesa-vulkan-drivers); "
                 "device \"cpu\" works without", path ? path : "libvulkan.so.1");
        vk_unload(api, NULL);
        return RG_DEVICE;
    }
    memcpy(&api->symbol, &symbol, sizeof(symbol));
    rg_status status = make_instance(api, instance, error);
    if (status)
        vk_unload(api, *instance);
    return status;
}

void
vk_load_device(vk_api *api, vk_logical logical)
{
    const char *missing = take_calls(api, 2, NULL, logical);
    assert(!missing && "all are of Vulkan 1.2");
    (void)missing;
    take_calls(api, 3, NULL, logical);
}

void
vk_unload(vk_api *api, vk_instance instance)
{
    if (instance && api->destroy_instance)
        api->destroy_instance(instance, NULL);
    if (api->library)
        dlclose(api->library);
    api->library = NULL;
}
