/* A driver without a GPU, for tests: memory is the host's, kernels are not run but counted. Several threads may use it, one
 * of which sets what it pretends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAKE_DRIVER_H
#define TESTS_FAKE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_driver {
    /* what it pretends */
    int version, devices, major, ranges, pools;
    size_t free, step; /* bytes of memory; of a piece behind reserved addresses */
    const char *fails; /* the symbol that does */
    int fails_with, fails_after; /* ... after so many calls that work */
    long fails_at;     /* the number of the call that does, of all that can; 0: none */
    int lost;          /* every call that can fails with this */
    const char *log;   /* of a module that does not load */
    void (*run)(void *record, const void *args); /* in place of a kernel; may be NULL */
    /* what it has seen */
    long alive;     /* objects made and not released */
    int contexts;   /* on the threads' stacks */
    long calls, launches, together, recorded, unsafe;
    unsigned grid, block;
    size_t taken;   /* bytes of memory of the device */
    size_t pinned, pageable; /* bytes of the host's that are pinned; that were copied from or to others */
    long copies;    /* between host and device */
    long images;    /* modules loaded */
    char entry[64];
    char failed[64]; /* the symbol of fails_at */
} fake_driver;

#endif
