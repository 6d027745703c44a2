/* GPUs of NVIDIA's as a device, through their driver. SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cuda.h"

const rt_device_table rt_device_cuda = {
    .name = "cuda",
    .stage = IR_STAGE_SLOTS,
    .target = &target_nvidia,
    .look = rt_cuda_look,
    .open = rt_cuda_open,
    .close = rt_cuda_close,
    .open_queue = rt_cuda_open_queue,
    .close_queue = rt_cuda_close_queue,
    .compile = rt_cuda_compile,
    .make = rt_cuda_make,
    .describe = rt_cuda_describe,
    .release = rt_cuda_release,
    .launch = rt_cuda_launch,
    .cancel = rt_cuda_cancel,
    .memory = &rt_cuda_memory,
    .streams = &rt_cuda_streams,
    .graphs = &rt_cuda_graphs,
    .tape_peak = rt_cuda_tape_peak,
};
