/* f64 in integers, for devices that have none. SPDX-License-Identifier: Apache-2.0
 *
 * What scalar.c calls there in the place of instructions of floats: rounded to nearest, halves to even, with numbers below the normal
 * range, infinities and NaN (one, whatever the operands' are). Of doubles only bits are used, as they may be no more than that.
 *
 * A size (the bits without the sign) is the mantissa m times 2^(e - 1075), where e is its exponent as it stands, but 1 below the normal
 * range: a step of m is the same there as right above it, so nothing has to be normalised that is added. Drivers inline all
 * calls: each function is straight code, and none calls another one. */
#include "math/rgm.h"

#include <stdbool.h>

#define SIGN      ((uint64_t)1 << 63)
#define ONE       ((uint64_t)1 << 52)
#define INFINITE  ((uint64_t)2047 << 52)
#define NO_NUMBER ((uint64_t)0xfff << 51)
#define UNIT      ((uint64_t)1023 << 52) /* of the number 1 */
enum { BIAS = 1023 };

static uint64_t
magnitude_of(double x)
{
    return rgm_bits(x) & ~SIGN;
}

static int32_t
exponent_of(uint64_t size)
{
    int32_t e = (int32_t)(size >> 52);
    return e ? e : 1;
}

static uint64_t
mantissa_of(uint64_t size, int32_t e)
{
    return size - ((uint64_t)(e - 1) << 52);
}

/* m >> by, and what is lost as the last bit */
static uint64_t
shifted_down(uint64_t m, int32_t by)
{
    int32_t n = by < 63 ? by : 63;
    uint64_t r = m >> n;
    return r | (uint64_t)(r << n != m);
}

/* m has eleven bits more than a mantissa, and the leading one unless e is 1. It counts the exponent up, as rounding may do. e < 4096. */
static uint64_t
nearest_size(int32_t e, uint64_t m)
{
    uint64_t q = m >> 11, up = (uint64_t)(((uint32_t)m & 0x7ff) + ((uint32_t)q & 1) > 0x400);
    uint64_t size = ((uint64_t)(e - 1) << 52) + q + up;
    return size < INFINITE ? size : INFINITE;
}

/* -- sums -------------------------------------------------------------------------------------------------------------- */

static double
sum_of_bits(uint64_t a, uint64_t b)
{
    uint64_t differ = (a ^ b) & SIGN;
    bool swaps = (a & ~SIGN) < (b & ~SIGN);
    uint64_t sign = (swaps ? b : a) & SIGN, large = (swaps ? b : a) & ~SIGN, small = (swaps ? a : b) & ~SIGN;
    int32_t e = exponent_of(large), f = exponent_of(small);
    uint64_t m = mantissa_of(large, e) << 10, n = shifted_down(mantissa_of(small, f) << 10, e - f), sum = differ ? m - n : m + n;
    int32_t by = __builtin_clzll(sum | 1);
    by = by < e ? by : e;
    uint64_t size = nearest_size(e + 1 - by, sum << by), end = large > INFINITE || (differ && small == INFINITE) ? NO_NUMBER : INFINITE;
    sign = sum == 0 ? sign & ~differ : sign;
    return rgm_from_bits(sign | (large >= INFINITE ? end : sum == 0 ? 0 : size));
}

double
rgx_sum(double x, double y)
{
    return sum_of_bits(rgm_bits(x), rgm_bits(y));
}

double
rgx_difference(double x, double y)
{
    return sum_of_bits(rgm_bits(x), rgm_bits(y) ^ SIGN);
}

/* -- products ---------------------------------------------------------------------------------------------------------- */

typedef struct wide {
    uint64_t high, low;
} wide;

/* of numbers below 2^63 */
static wide
product_in_128(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32, low = a0 * b0;
    uint64_t middle = a1 * b0 + a0 * b1 + (low >> 32);
    wide r = {a1 * b1 + (middle >> 32), middle << 32 | (low & 0xffffffff)};
    return r;
}

double
rgx_product(double x, double y)
{
    uint64_t a = magnitude_of(x), b = magnitude_of(y), sign = (rgm_bits(x) ^ rgm_bits(y)) & SIGN;
    uint64_t large = a < b ? b : a, small = a < b ? a : b;
    int32_t e = exponent_of(large), f = exponent_of(small), by = __builtin_clzll(mantissa_of(small, f) | 1) - 1;
    wide p = product_in_128(mantissa_of(large, e) << 10, mantissa_of(small, f) << by);
    int32_t up = 3 - (int32_t)(p.high >> 61), g = e + f - by + (10 - BIAS + 3) - up;
    uint64_t m = p.high << up | (uint64_t)(p.low != 0), end = large > INFINITE || small == 0 ? NO_NUMBER : INFINITE;
    uint64_t size = nearest_size(g < 1 ? 1 : g, shifted_down(m, g < 1 ? 1 - g : 0));
    return rgm_from_bits(sign | (large >= INFINITE ? end : small == 0 ? 0 : size));
}

/* m >> by, and what is lost as the last bit */
static wide
shifted_down_wide(wide m, int32_t by)
{
    int32_t n = (by < 127 ? by : 127) & 63;
    uint64_t high = by < 64 ? m.high : 0, low = by < 64 ? m.low : m.high, lost = by < 64 ? 0 : m.low;
    uint64_t r = low >> n;
    wide all = {high >> n, r | high << 1 << (63 - n) | (uint64_t)(lost != 0 || r << n != low)};
    return all;
}

static wide
negative(wide m)
{
    wide r = {~m.high + (uint64_t)(m.low == 0), 0 - m.low};
    return r;
}

/* x y + z in 128 bits, with the leading bits of the product at 125 or 124 and that of z at 125; below the normal range they stand lower. */
double
rgx_fused(double x, double y, double z)
{
    uint64_t a = magnitude_of(x), b = magnitude_of(y), c = magnitude_of(z);
    uint64_t sign = (rgm_bits(x) ^ rgm_bits(y)) & SIGN, other = rgm_bits(z) & SIGN;
    bool none = a == 0 || b == 0;
    int32_t ea = exponent_of(a), eb = exponent_of(b), f = exponent_of(c), e = none ? 0 : ea + eb - BIAS + 1;
    wide m = product_in_128(mantissa_of(a, ea) << 10, mantissa_of(b, eb) << 10), n = {mantissa_of(c, f) << 9, 0};
    bool swaps = e < f, differ = sign != other;
    wide large = swaps ? n : m, small = shifted_down_wide(swaps ? m : n, swaps ? f - e : e - f);
    int32_t g = swaps ? f : e;
    if (differ)
        small = negative(small);
    wide sum = {large.high + small.high + (uint64_t)(large.low + small.low < small.low), large.low + small.low};
    bool flips = differ && sum.high >> 63;
    if (flips)
        sum = negative(sum);
    bool far = sum.high == 0 && g + 1 >= 64;
    uint64_t high = far ? sum.low : sum.high, low = far ? 0 : sum.low;
    int32_t left = g + 1 - (far ? 64 : 0), by = high ? __builtin_clzll(high) : 63;
    by = by < left ? by : left;
    uint64_t top = high << by | low >> 1 >> (63 - by);
    bool nothing = sum.high == 0 && sum.low == 0;
    uint64_t size = nearest_size(left + 1 - by, top | (uint64_t)(low << by != 0)), result = (swaps ? other : sign) ^ (flips ? SIGN : 0);
    bool ends = a >= INFINITE || b >= INFINITE, against = none || (c == INFINITE && differ);
    bool lost = a > INFINITE || b > INFINITE || c > INFINITE || (ends && against);
    uint64_t end = lost ? NO_NUMBER : (ends ? sign : other) | INFINITE;
    return rgm_from_bits(ends || c >= INFINITE ? end : nothing ? sign & other : result | size);
}

/* -- signs and order ------------------------------------------------------------------------------------------------------ */

double
rgx_negative(double x)
{
    return rgm_from_bits(rgm_bits(x) ^ SIGN);
}

double
rgx_size(double x)
{
    return rgm_from_bits(magnitude_of(x));
}

/* an integer in the same order; both zeros are 0 */
static int64_t
signed_magnitude(double x)
{
    int64_t size = (int64_t)magnitude_of(x);
    return rgm_bits(x) >> 63 ? -size : size;
}

static bool
have_an_order(double x, double y)
{
    return magnitude_of(x) <= INFINITE && magnitude_of(y) <= INFINITE;
}

bool
rgx_equal(double x, double y)
{
    return have_an_order(x, y) && signed_magnitude(x) == signed_magnitude(y);
}

bool
rgx_less(double x, double y)
{
    return have_an_order(x, y) && signed_magnitude(x) < signed_magnitude(y);
}

bool
rgx_less_equal(double x, double y)
{
    return have_an_order(x, y) && signed_magnitude(x) <= signed_magnitude(y);
}

/* -- whole numbers -------------------------------------------------------------------------------------------------------- */

/* the bits behind the point, of one that has any before it */
static uint64_t
fraction_of(uint64_t size)
{
    int32_t e = (int32_t)(size >> 52) - BIAS;
    return e < 52 ? (ONE - 1) >> (e & 63) : 0;
}

static uint64_t
toward_zero(uint64_t size)
{
    return size < UNIT ? 0 : size & ~fraction_of(size);
}

static uint64_t
away(uint64_t size)
{
    uint64_t fraction = fraction_of(size);
    return size == 0 ? 0 : size < UNIT ? UNIT : (size + fraction) & ~fraction;
}

double
rgx_trunc(double x)
{
    return rgm_from_bits((rgm_bits(x) & SIGN) | toward_zero(magnitude_of(x)));
}

double
rgx_floor(double x)
{
    uint64_t sign = rgm_bits(x) & SIGN, size = magnitude_of(x);
    return rgm_from_bits(sign | (sign ? away(size) : toward_zero(size)));
}

double
rgx_ceil(double x)
{
    uint64_t sign = rgm_bits(x) & SIGN, size = magnitude_of(x);
    return rgm_from_bits(sign | (sign ? toward_zero(size) : away(size)));
}

/* halves to even: the bit before the point says where they go, which for 1 is the exponent's last */
double
rgx_rint(double x)
{
    uint64_t sign = rgm_bits(x) & SIGN, size = magnitude_of(x), fraction = fraction_of(size), odd = size & (fraction + 1);
    uint64_t near = (size + (fraction >> 1) + (uint64_t)(fraction != 0 && odd != 0)) & ~fraction;
    return rgm_from_bits(sign | (size < UNIT ? (size > UNIT - ONE ? UNIT : 0) : near));
}

/* -- conversions ------------------------------------------------------------------------------------------------------------ */

double
rgx_double(float x)
{
    uint32_t size = rgm_bitsf(x) & 0x7fffffff, moves = size < 0x7f800000 ? 896 : 2 * 896;
    int32_t by = __builtin_clz(size | 1) - 8;
    uint64_t below = ((uint64_t)(896 - by) << 52) + ((uint64_t)size << (29 + (by & 31)));
    uint64_t normal = ((uint64_t)size << 29) + ((uint64_t)moves << 52);
    return rgm_from_bits((uint64_t)(rgm_bitsf(x) >> 31) << 63 | (size >= 0x800000 ? normal : size ? below : 0));
}

float
rgx_single(double x)
{
    uint64_t size = magnitude_of(x), m = (size & (ONE - 1)) | ONE;
    int32_t e = (int32_t)(size >> 52) - 896, by = e < 1 ? 30 - e : 29;
    by = by < 63 ? by : 63;
    uint64_t rest = m << (64 - by), q = m >> by;
    uint32_t up = (uint32_t)(rest > SIGN || (rest == SIGN && (q & 1)));
    e = e < 1 ? 1 : e < 255 ? e : 255;
    uint32_t near = ((uint32_t)(e - 1) << 23) + (uint32_t)q + up, most = near < 0x7f800000 ? near : 0x7f800000;
    return rgm_from_bitsf((uint32_t)(rgm_bits(x) >> 63) << 31 | (size > INFINITE ? 0x7fc00000 : most));
}

static double
of_size(uint64_t sign, uint64_t size)
{
    int32_t by = __builtin_clzll(size | 1);
    return rgm_from_bits(size ? sign | nearest_size(BIAS + 63 - by, size << by) : 0);
}

double
rgx_of_unsigned(uint64_t n)
{
    return of_size(0, n);
}

double
rgx_of_signed(int64_t n)
{
    return of_size((uint64_t)n & SIGN, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* truncated, of a size below 2^64 */
static uint64_t
whole_of(uint64_t size)
{
    int32_t e = (int32_t)(size >> 52) - (BIAS + 52), down = -e < 63 ? -e : 63;
    uint64_t m = (size & (ONE - 1)) | ONE;
    return e < 0 ? m >> (down & 63) : m << (e & 63);
}

/* the nearest that there is, and 0 for what is no number */
int64_t
rgx_to_signed(double x)
{
    uint64_t size = magnitude_of(x), whole = whole_of(size), sign = rgm_bits(x) & SIGN;
    uint64_t n = size >= UNIT + 63 * ONE ? SIGN - (uint64_t)(sign == 0) : sign ? 0 - whole : whole;
    return (int64_t)(size > INFINITE ? 0 : n);
}

uint64_t
rgx_to_unsigned(double x)
{
    uint64_t size = magnitude_of(x);
    return size > INFINITE || rgm_bits(x) >> 63 ? 0 : size >= UNIT + 64 * ONE ? UINT64_MAX : whole_of(size);
}
