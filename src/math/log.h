/* What the logarithms share.  Coefficients: poly/log.sollya.  SPDX-License-Identifier: Apache-2.0
 *
 * x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2). With s = f / (2 + f), z = s^2, h = f^2 / 2:
 * log(1 + f) = 2 atanh(s) = 2 s + s z P(z) = f - (h - s (h + z P(z))), where f is exact and h
 * small. */
#ifndef MATH_LOG_H
#define MATH_LOG_H

#include "math/rgm.h"

#define LN2            0x1.62e42fefa38p-1 /* 42 bits: k times it is exact */
#define LN2_REST       0x1.ef35793c7673p-45
#define SQRT_HALF_BITS 0x3fe6a09e667f3bcd
#define MANTISSA       0x000fffffffffffff

/* With the bits of x for argument, of 2^k x for a whole k: the exponent field is 1023 + k. */
static inline uint64_t
log_exponent(uint64_t bits)
{
    return bits + (0x3ff0000000000000 - SQRT_HALF_BITS);
}

/* high + low */
struct log_parts {
    double high, low;
};

/* x = 2^k (1 + f), for x > 0 */
struct log_split {
    double k, f;
};

static inline struct log_split
log_split(double x)
{
    double offset = x < 0x1p-1022 ? 0x1p52 + 1023 + 54 : 0x1p52 + 1023;
    uint64_t up = log_exponent(rgm_bits(x < 0x1p-1022 ? x * 0x1p54 : x));
    struct log_split r;

    r.k = rgm_from_bits(up >> 52 | 0x4330000000000000) - offset;
    r.f = rgm_from_bits((up & MANTISSA) + SQRT_HALF_BITS) - 1;
    return r;
}

/* z P(z) */
static inline double
log_series(double z)
{
    double w = z * z;
    double low = fma(z, 0x1.999999999531bp-2, 0x1.5555555555558p-1);
    double middle = fma(z, 0x1.c71c62e51dd4bp-3, 0x1.2492492defcd8p-2);
    double high = fma(w, 0x1.2b5958e1cee02p-3, fma(z, 0x1.39fe4d7605234p-3, 0x1.7462b5147d589p-3));

    return z * fma(w, fma(w, high, middle), low);
}

/* k ln(2) + log(1 + f + rest) */
static inline double
log_sum(double k, double f, double rest)
{
    double s = f / (2 + f), h = 0.5 * f * f;
    double r = fma(s, h + log_series(s * s), fma(k, LN2_REST, rest));

    return fma(k, LN2, f - (h - r));
}

/* log(1 + x + rest) + extra ln(2) for x > -1, and finite */
static inline double
log1p_sum(double x, double rest, double extra)
{
    uint64_t up = log_exponent(rgm_bits(1 + x));
    uint64_t shift = (up & ~(uint64_t)MANTISSA) - 0x3ff0000000000000;
    uint64_t field = 0x3ff0000000000000 - shift;
    double k = rgm_from_bits(up >> 52 | 0x4330000000000000) - (0x1p52 + 1023);
    /* 2^-k; at k = 1024 any number as small will do */
    double power = rgm_from_bits((int64_t)field < 0x0010000000000000 ? 0x0010000000000000 : field);
    double scaled = rgm_from_bits(rgm_bits(x) - shift), f = scaled + (power - 1);
    /* what f lacks counts for x near 1/2 only, and there it is exact */
    double lost = scaled - (f - (power - 1)) + rest * power;

    return log_sum(k + extra, f, lost * (1 - f));
}

#endif
