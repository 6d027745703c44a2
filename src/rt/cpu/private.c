/* Sums that each worker forms alone. SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/launch.h"

#include <stdlib.h>
#include <string.h>

double *
rt_cpu_private(rt_launch *launch, int64_t cells)
{
    int64_t row = RT_PRIVATE_ROW(cells);
    size_t need = (size_t)row * launch->threads;
    launch->private_row = row;
    if (need > launch->private_room) {
        free(launch->privates);
        launch->private_room = 0;
        launch->privates = aligned_alloc(128, need * sizeof(double));
        if (!launch->privates) {
            rt_report report = {.fault = RT_FAULT_MEMORY, .needed = need * sizeof(double)};
            rt_fail(&launch->kernel.worker, &report);
        }
        launch->private_room = need;
    }
    if (need)
        memset(launch->privates, 0, need * sizeof(double));
    return launch->privates;
}

void
rt_cpu_private_add(rt_launch *launch, int64_t first, int64_t n, void *array, int32_t is_double)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t seat = 0; seat < launch->threads; seat++)
            sum += launch->privates[(int64_t)seat * launch->private_row + first + i];
        if (sum == 0) /* most often nobody used the cells; and -0 stays what it is */
            continue;
        if (is_double)
            ((double *)array)[i] += sum;
        else
            ((float *)array)[i] = (float)((double)((float *)array)[i] + sum);
    }
}
