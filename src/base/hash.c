/* A 64-bit hash: eight bytes at a time, each folded in by a 64 x 64 -> 128 multiplication.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

static uint64_t
fold(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t
hash_bytes(uint64_t seed, const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h = seed ^ 0x2d358dccaa6c78a5u ^ (n * 0x9e3779b97f4a7c15u);
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = fold(h ^ 0x8bb84b93962eacc9u, word ^ 0x4b33a62ed433d4a3u);
    }
    uint64_t rest = 0;
    if (n)
        memcpy(&rest, p, n);
    h = fold(h ^ 0x8bb84b93962eacc9u, rest ^ 0x4d5a2da51de1aa47u);
    return fold(h ^ 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu);
}
