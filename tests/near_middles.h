/* Quotients of f32 that are hard to round. SPDX-License-Identifier: Apache-2.0 */
#ifndef NEAR_MIDDLES_H
#define NEAR_MIDDLES_H

#include <stdint.h>

/* 1 / odd, modulo 2^32 */
static inline uint32_t
inverse(uint32_t odd)
{
    uint32_t v = odd;
    for (int i = 0; i < 5; i++)
        v *= 2 - odd * v;
    return v;
}

/* All a for which a / b, as significands, is rest / (b 2^shift) away from the middle m between two neighbours: a 2^shift = b m + rest. */
static inline void
near_middles_at(uint32_t b, uint32_t shift, int32_t rest, void (*each)(void *user, uint32_t a, uint32_t b), void *user)
{
    uint32_t zeros = (uint32_t)__builtin_ctz(b);
    if (rest % (1 << zeros) != 0 || shift < zeros + 12)
        return;
    uint32_t step = 1u << (shift - zeros), first = (0u - (uint32_t)(rest >> zeros)) * inverse(b >> zeros) & (step - 1);
    for (uint64_t m = first; m < 1u << 25; m += step) {
        uint64_t product = (uint64_t)b * m + (uint64_t)(int64_t)rest, a = product >> shift;
        if (m >= 1u << 24 && (m & 1) && a << shift == product && a >= 1u << 23 && a < 1u << 24)
            each(user, (uint32_t)a, b);
    }
}

/* Those of one significand b that come nearest. */
static inline void
near_middles(uint32_t b, void (*each)(void *user, uint32_t a, uint32_t b), void *user)
{
    for (uint32_t shift = 24; shift <= 25; shift++)
        for (int32_t rest = -3; rest <= 3; rest++)
            if (rest)
                near_middles_at(b, shift, rest, each, user);
}

#endif
