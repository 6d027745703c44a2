/* The devices that a test runs on. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_DEVICES_H
#define TESTS_DEVICES_H

#include <retrograd/retrograd.h>

#include <stdbool.h>

/* The device that RG_TEST_DEVICE names alone, else all that need no GPU: those of this build and those of remote.h.
 * Ends with NULL. */
const char *const *devices_to_test(void);
/* A device and a queue of it, which alone keeps the device open. */
typedef struct devices_desc {
    rg_str device; /* also those of remote.h */
    uint64_t tape_budget;
    uint32_t num_threads;
    rg_allocator allocator;
    void *stream;
} devices_desc;
RG_MUST_CHECK rg_status devices_open(const devices_desc *desc, rg_queue **queue);
/* Two of one device. */
RG_MUST_CHECK rg_status devices_open_two(const devices_desc *desc, rg_queue *queues[2]);
/* Whether arrays are in the host's memory; whether launches have ended when they return. */
bool devices_share_memory(const rg_queue *queue);
bool devices_wait(const rg_queue *queue);
const char *devices_name(const rg_queue *queue);
/* Whether the device of that name runs threads in warps; whether it is a GPU that is really there; whether LLVM makes its code; whether
 * it has f64. */
bool devices_has_warps(const char *name);
bool devices_is_gpu(const char *name);
bool devices_uses_llvm(const char *name);
bool devices_has_doubles(const char *name);
/* An array that holds a copy of `data` (dense), or on devices that share the host's memory `data` itself. */
RG_MUST_CHECK rg_status devices_array(rg_queue *queue, const rg_array_desc *desc, rg_array **array);

/* Where the array's elements are for kernels. */
void *devices_address(const rg_array *array);
/* The device named by RG_TEST_DEVICE, or `usual`. */
const char *devices_named(const char *usual);

#endif
