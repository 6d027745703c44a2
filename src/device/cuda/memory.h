/* Memory of a GPU. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_CUDA_MEMORY_H
#define RT_CUDA_MEMORY_H

#include "device/cuda/cuda.h"

/* Memory in the order of `stream`, one of the device's; contents are unspecified. */
rg_status rt_cuda_take(rt_device *d, size_t bytes, void *stream, uint64_t *address, str *error);
/* RG_OUT_OF_MEMORY, and why. */
rg_status rt_cuda_no_memory(rt_device *d, size_t bytes, str *error);
/* In the order of the device's stream. */
void rt_cuda_give(rt_device *d, uint64_t address);
/* What is to be taken back when nothing is recorded any more. */
void rt_cuda_give_later(rt_device *d);

/* RG_INVALID while launches are recorded: "device memory cannot be WHAT ..." */
rg_status rt_cuda_refuse_recording(rt_device *d, const char *what, str *error);
rg_status rt_cuda_pool_open(rt_device *d, str *error);
void rt_cuda_pool_close(rt_device *d);

/* -- transfer.c: rt_memory_table's, and what of it is done within an entry */

rg_status rt_cuda_write(rt_device *d, uint64_t to, const char *host, size_t bytes, str *error);
rg_status rt_cuda_write_all(rt_device *d, void *to, const void *host, size_t bytes, str *error);
rg_status rt_cuda_read_all(rt_device *d, void *host, const void *from, size_t bytes, str *error);
void *rt_cuda_take_pinned(rt_device *d, size_t bytes);
void rt_cuda_give_pinned(rt_device *d, void *memory);
void rt_cuda_transfer_close(rt_device *d);

#endif
