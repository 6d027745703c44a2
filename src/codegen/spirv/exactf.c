/* Exact arithmetic of float, for the library of the SPIR-V generator. SPDX-License-Identifier: Apache-2.0
 *
 * Compiled as src/math is: by the host for tests, by our own front end for devices. */
#include "math/rgm.h"

#include <stdbool.h>

#define NAME(name) name##f
#define SLOW(name) exact_##name##f_slow
#define REAL       float
#define BITS       uint32_t
#define BITS_OF    rgm_bitsf
#define REAL_OF    rgm_from_bitsf
#define FMA        fmaf
#define CLZ        __builtin_clz
enum { MANTISSA = 24, BIAS = 127, STEPS = 1 };
#include "codegen/spirv/exact_of.h"

EXACT_FUNCTIONS

/* x y + z, none of them infinite or 0: the product has 48 bits, and both stand in 64 with the leading bit at TOP */
enum { TOP = 62 };

/* what is lost stays as the last bit */
static uint64_t
shifted_right(uint64_t m, int32_t by)
{
    int32_t n = by < 63 ? by : 63;
    return m >> n | (uint64_t)((m & (((uint64_t)1 << n) - 1)) != 0);
}

static float
fused_finite_f(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t sign = (a ^ b) & SIGN, other = c & SIGN;
    a &= ~SIGN;
    b &= ~SIGN;
    c &= ~SIGN;
    uint64_t m = ((uint64_t)mantissa_of_sizef(a) * mantissa_of_sizef(b)) << (TOP - 2 * BELOW - 1);
    uint64_t n = (uint64_t)mantissa_of_sizef(c) << (TOP - BELOW);
    int32_t e = exponent_of_sizef(a) + exponent_of_sizef(b) - BIAS + 1, f = exponent_of_sizef(c);
    if (!(m >> TOP & 1)) {
        m <<= 1;
        e--;
    }
    bool swaps = e < f || (e == f && m < n);
    uint64_t large = swaps ? n : m, small = swaps ? m : n;
    int32_t high = swaps ? f : e, low = swaps ? e : f;
    uint32_t result = swaps ? other : sign;
    small = shifted_right(small, high - low);
    uint64_t sum = sign == other ? large + small : large - small;
    if (sum == 0)
        return 0;
    if (sum >> (TOP + 1)) {
        sum = shifted_right(sum, 1);
        high++;
    }
    int32_t by = __builtin_clzll(sum) - 1;
    sum <<= by;
    high -= by;
    return packf(result, high, (uint32_t)shifted_right(sum, TOP - BELOW - 2));
}

float
rgx_fusedf(float x, float y, float z)
{
    uint32_t a = rgm_bitsf(x), b = rgm_bitsf(y), c = rgm_bitsf(z);
    bool finite = (a & ~SIGN) < INFINITE && (b & ~SIGN) < INFINITE;
    if (finite && (c & ~SIGN) >= INFINITE)
        return z;
    if (!finite || (a & ~SIGN) == 0 || (b & ~SIGN) == 0)
        return x * y + z;
    if ((c & ~SIGN) == 0)
        return x * y;
    return fused_finite_f(a, b, c);
}

/* -- f16, as a float that it has ------------------------------------------------------------------------------------- */

/* the nearest; of those below the normal range, multiples of 2^-24, a sum with 1/2 is the nearest */
float
rgx_half(float x)
{
    uint32_t size = rgm_bitsf(x) & ~SIGN, sign = rgm_bitsf(x) & SIGN;
    float below = (rgm_from_bitsf(size) + 0.5f) - 0.5f;
    uint32_t rounded = (size + 0xfff + (size >> 13 & 1)) & ~(uint32_t)0x1fff;
    if (size >= INFINITE)
        return x;
    if (size >= 0x477ff000)
        return rgm_from_bitsf(sign | INFINITE);
    return rgm_from_bitsf(sign | (size < 0x38800000 ? rgm_bitsf(below) : rounded));
}

uint32_t
rgx_half_bits(float x)
{
    uint32_t size = rgm_bitsf(x) & ~SIGN, sign = rgm_bitsf(x) >> 16 & 0x8000;
    uint32_t below = rgm_bitsf(rgm_from_bitsf(size) + 0.5f) - rgm_bitsf(0.5f);
    if (size >= INFINITE)
        return sign | (size > INFINITE ? 0x7e00 | (size >> 13 & 0x3ff) : 0x7c00);
    return sign | (size < 0x38800000 ? below : (size - 0x38000000) >> 13);
}

float
rgx_of_half(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16, size = half & 0x7fff;
    float below = (float)(int32_t)size * 0x1p-24f;
    uint32_t normal = (size << 13) + 0x38000000, none = size << 13 | INFINITE;
    return rgm_from_bitsf(sign | (size < 0x400 ? rgm_bitsf(below) : size >= 0x7c00 ? none : normal));
}
