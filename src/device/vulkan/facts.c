/* What a device has, what it must have, and opening it with that. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

static const char atomic_float[] = "VK_EXT_shader_atomic_float", memory_budget[] = "VK_EXT_memory_budget",
                  subgroup_size[] = "VK_EXT_subgroup_size_control", uniform_control[] = "VK_KHR_shader_subgroup_uniform_control_flow",
                  maintenance4[] = "VK_KHR_maintenance4", memory_file[] = "VK_KHR_external_memory_fd";

enum { SUBGROUP_OPERATIONS = 1 | 2 | 8 | 16, /* basic, vote, ballot, shuffle */ DEVICES = 64, VK_1_3 = 1 << 22 | 3 << 12 };

rg_status
vk_find(const vk_api *api, vk_instance instance, uint32_t ordinal, vk_physical *physical, str *error)
{
    vk_physical all[DEVICES];
    uint32_t count = DEVICES;
    int32_t code = api->enumerate(instance, &count, all);
    if (code < 0) {
        str_addf(error, "devices cannot be listed: %s", vk_name(code));
        return code == VK_NO_HOST_MEMORY ? RG_OUT_OF_MEMORY : RG_DEVICE;
    }
    if (ordinal >= count) {
        str_addf(error, count ? "there are %u devices of Vulkan, no number %u" : "Vulkan has no device (%u, not number %u)", count,
                 ordinal);
        return RG_NOT_FOUND;
    }
    *physical = all[ordinal];
    return RG_OK;
}

static void
read_extensions(const vk_api *api, vk_physical physical, vk_facts *facts)
{
    uint32_t count = 0;
    if (api->extensions(physical, NULL, &count, NULL) < 0 || !count)
        return;
    vk_extension *list = arena_new_n(mem_scratch(), vk_extension, count);
    if (api->extensions(physical, NULL, &count, list) < 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        facts->atomic_float |= strcmp(list[i].name, atomic_float) == 0;
        facts->budget |= strcmp(list[i].name, memory_budget) == 0;
        facts->subgroup_extension |= strcmp(list[i].name, subgroup_size) == 0;
        facts->uniform_control |= strcmp(list[i].name, uniform_control) == 0;
        facts->buffer_limit |= strcmp(list[i].name, maintenance4) == 0;
        facts->exports |= strcmp(list[i].name, memory_file) == 0;
    }
}

uint64_t
vk_heap(const vk_facts *facts)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < facts->memory.nheaps; i++)
        if ((facts->memory.heaps[i].flags & 1) && facts->memory.heaps[i].bytes > most)
            most = facts->memory.heaps[i].bytes;
    return most;
}

/* A driver may have more addresses than memory. */
static uint64_t
space_of(const vk_facts *facts, uint64_t sparse, uint64_t buffer)
{
    uint64_t heap = vk_heap(facts), most = sparse < buffer ? sparse : buffer;
    return most < heap ? most : heap;
}

static void
read_properties(const vk_api *api, vk_physical physical, vk_facts *facts)
{
    vk_properties_subgroup_size sizes = {.head = {VK_S_PROPERTIES_SUBGROUP_SIZE}};
    vk_properties_buffer buffer = {.head = {VK_S_PROPERTIES_BUFFER, facts->subgroup_control ? &sizes : NULL}, .most = UINT64_MAX};
    vk_properties_1_1 more = {.head = {VK_S_PROPERTIES_1_1, facts->buffer_limit ? &buffer : buffer.head.next}};
    vk_properties_1_2 driver = {.head = {VK_S_PROPERTIES_1_2, &more}};
    vk_properties p = {.head = {VK_S_PROPERTIES, &driver}};
    api->properties(physical, &p);
    snprintf(facts->model, sizeof(facts->model), "%.255s", p.name);
    snprintf(facts->driver, sizeof(facts->driver), "%.255s", driver.driver_name);
    snprintf(facts->driver_info, sizeof(facts->driver_info), "%.255s", driver.driver_info);
    facts->vendor = p.vendor;
    facts->device = p.device;
    facts->driver_version = p.driver;
    memcpy(facts->cache_uuid, p.cache_uuid, sizeof(p.cache_uuid));
    memcpy(facts->uuid, more.device_uuid, sizeof(more.device_uuid));
    facts->allocation = more.allocation < buffer.most ? more.allocation : buffer.most;
    if (facts->space)
        facts->space = space_of(facts, p.limits.sparse, buffer.most);
    bool groups = facts->subgroup_control && facts->full_subgroups && sizes.least <= RT_WARP && RT_WARP <= sizes.most &&
                  (sizes.stages & VK_STAGE_COMPUTE) && (more.subgroup_operations & SUBGROUP_OPERATIONS) == SUBGROUP_OPERATIONS;
    const struct {
        uint32_t has;
        spirv_features bit;
    } bits[] = {
        {groups, SPIRV_SUBGROUPS},
        {driver.denorm_preserve[1], SPIRV_DENORM32}, {driver.denorm_preserve[2], SPIRV_DENORM64},
        {driver.round_even[1], SPIRV_ROUND32}, {driver.round_even[2], SPIRV_ROUND64},
        {driver.preserve[1], SPIRV_KEEPS32}, {driver.preserve[2], SPIRV_KEEPS64},
    };
    for (size_t i = 0; i < countof(bits); i++)
        facts->features |= bits[i].has ? bits[i].bit : 0;
}

static void
read_features(const vk_api *api, vk_physical physical, vk_facts *facts)
{
    vk_features_subgroup_size sizes = {.head = {VK_S_FEATURES_SUBGROUP_SIZE}};
    vk_features_atomic_float floats = {.head = {VK_S_FEATURES_ATOMIC_FLOAT}};
    vk_features_uniform_control flow = {.head = {VK_S_FEATURES_UNIFORM_CONTROL}};
    vk_features_1_1 f11 = {.head = {VK_S_FEATURES_1_1}};
    vk_features_1_2 f12 = {.head = {VK_S_FEATURES_1_2, &f11}};
    vk_features f = {.head = {VK_S_FEATURES, &f12}};
    if (facts->atomic_float)
        floats.head.next = f.head.next, f.head.next = &floats;
    if (facts->uniform_control)
        flow.head.next = f.head.next, f.head.next = &flow;
    if (facts->subgroup_extension || facts->api >= VK_1_3)
        sizes.head.next = f.head.next, f.head.next = &sizes;
    api->features(physical, &f);
    facts->timeline = f12.timeline;
    facts->float16 = f12.float16;
    facts->int8 = f12.int8;
    facts->int16 = f.int16;
    facts->space = f.sparse_binding;
    facts->subgroup_control = sizes.control;
    facts->full_subgroups = sizes.full;
    const struct {
        uint32_t has;
        spirv_features bit;
    } bits[] = {
        {f.int64, SPIRV_INT64}, {f.float64, SPIRV_FLOAT64}, {f12.buffer_address, SPIRV_ADDRESSES},
        {f12.memory_model && f12.memory_model_device, SPIRV_MODEL},
        {f12.storage8, SPIRV_STORAGE8}, {f11.storage16, SPIRV_STORAGE16}, {f12.buffer_atomics64, SPIRV_ATOMIC_INT64},
        {floats.buffer32_add, SPIRV_ATOMIC_ADD32}, {floats.buffer64_add, SPIRV_ATOMIC_ADD64},
        {flow.uniform, SPIRV_MEETS},
    };
    for (size_t i = 0; i < countof(bits); i++)
        facts->features |= bits[i].has ? bits[i].bit : 0;
}

/* Of the families that compute the one with the fewest other tasks; it also binds, if it can. */
static void
read_families(const vk_api *api, vk_physical physical, vk_facts *facts)
{
    vk_family families[16];
    uint32_t count = countof(families), least = UINT32_MAX;
    api->families(physical, &count, families);
    for (uint32_t i = 0; i < count; i++)
        if ((families[i].flags & VK_LANE_COMPUTE) && families[i].flags < least) {
            least = families[i].flags;
            facts->family = i;
            facts->lanes = families[i].count;
        }
    uint32_t binds = facts->family;
    for (uint32_t i = 0; i < count && !(families[binds].flags & VK_LANE_SPARSE); i++)
        binds = i;
    facts->binds = binds;
    if (!count || !(families[binds].flags & VK_LANE_SPARSE))
        facts->space = 0;
}

/* Whether the memory of a buffer can be a file for other drivers. */
static void
read_sharing(const vk_api *api, vk_physical physical, vk_facts *facts)
{
    const vk_external_buffer_desc desc = {.head = {VK_S_EXTERNAL_BUFFER_DESC}, .usage = VK_BUFFER_ALL, .kind = VK_FILE};
    vk_external_buffer buffer = {.head = {VK_S_EXTERNAL_BUFFER}};
    if (facts->exports)
        api->external_buffer(physical, &desc, &buffer);
    facts->exports = buffer.features & VK_CAN_EXPORT;
    facts->dedicates = buffer.features & VK_NEEDS_DEDICATION;
}

/* Of a device of Vulkan 1.1 only its name is read. */
void
vk_facts_read(const vk_api *api, vk_physical physical, vk_facts *facts)
{
    *facts = (vk_facts){.memory.head = {VK_S_MEMORY}};
    vk_properties p = {.head = {VK_S_PROPERTIES}};
    api->properties(physical, &p);
    snprintf(facts->model, sizeof(facts->model), "%.255s", p.name);
    facts->api = p.api;
    facts->type = p.type;
    api->memory_properties(physical, &facts->memory);
    if (p.api < VK_1_2)
        return;
    read_extensions(api, physical, facts);
    read_features(api, physical, facts);
    read_properties(api, physical, facts);
    read_families(api, physical, facts);
    read_sharing(api, physical, facts);
}

rg_status
vk_facts_need(const vk_facts *facts, str *error)
{
    const struct {
        bool has;
        const char *name;
    } needs[] = {
        {facts->api >= VK_1_2, "Vulkan 1.2"},
        {facts->lanes > 0, "a queue that computes"},
        {facts->features & SPIRV_ADDRESSES, "bufferDeviceAddress"},
        {facts->features & SPIRV_INT64, "shaderInt64"},
        {facts->features & SPIRV_MODEL, "vulkanMemoryModel with vulkanMemoryModelDeviceScope"},
        {facts->timeline, "timelineSemaphore"},
    };
    size_t at = error->len;
    for (size_t i = 0; i < countof(needs) && (i == 0 || needs[0].has); i++)
        if (!needs[i].has)
            str_addf(error, "%s%s", error->len > at ? ", " : "", needs[i].name);
    if (error->len == at)
        return RG_OK;
    str_addf(error, ": %s lacks it", facts->model);
    return RG_UNSUPPORTED;
}

rg_status
vk_create_logical(vk_api *api, vk_physical physical, const vk_facts *facts, vk_logical *logical, str *error)
{
    float priorities[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const char *extensions[5];
    spirv_features has = facts->features;
    vk_features_subgroup_size sizes = {.head = {VK_S_FEATURES_SUBGROUP_SIZE}, .control = 1, .full = 1};
    vk_features_atomic_float floats = {.head = {VK_S_FEATURES_ATOMIC_FLOAT}, .buffer32_add = !!(has & SPIRV_ATOMIC_ADD32),
                                       .buffer64_add = !!(has & SPIRV_ATOMIC_ADD64)};
    vk_features_uniform_control flow = {.head = {VK_S_FEATURES_UNIFORM_CONTROL}, .uniform = 1};
    vk_features_1_1 f11 = {.head = {VK_S_FEATURES_1_1}, .storage16 = !!(has & SPIRV_STORAGE16)};
    vk_features_1_2 f12 = {.head = {VK_S_FEATURES_1_2, &f11}, .storage8 = !!(has & SPIRV_STORAGE8), .float16 = facts->float16,
                           .int8 = facts->int8, .buffer_atomics64 = !!(has & SPIRV_ATOMIC_INT64), .timeline = 1,
                           .buffer_address = 1, .memory_model = 1, .memory_model_device = 1};
    vk_features f = {.head = {VK_S_FEATURES, &f12}, .int64 = 1, .float64 = !!(has & SPIRV_FLOAT64), .int16 = facts->int16,
                     .sparse_binding = facts->space > 0};
    uint32_t count = facts->lanes < countof(priorities) ? facts->lanes : countof(priorities);
    const vk_lane_desc lanes[2] = {{.head = {VK_S_LANE}, .family = facts->family, .count = count, .priorities = priorities},
                                   {.head = {VK_S_LANE}, .family = facts->binds, .count = 1, .priorities = priorities}};
    vk_logical_desc desc = {.head = {VK_S_LOGICAL, &f}, .nlanes = facts->space && facts->binds != facts->family ? 2 : 1, .lanes = lanes,
                            .extensions = extensions};
    if (has & (SPIRV_ATOMIC_ADD32 | SPIRV_ATOMIC_ADD64)) {
        extensions[desc.nextensions++] = atomic_float;
        floats.head.next = f.head.next;
        f.head.next = &floats;
    }
    if (has & SPIRV_SUBGROUPS) {
        if (facts->subgroup_extension)
            extensions[desc.nextensions++] = subgroup_size;
        sizes.head.next = f.head.next;
        f.head.next = &sizes;
    }
    if (has & SPIRV_MEETS) {
        extensions[desc.nextensions++] = uniform_control;
        flow.head.next = f.head.next;
        f.head.next = &flow;
    }
    if (facts->budget)
        extensions[desc.nextensions++] = memory_budget;
    if (facts->exports)
        extensions[desc.nextensions++] = memory_file;
    int32_t code = api->create_device(physical, &desc, NULL, logical);
    if (code >= 0)
        return RG_OK;
    *logical = NULL;
    str_addf(error, "%s cannot be opened: %s", facts->model, vk_name(code));
    return code == VK_NO_HOST_MEMORY || code == VK_NO_DEVICE_MEMORY ? RG_OUT_OF_MEMORY : RG_DEVICE;
}

void
vk_identify(const vk_facts *facts, str *key)
{
    str_addf(key, "%s\n%s\n%s\n%08x %08x %08x %08x\n", facts->model, facts->driver, facts->driver_info, facts->vendor, facts->device,
             facts->driver_version, facts->api);
    str_add(key, (rg_str){(const char *)facts->cache_uuid, sizeof(facts->cache_uuid)});
}

/* Bytes of the heaps that are the device's own, and of these what is free by now, where the driver says that. */
static void
measure(const vk_api *api, vk_physical physical, const vk_facts *facts, rt_device_facts *out)
{
    vk_memory_budget budget = {.head = {VK_S_MEMORY_BUDGET}};
    vk_memory_properties now = {.head = {VK_S_MEMORY, facts->budget ? &budget : NULL}};
    api->memory_properties(physical, &now);
    for (uint32_t i = 0; i < now.nheaps && i < countof(now.heaps); i++) {
        if (!(now.heaps[i].flags & 1))
            continue;
        out->memory += now.heaps[i].bytes;
        if (!facts->budget)
            out->memory_free += now.heaps[i].bytes;
        else if (budget.budget[i] > budget.usage[i])
            out->memory_free += budget.budget[i] - budget.usage[i];
    }
}

static rg_status
look_at(const vk_api *api, vk_instance instance, uint32_t ordinal, rt_device_facts *out, str *error)
{
    vk_physical physical;
    vk_facts facts;
    TRY(vk_find(api, instance, ordinal, &physical, error));
    if (!out)
        return RG_OK;
    vk_facts_read(api, physical, &facts);
    *out = (rt_device_facts){0};
    snprintf(out->model, sizeof(out->model), "%.95s", facts.model);
    memcpy(out->uuid, facts.uuid, sizeof(out->uuid));
    snprintf(out->code, sizeof(out->code), "vulkan %u.%u", facts.api >> 22, facts.api >> 12 & 0x3ff);
    measure(api, physical, &facts, out);
    return RG_OK;
}

rg_status
vk_look(uint32_t ordinal, rt_device_facts *out, str *error)
{
    vk_api api;
    vk_instance instance;
    TRY(vk_load(&api, settings_read().vulkan_driver, &instance, error));
    return look_at(&api, instance, ordinal, out, error);
}
