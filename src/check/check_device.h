/* Devices that a kernel is checked on. SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECK_DEVICE_H
#define CHECK_DEVICE_H

#include "pipeline/pipeline.h"
#include "device/device.h"

/* A form of a kernel, compiled; kept until the device is closed. */
typedef struct check_program check_program;

typedef struct check_device {
    const rt_device_table *table;
    rt_device *device; /* NULL: not opened */
    rt_queue *queue;   /* the same */
    vec(check_program *) programs;
    bool apart;                  /* LLVM runs in a process of its own */
    bool refused[RG_FORM_COUNT]; /* forms that do not compile */
} check_device;

/* What kernels print while they are checked goes nowhere. */
extern const rt_sink check_no_prints;
/* An error in diags if it cannot be opened. `serial`: threads run one after the other. */
rg_status check_device_open(check_device *d, const rt_device_table *table, uint32_t ordinal, bool serial, diag_list *diags);
void check_device_close(check_device *d);
/* How findings call it. */
const char *check_device_name(const check_device *d);
/* A form of fn for this device, made at the first call; *made (may be NULL) is the kernel that it runs. RG_COMPILE: diags
 * say why. fn lives as long as the device. */
rg_status check_device_compile(check_device *d, const ir_fn *fn, rg_form form, bool contraction, diag_list *diags,
                               const ir_fn **made);
/* The same, run once. Planes of args are in the host's memory and hold bytes[i] each. Failures are in diags. */
rg_status check_device_run(check_device *d, const ir_fn *fn, rg_form form, bool contraction, const rt_arg *args,
                           const size_t *bytes, diag_list *diags);

#endif
