/* GPUs of Apple's as a device, through Metal. SPDX-License-Identifier: Apache-2.0 */
#include "device/metal/metal.h"

/* No streams: launches have ended when they return. */
const rt_device_table rt_device_metal = {
    .name = "metal",
    .stage = IR_STAGE_SEGMENTS,
    .target = &target_segments,
    .look = mtl_look,
    .open = mtl_open,
    .close = mtl_close,
    .open_queue = mtl_open_queue,
    .close_queue = mtl_close_queue,
    .compile = mtl_compile,
    .make = mtl_make,
    .describe = mtl_describe,
    .release = mtl_release_program,
    .launch = mtl_launch,
    .cancel = mtl_cancel,
    .memory = &mtl_memory,
    .tape_peak = mtl_tape_peak,
};
