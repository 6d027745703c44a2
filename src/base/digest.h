/* A hash that stands for what it is made of: nobody finds two texts with the same one. SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/base.h"

enum { DIGEST_BYTES = 32 };

typedef struct digest {
    uint64_t state[8], size;
    size_t used;
    uint8_t block[128];
} digest;

void digest_begin(digest *d);
void digest_add(digest *d, const void *data, size_t n);
void digest_end(digest *d, uint8_t out[DIGEST_BYTES]);
void digest_of(const void *data, size_t n, uint8_t out[DIGEST_BYTES]);
void digest_print(str *out, const uint8_t d[DIGEST_BYTES]); /* hexadecimal */

#endif
