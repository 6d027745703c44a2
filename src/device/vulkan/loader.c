/* Finding Vulkan's loader and its functions. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

#include "device/forks.h"

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

/* -- instances ----------------------------------------------------------------------------------------------------- */

/* A process has one instance for each loader. It stays, so the list is global: vkDestroyInstance unloads the driver. NVIDIA's (580.159) was
 * not found any more after some thirty loads, and Quadrants saw it number lanes wrongly after eleven (pull request 465). */
typedef struct loaded {
    struct loaded *next;
    unsigned forks; /* of the process that has it */
    vk_api api;
    vk_instance instance;
    char path[];
} loaded;
static loaded *_Atomic all_loaded;

static const loaded *
find_loaded(const char *path)
{
    const loaded *l = atomic_load(&all_loaded);
    while (l && (l->forks != rt_forks() || strcmp(l->path, path) != 0))
        l = l->next;
    return l;
}

static void
unload(void *object)
{
    loaded *l = object;
    if (l->instance && l->api.destroy_instance)
        l->api.destroy_instance(l->instance, NULL);
    if (l->api.library)
        dlclose(l->api.library);
    mem_free(l);
}

static rg_status
load_into(loaded *l, str *error)
{
    /* drivers that are unloaded take threads and handlers of theirs along: they stay */
    l->api.library = dlopen(l->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *symbol = l->api.library ? dlsym(l->api.library, "vkGetInstanceProcAddr") : NULL;
    if (!symbol) {
        str_addf(error, "there is no Vulkan: %s is missing (Debian: libvulkan1, and a driver as mesa-vulkan-drivers); "
                 "device \"cpu\" works without", l->path);
        return RG_DEVICE;
    }
    memcpy(&l->api.symbol, &symbol, sizeof(symbol));
    return make_instance(&l->api, &l->instance, error);
}

/* The list has one of each path: that of another thread, if it came first. */
static const loaded *
publish(loaded *l)
{
    const loaded *other;
    l->next = atomic_load(&all_loaded);
    do {
        other = find_loaded(l->path);
        if (other) {
            unload(l);
            return other;
        }
    } while (!atomic_compare_exchange_weak(&all_loaded, &l->next, l));
    return l;
}

static rg_status
load_path(const char *path, const loaded **found, str *error)
{
    mem_owner owns;
    loaded *l = mem_zalloc(sizeof(*l) + strlen(path) + 1);
    mem_own(&owns, unload, l);
    l->forks = rt_forks();
    memcpy(l->path, path, strlen(path) + 1);
    rg_status status = load_into(l, error);
    mem_disown(&owns);
    if (status) {
        unload(l);
        return status;
    }
    *found = publish(l);
    return RG_OK;
}

rg_status
vk_load(vk_api *api, const char *path, vk_instance *instance, str *error)
{
    path = path ? path : "libvulkan.so.1";
    *api = (vk_api){0};
    *instance = NULL;
    const loaded *l = find_loaded(path);
    if (!l)
        TRY(load_path(path, &l, error));
    *api = l->api;
    *instance = l->instance;
    return RG_OK;
}

void
vk_load_device(vk_api *api, vk_logical logical)
{
    const char *missing = take_calls(api, 2, NULL, logical);
    assert(!missing && "all are of Vulkan 1.2");
    (void)missing;
    take_calls(api, 3, NULL, logical);
}
