/* A driver without a GPU, for tests: memory is the host's, kernels are counted, and run only if the test
 * says how. Several threads may use it, one
 * of which sets what it pretends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAKE_DRIVER_H
#define TESTS_FAKE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_driver {
    const char *kind, *device, *path; /* "amd", "amd:1", "RG_AMD_DRIVER" */
    const char *(*symbol)(const char *call); /* what the driver calls it; NULL: it has no such call */
    void (*enter)(void), (*leave)(void); /* as a caller who uses the GPU, too */
    /* what it pretends */
    int version, devices, major, ranges, pools;
    int used;          /* of HIP's devices: the one that a thread has to be at, wherever it uses memory and streams */
    unsigned foreign;  /* flags of another driver's memory */
    int gpu;           /* another number, another GPU (of CUDA: the UUID) */
    const char *code;  /* of HIP: what its GPUs run */
    int processors, resident; /* ... each of which so many threads fit */
    size_t free, step; /* bytes of memory; of a piece behind reserved addresses */
    const char *fails; /* the symbol that does */
    int fails_with, fails_after; /* ... after so many calls that work */
    long fails_at;     /* the number of the call that does, of all that can; 0: none */
    int lost;          /* every call that can fails with this */
    const char *log;   /* of a module that does not load */
    void (*run)(void *record, const void *args); /* in place of a kernel; may be NULL */
    /* kernels that do run (fake_code.c); NULL: they do not */
    void *(*load)(const void *image);
    void (*unload)(void *code);
    void (*play)(void *code, unsigned grid, unsigned block, void *record, void *parameter);
    /* what it has seen */
    long alive;     /* objects made and not released */
    int contexts;   /* on the threads' stacks; of HIP: threads that are not at their first device */
    long calls, launches, together, recorded, unsafe;
    unsigned grid, block;
    size_t taken;   /* bytes of memory of the device */
    size_t pinned, pageable; /* bytes of the host's that are pinned; that were copied from or to others */
    long copies;    /* between host and device */
    long images;    /* modules loaded */
    int last_error;    /* of HIP: what asking for memory has left to others */
    unsigned shared;   /* flags of the host's memory that was taken last with any */
    char entry[64];
    char failed[64]; /* the symbol of fails_at */
} fake_driver;

#endif
