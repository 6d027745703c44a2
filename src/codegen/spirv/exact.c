/* Exact arithmetic of double, for the library of the SPIR-V generator. SPDX-License-Identifier: Apache-2.0 */
#include "math/rgm.h"

#include <stdbool.h>

#define NAME(name) name
#define SLOW(name) exact_##name##_slow
#define REAL       double
#define BITS       uint64_t
#define BITS_OF    rgm_bits
#define REAL_OF    rgm_from_bits
#define FMA        fma
#define CLZ        __builtin_clzll
enum { MANTISSA = 53, BIAS = 1023, STEPS = 3 };
#include "codegen/spirv/exact_of.h"

double
rgx_quotient(double x, double y)
{
    return exact_quotient(x, y);
}

double
rgx_root(double x)
{
    return exact_root(x);
}

double
rgx_near_quotient(double x, double y, double about)
{
    return near_quotient(x, y, about);
}

double
rgx_near_root(double x, double about)
{
    return near_root(x, about);
}

double
rgx_ldexp(double x, int32_t y)
{
    return exact_ldexp(x, y);
}

double
rgx_fraction(double x)
{
    return exact_fraction(x);
}

int32_t
rgx_exponent(double x)
{
    return exact_exponent(x);
}

double
rgx_fmod(double x, double y)
{
    return exact_fmod(x, y);
}

double
rgx_remainder(double x, double y)
{
    return exact_remainder(x, y);
}

double
rgx_fdim(double x, double y)
{
    return exact_fdim(x, y);
}

double
rgx_nextafter(double x, double y)
{
    return exact_nextafter(x, y);
}

/* -- x y + z in 128 bits: two words, the leading bit at bit 62 of the upper one ------------------------------------------ */

typedef struct wide {
    uint64_t high, low;
} wide;

static wide
product(uint64_t a, uint64_t b)
{
    uint64_t low = (a & 0xffffffff) * (b & 0xffffffff), cross = (a >> 32) * (b & 0xffffffff), other = (a & 0xffffffff) * (b >> 32);
    uint64_t middle = (low >> 32) + (cross & 0xffffffff) + (other & 0xffffffff);
    wide r = {(a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32) + (middle >> 32), middle << 32 | (low & 0xffffffff)};
    return r;
}

/* by less than 128 */
static wide
shifted_left(wide m, int32_t by)
{
    wide one = {m.high << (by & 63) | (by & 63 ? m.low >> (64 - (by & 63)) : 0), m.low << (by & 63)}, far = {m.low << (by & 63), 0};
    return by >= 64 ? far : one;
}

/* what is lost stays as the last bit */
static wide
shifted_right_wide(wide m, int32_t by)
{
    wide r = m;
    if (by >= 127) {
        r.high = 0;
        r.low = 1;
    } else if (by >= 64) {
        int32_t n = by - 64;
        r.high = 0;
        r.low = m.high >> n | (uint64_t)(m.low != 0 || (m.high & (((uint64_t)1 << n) - 1)) != 0);
    } else if (by > 0) {
        r.high = m.high >> by;
        r.low = m.low >> by | m.high << (64 - by) | (uint64_t)((m.low & (((uint64_t)1 << by) - 1)) != 0);
    }
    return r;
}

static double
fused_finite(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t sign = (a ^ b) & SIGN, other = c & SIGN;
    a &= ~SIGN;
    b &= ~SIGN;
    c &= ~SIGN;
    int32_t e = exponent_of_size(a) + exponent_of_size(b) - BIAS + 1, f = exponent_of_size(c);
    wide m = shifted_left(product(mantissa_of_size(a), mantissa_of_size(b)), 126 - 2 * BELOW - 1);
    wide n = {mantissa_of_size(c) << (62 - BELOW), 0};
    if (!(m.high >> 62)) {
        m = shifted_left(m, 1);
        e--;
    }
    bool less = m.high < n.high || (m.high == n.high && m.low < n.low), swaps = e < f || (e == f && less);
    wide large = swaps ? n : m, small = swaps ? m : n;
    int32_t high = swaps ? f : e, low = swaps ? e : f;
    uint64_t result = swaps ? other : sign;
    small = shifted_right_wide(small, high - low);
    wide sum;
    if (sign == other) {
        sum.low = large.low + small.low;
        sum.high = large.high + small.high + (uint64_t)(sum.low < large.low);
    } else {
        sum.low = large.low - small.low;
        sum.high = large.high - small.high - (uint64_t)(large.low < small.low);
    }
    if (sum.high == 0 && sum.low == 0)
        return 0;
    if (sum.high >> 63) {
        sum = shifted_right_wide(sum, 1);
        high++;
    }
    int32_t by = sum.high ? __builtin_clzll(sum.high) - 1 : 63 + __builtin_clzll(sum.low);
    sum = shifted_left(sum, by);
    high -= by;
    uint64_t top = sum.high >> (62 - BELOW - 2), lost = sum.high & (((uint64_t)1 << (62 - BELOW - 2)) - 1);
    return pack(result, high, top | (uint64_t)(lost != 0 || sum.low != 0));
}

double
rgx_fused(double x, double y, double z)
{
    uint64_t a = rgm_bits(x), b = rgm_bits(y), c = rgm_bits(z);
    bool finite = (a & ~SIGN) < INFINITE && (b & ~SIGN) < INFINITE;
    if (finite && (c & ~SIGN) >= INFINITE)
        return z;
    if (!finite || (a & ~SIGN) == 0 || (b & ~SIGN) == 0)
        return x * y + z;
    if ((c & ~SIGN) == 0)
        return x * y;
    return fused_finite(a, b, c);
}

/* A double rounded to odd in float: rounding that once more, to 11 bits, then gives the nearest. */
float
rgx_odd_float(double v)
{
    float f = (float)v;
    if ((double)f == v || v != v)
        return f;
    uint32_t bits = rgm_bitsf(f);
    if (bits & 1)
        return f;
    bool away = f > 0 ? (double)f < v : (double)f > v;
    return rgm_from_bitsf(f == 0 ? (v < 0 ? 0x80000001u : 1u) : away ? bits + 1 : bits - 1);
}
