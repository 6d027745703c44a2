/* Elements of arrays wherever they are: in the host's memory, or in a device's own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_MEMORY_H
#define RT_MEMORY_H

#include "device/device.h"
#include "device/layout.h"

/* Where and in which order. Functions below fail only where the device has memory of its own; `error` then says why. */
typedef struct rt_place {
    const rt_device_table *table;
    rt_queue *queue;
} rt_place;

/* All elements, in row-major order, to (from) a dense block of the host. Elements with gaps between them go through a
 * copy of all that they span. */
rg_status rt_memory_read(rt_place place, const rt_layout *layout, const void *data, void *dense, str *error);
rg_status rt_memory_write(rt_place place, const rt_layout *layout, void *data, const void *dense, str *error);
/* Sets every element to the `size` bytes at `element`. */
rg_status rt_memory_fill(rt_place place, const rt_layout *layout, void *data, const void *element, str *error);
/* Between dense blocks of the same place that do not overlap. */
rg_status rt_memory_copy(rt_place place, void *to, const void *from, size_t bytes, str *error);

#endif
