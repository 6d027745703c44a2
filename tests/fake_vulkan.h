/* A driver of Vulkan for tests: memory is the host's, what is submitted is done at once, by an interpreter of the SPIR-V that is made by
 * hand (spirv_by_hand.c, src/device/vulkan/trial.c). One thread sets what it pretends. SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAKE_VULKAN_H
#define TESTS_FAKE_VULKAN_H

#include <stdint.h>

typedef struct fake_vulkan {
    /* what it pretends */
    uint32_t devices, version; /* version: of the device, as Vulkan counts */
    uint32_t loops;     /* iterations of all loops in a shader after which they end without a word; 0: they do not */
    int rounds;         /* 0: quotients are off by the last bit */
    uint64_t memory;    /* bytes that allocations may have together */
    uint64_t space;     /* of a buffer's addresses, with sparseBinding; 0: it has none */
    int apart;          /* 1: a family of its own binds */
    int shares;         /* memory as files: 0: no extension, 1: it can, 2: where a buffer has an allocation for itself */
    int gpu;            /* another number, another GPU */
    const char *lacks;  /* a feature: "bufferDeviceAddress", "shaderInt64", "timelineSemaphore", "vulkanMemoryModel" */
    long fails_at;      /* the number of the call that fails, of all that can; 0: none */
    int32_t fails_with;
    int32_t lost;       /* every call that can fails with this */
    /* what it has seen */
    long calls, instances, alive, dispatches, pipelines, unsafe; /* alive: of all other objects */
    uint64_t taken; /* of memory */
    char failed[64]; /* the symbol of fails_at */
} fake_vulkan;

#endif
