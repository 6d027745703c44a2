/* GPUs with a driver of Vulkan as a device. SPDX-License-Identifier: Apache-2.0 */
#include "device/vulkan/vulkan.h"

const rt_device_table rt_device_vulkan = {
    .name = "vulkan",
    .stage = IR_STAGE_SEGMENTS,
    .target = &target_segments,
    .look = vk_look,
    .open = vk_open,
    .close = vk_close,
    .open_queue = vk_open_queue,
    .close_queue = vk_close_queue,
    .compile = vk_compile,
    .make = vk_make,
    .describe = vk_describe,
    .release = vk_release,
    .launch = vk_launch,
    .cancel = vk_cancel,
    .memory = &vk_memory,
    .streams = &vk_streams,
    .tape_peak = vk_tape_peak,
};
