/* GPUs of AMD's as a device, through HIP. SPDX-License-Identifier: Apache-2.0 */
#include "device/driver/gpu.h"

static rg_status
look(uint32_t ordinal, rt_device_facts *facts, str *error)
{
    return rt_driver_look(&rt_maker_hip, ordinal, facts, error);
}

static rg_status
open(uint32_t ordinal, rt_device **device, str *error)
{
    return rt_driver_open(&rt_maker_hip, ordinal, device, error);
}

/* No graphs: HIP does not record cooperative launches, so that the API repeats what was recorded. */
const rt_device_table rt_device_amd = {
    .name = "amd",
    .stage = IR_STAGE_SLOTS,
    .target = &target_amd,
    .look = look,
    .open = open,
    .close = rt_driver_close,
    .open_queue = rt_driver_open_queue,
    .close_queue = rt_driver_close_queue,
    .compile = rt_driver_compile,
    .make = rt_driver_make,
    .describe = rt_driver_describe,
    .release = rt_driver_release,
    .launch = rt_driver_launch,
    .cancel = rt_driver_cancel,
    .memory = &rt_driver_memory,
    .streams = &rt_driver_streams,
    .tape_peak = rt_driver_tape_peak,
};
