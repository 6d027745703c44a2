/* Memory of a GPU. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_DRIVER_MEMORY_H
#define RT_DRIVER_MEMORY_H

#include "device/driver/gpu.h"

/* Memory in the order of `stream`, one of the queue's; contents are unspecified. */
rg_status rt_driver_take(rt_queue *q, size_t bytes, void *stream, uint64_t *address, str *error);
/* RG_OUT_OF_MEMORY, and why. */
rg_status rt_driver_no_memory(rt_queue *q, size_t bytes, str *error);
/* Behind all that the device's queues were given, or when nobody records any more. */
void rt_driver_give(rt_device *d, uint64_t address);
/* Of what has been used in the queue alone, in whose order it goes. */
void rt_driver_give_own(rt_queue *q, uint64_t address);
/* As rt_driver_give, of a caller that holds queues_lock, while nobody records. */
void rt_driver_give_now(rt_device *d, uint64_t address);

/* RG_INVALID while launches are recorded: "device memory cannot be WHAT ..." */
rg_status rt_driver_refuse_recording(rt_queue *q, const char *what, str *error);
rg_status rt_driver_pool_open(rt_device *d, str *error);
void rt_driver_pool_close(rt_device *d);

/* -- foreign.c: rt_memory_table's */

rg_status rt_driver_adopt(rt_device *d, const rt_shared *shared, rt_adopted *adopted, str *error);
void rt_driver_abandon(rt_device *d, const rt_adopted *adopted);

/* -- transfer.c: rt_memory_table's, and what of it is done within an entry */

rg_status rt_driver_write(rt_queue *q, uint64_t to, const char *host, size_t bytes, str *error);
rg_status rt_driver_write_all(rt_queue *q, void *to, const void *host, size_t bytes, str *error);
rg_status rt_driver_read_all(rt_queue *q, void *host, const void *from, size_t bytes, str *error);
void *rt_driver_take_pinned(rt_queue *q, size_t bytes);
void rt_driver_give_pinned(rt_queue *q, void *memory);
void rt_driver_transfer_close(rt_queue *q);

#endif
