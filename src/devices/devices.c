/* The list of devices, and what the host's own processor is. SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include <stdio.h>
#include <unistd.h>

#include "rt/cpu/pool.h"

/* best first */
static const rt_device_table *const devices[] = {
#if RG_HAVE_LLVM
    &rt_device_cpu,
#endif
    &rt_device_interp,
#if RG_HAVE_LLVM
    &rt_device_cuda,
    &rt_device_amd,
    &rt_device_vulkan,
    &rt_device_metal,
    &rt_device_simt,
    &rt_device_segments,
#endif
};

static const char *const with_llvm[] = {"cpu", "cuda", "amd", "vulkan", "metal", "simt", "segments"};

const rt_device_table *
rt_device_find(rg_str name)
{
    if (name.len == 0)
        return devices[0];
    for (size_t i = 0; i < countof(devices); i++)
        if (str_eq(name, rg_str_of(devices[i]->name)))
            return devices[i];
    return NULL;
}

bool
rt_device_is_left_out(rg_str name)
{
    for (size_t i = 0; i < countof(with_llvm); i++)
        if (str_eq(name, rg_str_of(with_llvm[i])))
            return !rt_device_find(name);
    return false;
}

void
rt_device_names(str *out)
{
    for (size_t i = 0; i < countof(devices); i++)
        str_addf(out, "%s%s", i ? ", " : "", devices[i]->name);
}

const rt_device_table *
rt_device_at(size_t index)
{
    return index < countof(devices) ? devices[index] : NULL;
}

/* The processor's name, where Linux tells it. */
static void
name_processor(char model[96])
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[160];
    snprintf(model, 96, "processor of this machine");
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(model, 96, "%.95s", strchr(line, ':') + 2);
            model[strcspn(model, "\n")] = 0;
            break;
        }
    if (f)
        fclose(f);
}

static const char *
machine_name(void)
{
#if defined(__x86_64__)
    return "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "host";
#endif
}

rg_status
rt_host_look(uint32_t ordinal, rt_device_facts *facts, str *error)
{
    if (ordinal) {
        str_addf(error, "it has number 0 only, not %u", ordinal);
        return RG_NOT_FOUND;
    }
    if (!facts)
        return RG_OK;
    long pages = sysconf(_SC_PHYS_PAGES), available = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    *facts = (rt_device_facts){0};
    name_processor(facts->model);
    snprintf(facts->code, sizeof(facts->code), "%s", machine_name());
    facts->memory = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    facts->memory_free = available > 0 && size > 0 ? (uint64_t)available * (uint64_t)size : 0;
    facts->processors = rt_pool_default();
    facts->threads = facts->processors;
    return RG_OK;
}
