/* The list of devices. SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

/* best first */
static const rt_device_table *const devices[] = {
#if RG_HAVE_LLVM
    &rt_device_cpu,
#endif
    &rt_device_interp,
#if RG_HAVE_LLVM
    &rt_device_cuda,
    &rt_device_simt,
#endif
};

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

void
rt_device_names(str *out)
{
    for (size_t i = 0; i < countof(devices); i++)
        str_addf(out, "%s%s", i ? ", " : "", devices[i]->name);
}
