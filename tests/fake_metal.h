/* Objective-C's runtime and Metal for tests: buffers lie in the host's memory, twice, once for the host and once for the GPU; libraries are
 * compiled as C++ (metal/compile.h), and command buffers run when they are committed. One thread sets what it pretends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FAKE_METAL_H
#define TESTS_FAKE_METAL_H

#include <stdint.h>

typedef struct fake_metal {
    /* what it pretends */
    unsigned devices;
    long family;        /* the family that it does not belong to; 0: none */
    int has_math_mode;  /* macOS 15 */
    unsigned long width; /* of SIMD-groups */
    uint64_t memory, piece; /* bytes of all buffers, of one at most */
    int strict;         /* the host's side of what a launch uses is not accessible while it runs */
    int rounds;         /* how it rounds: not as IEEE 754 quotients and roots (bit 0), products with a sum (bit 1), quotients and
                         * roots below the normal range (bit 2) */
    const char *lacks;  /* a class */
    long fails_at;      /* the number of the call that fails, of all that can; 0: none */
    long fails_with;    /* the error of a command buffer that fails */
    int removed;        /* every command buffer fails */
    /* what it has seen */
    long calls, alive, commits, dispatches, unsafe; /* commits: of command buffers; dispatches: of any threadgroups */
    uint64_t used;      /* bytes of buffers */
    char failed[64];    /* the selector of fails_at */
    char why[160];      /* the first unsafe one */
} fake_metal;

#endif
