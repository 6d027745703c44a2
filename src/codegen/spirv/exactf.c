/* Exact arithmetic of float, for the library of the SPIR-V generator. SPDX-License-Identifier: Apache-2.0
 *
 * Compiled as src/math is: by the host for tests, by our own front end for devices. */
#include "math/rgm.h"

#include <stdbool.h>

#define NAME(name) name##f
#define REAL       float
#define BITS       uint32_t
#define BITS_OF    rgm_bitsf
#define REAL_OF    rgm_from_bitsf
#define SIZE       fabsf
#define FMA        fmaf
#define CLZ        __builtin_clz
enum { MANTISSA = 24, BIAS = 127, STEPS = 1 };
#include "codegen/spirv/exact_of.h"

/* -- quotients and roots --------------------------------------------------------------------------------------------------
 *
 * Of significands: an approximation in floats, rough in its last digits, and what is left of it in integers, of which 32 bits suffice.
 * That gives the digits that are missing. Straight code, because drivers put it at each quotient and root. */

/* of a size below the normal range: how far its leading bit is below that of ONE */
static int32_t
missing_bits(uint32_t size)
{
    int32_t by = __builtin_clz(size | 1) - (31 - BELOW);
    return by > 0 ? by : 0;
}

/* q in full, of one whose rest is between minus half of the divisor and half of it. Its last bit stands for all below. */
static uint32_t
settled(uint32_t q, uint32_t rest)
{
    return (q - (rest >> 31)) | (uint32_t)(rest != 0);
}

/* of a small one, halves anyhow */
static uint32_t
nearest_integer(float v)
{
    return rgm_bitsf(v + 0x1.8p23f) - rgm_bitsf(0x1.8p23f);
}

/* a / b, a below 2 b, both with the leading bit of ONE; a may have one more */
static uint32_t
quotient_of_significands(uint32_t a, uint32_t b)
{
    float under = rgm_from_bitsf(b - ONE + rgm_bitsf(1));
    float by = (0x1.4afd6ap-2f * under - 0x1.745d18p0f) * under + 0x1.0f83ep1f; /* off by 1/99 of itself; then by the square of that ... */
    by += by * (1 - under * by);
    by += by * (1 - under * by);
    uint32_t q = (rgm_bitsf((float)(int32_t)a * 0x1p-23f * by) - rgm_bitsf(0.5f)) << 2, rest = (a << 25) - q * b;
    uint32_t more = nearest_integer((float)(int32_t)rest * (by * 0x1p-23f));
    return settled(q + more, rest - more * b);
}

static float
exact_quotientf(float x, float y)
{
    uint32_t over = rgm_bitsf(x) & ~SIGN, under = rgm_bitsf(y) & ~SIGN, sign = (rgm_bitsf(x) ^ rgm_bitsf(y)) & SIGN;
    int32_t up = missing_bits(over), down = missing_bits(under);
    uint32_t a = over << up, b = under << down, m = (a & (ONE - 1)) | ONE, n = (b & (ONE - 1)) | ONE, less = (uint32_t)(m < n);
    int32_t e = (int32_t)(a >> BELOW) - up - (int32_t)(b >> BELOW) + down + BIAS - (int32_t)less;
    uint32_t size = rgm_bitsf(packf(0, e, quotient_of_significands(m << less, n)));
    bool ends = over == INFINITE || under == 0, vanishes = over == 0 || under == INFINITE;
    bool none = over > INFINITE || under > INFINITE || (ends && vanishes);
    size = ends ? INFINITE : vanishes ? 0 : size;
    return none ? NO_NUMBER : rgm_from_bitsf(sign | size);
}

static float
exact_rootf(float x)
{
    uint32_t bits = rgm_bitsf(x), size = bits & ~SIGN;
    int32_t up = missing_bits(size);
    uint32_t a = size << up, odd = (a >> BELOW & 1) ^ ((uint32_t)up & 1) ^ 1, m = ((a & (ONE - 1)) | ONE) << odd;
    float square = (float)(int32_t)m * 0x1p-23f, half = 0.5f * square;
    float by = rgm_from_bitsf(0x5f3759df - (rgm_bitsf(square) >> 1)); /* off by 1/29 of itself */
    by *= 1.5f - half * by * by;
    by *= 1.5f - half * by * by;
    by *= 1.5f - half * by * by;
    uint32_t q = (rgm_bitsf(square * by) - rgm_bitsf(0.5f)) << 1, rest = (m << 25) - q * q;
    q += nearest_integer((float)(int32_t)rest * (by * 0x1p-25f));
    uint32_t all = settled(2 * q, (m << 25) - q * q);
    int32_t e = ((int32_t)(a >> BELOW) - up + BIAS) >> 1;
    uint32_t root = ((uint32_t)(e - 1) << BELOW) + ((all + 1 + (all >> 2 & 1)) >> 2);
    bool is_itself = size == 0 || size > INFINITE || bits == INFINITE;
    return is_itself ? x : bits & SIGN ? NO_NUMBER : rgm_from_bitsf(root);
}

EXACT_FUNCTIONS

/* -- x y + z ------------------------------------------------------------------------------------------------------------ */

static int32_t
exponent_as_stored(uint32_t size)
{
    return size >= ONE ? (int32_t)(size >> BELOW) : 1;
}

static uint64_t
steps_of(uint32_t size)
{
    return size - ((uint32_t)(exponent_as_stored(size) - 1) << BELOW);
}

/* As rgx_fused (doubles.c), in 64 bits: leading bits stand at 61, or 60 of the product, and lower below the normal range. */
float
rgx_fusedf(float x, float y, float z)
{
    uint32_t a = rgm_bitsf(x) & ~SIGN, b = rgm_bitsf(y) & ~SIGN, c = rgm_bitsf(z) & ~SIGN;
    uint32_t sign = (rgm_bitsf(x) ^ rgm_bitsf(y)) & SIGN, other = rgm_bitsf(z) & SIGN;
    bool none = a == 0 || b == 0, differ = sign != other;
    int32_t e = none ? 0 : exponent_as_stored(a) + exponent_as_stored(b) - BIAS + 1, f = exponent_as_stored(c);
    uint64_t m = steps_of(a) * steps_of(b) << 14, n = steps_of(c) << 38;
    bool swaps = e < f;
    int32_t g = swaps ? f : e, apart = swaps ? f - e : e - f, down = apart < 63 ? apart : 63;
    uint64_t large = swaps ? n : m, small = swaps ? m : n, low = small >> down;
    low |= (uint64_t)(low << down != small); /* what is lost stays as the last bit */
    uint64_t sum = differ ? large - low : large + low;
    bool flips = differ && sum >> 63;
    sum = flips ? 0 - sum : sum;
    int32_t by = __builtin_clzll(sum | 1);
    by = by < g + 1 ? by : g + 1;
    uint64_t top = sum << by, q = top >> 40, up = (uint64_t)((top & 0xffffffffff) + (q & 1) > (uint64_t)1 << 39);
    uint32_t size = ((uint32_t)(g + 1 - by) << BELOW) + (uint32_t)(q + up), most = size < INFINITE ? size : INFINITE;
    uint32_t result = (swaps ? other : sign) ^ (flips ? SIGN : 0);
    bool ends = a >= INFINITE || b >= INFINITE, against = none || (c == INFINITE && differ);
    bool lost = a > INFINITE || b > INFINITE || c > INFINITE || (ends && against);
    uint32_t end = lost ? INFINITE | ONE >> 1 : (ends ? sign : other) | INFINITE;
    return rgm_from_bitsf(ends || c >= INFINITE ? end : sum == 0 ? sign & other : result | most);
}

/* By f64, in which the product is exact. The sum is rounded to odd, so that rounding it once more gives the nearest. */
float
rgx_wide_fusedf(float x, float y, float z)
{
    double p = (double)x * (double)y, s = p + (double)z, of_z = s - p, lost = (p - (s - of_z)) + ((double)z - of_z);
    uint64_t bits = rgm_bits(s), toward = (lost > 0) == (s > 0) ? 1 : UINT64_MAX;
    return (float)rgm_from_bits((lost > 0 || lost < 0) && !(bits & 1) ? bits + toward : bits);
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
