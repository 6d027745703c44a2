/* Finding the driver and its functions. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/maker.h"

#include <dlfcn.h>

static const char *const cpu_works = "device \"cpu\" works without a GPU";

typedef struct call {
    bool needed;
    size_t offset;
} call;

static const call calls[] = {
#define NEEDED true
#define OPTIONAL false
#define RT_DRIVER_CALL(name, cuda, hip, needed, parameters) {needed, offsetof(rt_driver, name)},
#include "device/driver/driver.def"
#undef RT_DRIVER_CALL
};

static void
write_version(const rt_maker *maker, int number, str *out)
{
    str_addf(out, "%d.%d", number / maker->major, number % maker->major / maker->minor);
}

static rg_status
find_calls(rt_driver *driver, const char *path, str *error)
{
    const rt_maker *maker = driver->maker;
    for (size_t i = 0; i < countof(calls); i++) {
        const char *symbol = maker->symbols[i];
        void *found = symbol ? dlsym(driver->library, symbol) : NULL;
        if (!found && symbol && calls[i].needed) {
            str_addf(error, "%s has no function %s: a driver for %s ", path, symbol, maker->system);
            write_version(maker, maker->oldest, error);
            str_addf(error, " or newer is needed; %s", cpu_works);
            return RG_DEVICE;
        }
        memcpy((char *)driver + calls[i].offset, &found, sizeof(found));
    }
    return RG_OK;
}

void
rt_driver_name(const rt_driver *driver, str *out)
{
    str_addf(out, "the driver is for %s ", driver->maker->system);
    write_version(driver->maker, driver->number, out);
}

static rg_status
start(rt_driver *driver, str *error)
{
    const rt_maker *maker = driver->maker;
    int code = driver->init(0), count = 0;
    if (!code)
        code = driver->version(&driver->number);
    if (!code && driver->number < maker->oldest) {
        rt_driver_name(driver, error);
        str_addz(error, "; ");
        write_version(maker, maker->oldest, error);
        str_addf(error, " or newer is needed; %s", cpu_works);
        return RG_DEVICE;
    }
    if (!code)
        code = driver->device_count(&count);
    if (!code && count > 0)
        return RG_OK;
    str_addz(error, "the driver finds no GPU");
    if (code && code != RT_DRIVER_NO_DEVICE) {
        str_addz(error, ": ");
        rt_driver_explain(driver, code, error);
    }
    if (code == RT_DRIVER_NO_START)
        str_addz(error, " (in a fork of a process that has used a GPU its driver does not start)");
    str_addf(error, "; %s", cpu_works);
    return RG_DEVICE;
}

/* The first that the process uses already, whatever its version, and no second one beside it; else the first that is found.
 * Drivers keep threads of their own: they must not go away with the last context. */
static const char *
open_library(rt_driver *driver, const char *const *names)
{
    const char *name = NULL;
    for (int pass = 0; pass < 2 && !driver->library; pass++)
        for (size_t i = 0; names[i] && !driver->library; i++) {
            name = names[i];
            driver->library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | (pass ? 0 : RTLD_NOLOAD));
        }
    return name;
}

rg_status
rt_driver_load(rt_driver *driver, const rt_maker *maker, const char *path, str *error)
{
    const char *const given[] = {path, NULL};
    *driver = (rt_driver){.maker = maker};
    path = open_library(driver, path ? given : maker->libraries);
    if (!driver->library) {
        str_addf(error, "%s was not found: %s; %s", maker->owner, dlerror(), cpu_works);
        return RG_DEVICE;
    }
    rg_status status = find_calls(driver, path, error);
    if (!status)
        status = start(driver, error);
    if (status)
        dlclose(driver->library);
    return status;
}

void
rt_driver_explain(const rt_driver *driver, int code, str *error)
{
    const char *name = NULL, *text = NULL;
    if (driver->error_name(code, &name) || !name)
        str_addf(error, "driver error %d", code);
    else
        str_addz(error, name);
    if (!driver->error_text(code, &text) && text)
        str_addf(error, " (%s)", text);
}

/* HIP keeps a thread's last error, which its other users look at behind launches of their own. */
int
rt_driver_ask_memory(const rt_driver *driver, void *value, int attribute, uint64_t address)
{
    int code = driver->pointer_attribute(value, attribute, address);
    if (code && driver->last_error)
        driver->last_error();
    return code;
}

static bool
has_code(const int *codes, int code)
{
    while (*codes && *codes != code)
        codes++;
    return *codes;
}

bool
rt_driver_lost(const rt_driver *driver, int code)
{
    return has_code(driver->maker->lost, code);
}

bool
rt_driver_no_handle(const rt_driver *driver, int code)
{
    return has_code(driver->maker->no_handle, code);
}
