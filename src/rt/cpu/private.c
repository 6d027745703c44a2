/* Sums that each worker forms alone. SPDX-License-Identifier: Apache-2.0
 *
 * Cells are 0 between tasks: those who add them up clear them, so that a small task among many pays for
 * the cells of the workers that ran, once. */
#include "rt/cpu/launch.h"
#include "rt/element.h"

#include <stdlib.h>
#include <string.h>

double *
rt_cpu_private(rt_launch *launch, int64_t cells, int32_t rows)
{
    int64_t row = RT_PRIVATE_ROW(cells);
    size_t need = (size_t)row * (rows > 0 ? (uint32_t)rows : launch->threads);
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
        rt_private_reset(launch);
    }
    return launch->privates;
}

void
rt_private_reset(rt_launch *launch)
{
    if (launch->private_room)
        memset(launch->privates, 0, launch->private_room * sizeof(double));
}

/* -- adding up ------------------------------------------------------------------------------------- */

static double
take_sum(rt_launch *launch, int64_t cell)
{
    double sum = 0;
    for (uint32_t seat = 0; seat < launch->ran; seat++) {
        double *own = &launch->privates[(int64_t)seat * launch->private_row + cell];
        sum += *own;
        *own = 0;
    }
    return sum;
}

void
rt_cpu_private_add(rt_launch *launch, int64_t first, int64_t n, void *array, int32_t bytes)
{
    for (int64_t i = 0; i < n; i++)
        rt_add_to_element(array, i, take_sum(launch, first + i), bytes);
}
