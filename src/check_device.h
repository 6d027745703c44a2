/* Devices that a kernel is checked on. SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECK_DEVICE_H
#define CHECK_DEVICE_H

#include "pipeline.h"
#include "rt/device.h"

typedef struct check_device {
    const rt_device_table *table;
    rt_device *device; /* NULL: not opened */
} check_device;

/* An error in diags if there is none of that name, or if it cannot be opened. */
rg_status check_device_open(check_device *d, const char *name, diag_list *diags);
void check_device_close(check_device *d);
/* How findings call it. */
const char *check_device_name(const check_device *d);
/* Compiles a form of fn and runs it once. Planes of args are in the host's memory and hold bytes[i] each. RG_COMPILE: diags
 * say why. Other failures are in diags, too. */
rg_status check_device_run(const check_device *d, const ir_fn *fn, pipeline_form form, bool contraction,
                           const rt_arg *args, const size_t *bytes, diag_list *diags);

#endif
