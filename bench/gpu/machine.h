/* The GPU's own clock, and launches past Retrograd: from the driver, which is opened at run time. On other devices the
 * host's clock. SPDX-License-Identifier: Apache-2.0 */
#ifndef GPU_MACHINE_H
#define GPU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* Opens the driver if `device` is "cuda". False, with a message on stderr: it cannot be used. */
bool machine_open(const char *device);
void machine_close(void);
bool machine_is_gpu(void);
/* A line about the GPU and its driver. */
const char *machine_name(void);
/* The CUstream in which contexts are to work; NULL on other devices. */
void *machine_stream(void);

/* Milliseconds that the device takes for what is launched between the two. The GPU is kept busy until all has been
 * launched, so that its time holds no waiting for the host. False, below 0: it failed. */
bool machine_start(void);
double machine_stop(void);
/* Waits for the stream. */
bool machine_wait(void);
/* Bytes of the GPU's memory in use, by whomever. */
size_t machine_used(void);
/* Microseconds for each of so many launches of a kernel that does nothing, by the driver: a grid of one thread, and one of
 * `blocks` blocks of 128. */
double machine_bare_launch(unsigned blocks, unsigned count);

/* Memory of the host's, pinned where there is a GPU; NULL: there is none. */
void *machine_pin(size_t bytes);
void machine_unpin(void *memory);
/* Copies by the driver, up to the device or down, and waits. */
bool machine_copy(void *to, const void *from, size_t bytes, bool up);

/* Milliseconds, by the host's clock. */
double machine_now(void);

#endif
