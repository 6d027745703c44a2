/* Finding the driver and its functions. SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/driver.h"

#include <dlfcn.h>

/* Kernels with more than 4 KB of parameters load since then. */
enum { OLDEST = 12010 };

static const char *const cpu_works = "device \"cpu\" works without a GPU";

typedef struct call {
    const char *symbol;
    bool needed;
    size_t offset;
} call;

static const call calls[] = {
#define NEEDED true
#define OPTIONAL false
#define RT_DRIVER_CALL(name, symbol, needed, parameters) {symbol, needed, offsetof(rt_driver, name)},
#include "device/cuda/driver.def"
#undef RT_DRIVER_CALL
};

static rg_status
find_calls(rt_driver *driver, const char *path, str *error)
{
    for (size_t i = 0; i < countof(calls); i++) {
        void *found = dlsym(driver->library, calls[i].symbol);
        if (!found && calls[i].needed) {
            str_addf(error, "%s has no function %s: a driver for CUDA %d.%d or newer is needed; %s", path,
                     calls[i].symbol, OLDEST / 1000, OLDEST % 1000 / 10, cpu_works);
            return RG_DEVICE;
        }
        memcpy((char *)driver + calls[i].offset, &found, sizeof(found));
    }
    return RG_OK;
}

static rg_status
start(rt_driver *driver, str *error)
{
    int code = driver->init(0), count = 0;
    if (!code)
        code = driver->version(&driver->number);
    if (!code && driver->number < OLDEST) {
        str_addf(error, "the driver is for CUDA %d.%d; %d.%d or newer is needed; %s", driver->number / 1000,
                 driver->number % 1000 / 10, OLDEST / 1000, OLDEST % 1000 / 10, cpu_works);
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

rg_status
rt_driver_load(rt_driver *driver, const char *path, str *error)
{
    path = path ? path : "libcuda.so.1";
    *driver = (rt_driver){0};
    /* it keeps threads of its own: it must not go away with the last context */
    driver->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!driver->library) {
        str_addf(error, "NVIDIA's driver was not found: %s; %s", dlerror(), cpu_works);
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

bool
rt_driver_lost(int code)
{
    switch (code) {
    case 4:   /* deinitialized */
    case 46:  /* device unavailable */
    case 214: /* memory error that could not be corrected */
    case 220: /* the same of a link */
    case 226: /* contained */
    case 700: /* illegal address */
    case 702: /* timeout */
    case 709: /* context destroyed */
    case 710: /* assert of the device's own */
    case 714: /* stack */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* address space */
    case 718: /* program counter */
    case 719: /* launch failed */
    case 721: /* tensor memory leak */
    case 999: /* unknown */
        return true;
    }
    return false;
}
