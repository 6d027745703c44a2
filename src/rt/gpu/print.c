/* print in a kernel: records for the host. SPDX-License-Identifier: Apache-2.0 */
#include "rt/gpu/inside.h"

RT_SLOW void
rt_gpu_print(rt_gpu_worker *worker, int32_t place, const uint64_t *values, int32_t n)
{
    const rt_gpu_launch *launch = worker->launch;
    rt_gpu_prints *prints = launch->prints;
    int32_t mine = rt_gpu_at_kernel_level(worker) ? rt_gpu_alone(NULL) : rt_warp_lane() == 0;
    uint64_t size = (uint64_t)n + 1, at;
    if (!prints || !mine)
        return;
    at = rt_grid_add64(&prints->used, size);
    if (at > prints->room || size > prints->room - at) {
        rt_grid_add64(&prints->lost, 1);
        return;
    }
    prints->cells[at] = ((uint64_t)place + 1) | (uint64_t)n << 32 | (uint64_t)launch->program << 48;
    for (int32_t i = 0; i < n; i++)
        prints->cells[at + 1 + (uint64_t)i] = values[i];
}
