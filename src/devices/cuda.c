/* GPUs of NVIDIA's as a device, through their driver. SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cuda.h"

static rg_status
cuda_sync(rt_device *d, str *error)
{
    rt_entry entry;
    rg_status status = rt_cuda_enter(&entry, d, error);
    if (!status && d->recording) {
        str_addz(error, "nothing can be waited for while launches are recorded");
        status = RG_INVALID;
    }
    if (!status)
        status = rt_cuda_wait(d, error);
    rt_cuda_leave(&entry);
    return status;
}

const rt_device_table rt_device_cuda = {
    .name = "cuda",
    .stage = IR_STAGE_SLOTS,
    .open = rt_cuda_open,
    .close = rt_cuda_close,
    .compile = rt_cuda_compile,
    .release = rt_cuda_release,
    .launch = rt_cuda_launch,
    .restores = false,
    .target = &target_nvidia,
    .memory = &rt_cuda_memory,
    .sync = cuda_sync,
    .graphs = &rt_cuda_graphs,
    .tape_peak = rt_cuda_tape_peak,
};
