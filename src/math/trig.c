/* sin cos sincos tan. SPDX-License-Identifier: Apache-2.0
 *
 * |x| = n pi/2 + r + low with |r| <= pi/4, then polynomials (poly/trig.sollya). pi/2 stands in
 * three parts: n times the first, 53 bits, leaves an exact rest; n times the second, 33 bits, is
 * exact up to n = 2^20, so that r is the rounded difference and low its error; the third completes
 * low. Beyond that the bits of 2/pi that matter are multiplied out. sin, cos and sincos do the same
 * arithmetic, and so have the same bits. */
#include "math/rgm.h"

#include <stdbool.h>

#define REDUCED_BELOW 0x1p20

typedef struct reduced {
    double r, low;
    uint64_t n; /* its last two bits count */
} reduced;

/* -- |x| = n pi/2 + r + low -------------------------------------------------------------------- */
/* The bits of 2/pi behind the point, behind a word of zeros. */
static const uint64_t two_over_pi[20] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
};

/* The upper half of a product. */
static inline uint64_t
high_product(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = a & 0xffffffff, b1 = b >> 32, b0 = b & 0xffffffff;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffff);
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* 64 bits of a from bit `shift` of its first word on; shift < 64. */
static inline uint64_t
funnel(uint64_t a, uint64_t b, uint32_t shift)
{
    return a << shift | b >> 1 >> (63 - shift);
}

/* |x| = m 2^e. Of 2/pi only the 192 bits matter of which the first times m 2^e is worth 2 in the
 * count of quadrants: those before make multiples of 4, those behind less than 2^-137, and no
 * double comes nearer than 2^-62 to a multiple. */
static inline reduced
reduce_any(double x)
{
    uint64_t bits = rgm_bits(x), m = (bits & 0xfffffffffffff) | 0x10000000000000;
    uint32_t at = (uint32_t)(bits >> 52 & 0x7ff) - 1013, word = at >> 6 < 16 ? at >> 6 : 16,
             shift = at & 63;
    uint64_t t1 = two_over_pi[word + 1], t2 = two_over_pi[word + 2];
    uint64_t w0 = funnel(two_over_pi[word], t1, shift), w1 = funnel(t1, t2, shift);
    uint64_t w2 = funnel(t2, two_over_pi[word + 3], shift);
    uint64_t p2 = m * w2, p1 = m * w1, carried = p1 + high_product(m, w2);
    uint64_t p0 = m * w0 + high_product(m, w1) + (carried < p1);
    /* The point stands behind the first two bits. A fraction from 1/2 on becomes one below 0: the
     * next quadrant's. */
    uint64_t n = (p0 + 0x2000000000000000) >> 62;
    uint64_t f0 = p0 << 2 | carried >> 62, f1 = carried << 2 | p2 >> 62, f2 = p2 << 2;
    bool below = f0 >> 63;
    f0 = below ? ~f0 : f0;
    f1 = below ? ~f1 : f1;
    f2 = below ? ~f2 : f2;
    /* Three exact pieces of 48 bits, summed from the front: what a sum loses is kept. */
    double c0 = (double)(int64_t)(f0 >> 16) * 0x1p-48;
    double c1 = (double)(int64_t)((f0 & 0xffff) << 32 | f1 >> 32) * 0x1p-96;
    double c2 = (double)(int64_t)((f1 & 0xffffffff) << 16 | f2 >> 48) * 0x1p-144;
    double high = c0 + c1, rest = c1 - (high - c0) + c2;
    double sum = high + rest;
    rest = rest - (sum - high);
    double r = sum * 0x1.921fb54442d18p0;
    double low = fma(sum, 0x1.921fb54442d18p0, -r) +
                 fma(sum, 0x1.1a62633145c07p-54, rest * 0x1.921fb54442d18p0);
    return (reduced){below ? -r : r, below ? -low : low, n};
}

static inline reduced
reduce(double x)
{
    double shifted = fma(x, 0x1.45f306dc9c883p-1, 0x1.8p52), n = shifted - 0x1.8p52;
    double first = fma(-n, 0x1.921fb54442d18p0, x);
    double r = fma(-n, 0x1.1a626331p-54, first), low = fma(-n, 0x1.1a626331p-54, first - r);
    return (reduced){r, fma(-n, 0x1.1701b839a252p-88, low), rgm_bits(shifted)};
}

/* -- the two polynomials ----------------------------------------------------------------------- */
/* The sine of n quadrants and a rest. In each lane it is one of the two polynomials, so the
 * coefficients are chosen, not the results: one evaluation for both. */
static inline double
sine(reduced a)
{
    bool odd = a.n & 1;
    double r = a.r, s = r * r;
    double p = odd ? -0x1.9073edb1d6431p-37 : 0x1.5e11ba5d3813bp-33;
    p = fma(s, p, odd ? 0x1.1eeb586f37844p-29 : -0x1.ae60217812a5cp-26);
    p = fma(s, p, odd ? -0x1.27e4fa03844e4p-22 : 0x1.71de37b235b35p-19);
    p = fma(s, p, odd ? 0x1.a01a019f38ba5p-16 : -0x1.a01a019ea17c5p-13);
    p = fma(s, p, odd ? -0x1.6c16c16c168ccp-10 : 0x1.1111111110c84p-7);
    p = fma(s, p, odd ? 0x1.5555555555555p-5 : -0x1.5555555555555p-3);
    double most = fma(s, -0.5, 1.0), lost = fma(s, -0.5, 1.0 - most);
    double rest = fma(s * (odd ? s : r), p, odd ? fma(-r, a.low, lost) : a.low * most);
    double y = (odd ? most : r) + rest;
    return rgm_from_bits(rgm_bits(y) ^ (a.n & 2) << 62);
}

/* Both, of the rest alone: the sums high + rest with the bits of sine(). */
typedef struct two_sums {
    double sine, sine_rest, cosine, cosine_rest;
} two_sums;

static inline two_sums
sine_and_cosine(reduced a)
{
    double r = a.r, s = r * r;
    double p = fma(s, 0x1.5e11ba5d3813bp-33, -0x1.ae60217812a5cp-26);
    p = fma(s, p, 0x1.71de37b235b35p-19);
    p = fma(s, p, -0x1.a01a019ea17c5p-13);
    p = fma(s, p, 0x1.1111111110c84p-7);
    p = fma(s, p, -0x1.5555555555555p-3);
    double q = fma(s, -0x1.9073edb1d6431p-37, 0x1.1eeb586f37844p-29);
    q = fma(s, q, -0x1.27e4fa03844e4p-22);
    q = fma(s, q, 0x1.a01a019f38ba5p-16);
    q = fma(s, q, -0x1.6c16c16c168ccp-10);
    q = fma(s, q, 0x1.5555555555555p-5);
    double most = fma(s, -0.5, 1.0), lost = fma(s, -0.5, 1.0 - most);
    return (two_sums){r, fma(s * r, p, a.low * most), most, fma(s * s, q, fma(-r, a.low, lost))};
}

/* The quotient of the two sums, whose own roundings are carried through the division. */
static inline double
tangent(reduced a)
{
    bool odd = a.n & 1;
    two_sums t = sine_and_cosine(a);
    double sine = t.sine + t.sine_rest, sine_low = t.sine_rest - (sine - t.sine);
    double cosine = t.cosine + t.cosine_rest, cosine_low = t.cosine_rest - (cosine - t.cosine);
    double over = odd ? cosine : sine, over_low = odd ? cosine_low : sine_low;
    double under = odd ? sine : cosine, under_low = odd ? sine_low : cosine_low;
    double inverse = 1.0 / under, quotient = over * inverse;
    double rest = fma(-quotient, under, over) + fma(-quotient, under_low, over_low);
    double y = fma(rest, inverse, quotient);
    return rgm_from_bits(rgm_bits(y) ^ a.n << 63);
}

/* -- the functions ----------------------------------------------------------------------------- */
static inline reduced
next_quadrant(reduced a)
{
    return (reduced){a.r, a.low, a.n + 1};
}

/* The sign of x on what was computed of |x|. */
static inline double
signed_as(double x, double y)
{
    return rgm_from_bits(rgm_bits(y) ^ (rgm_bits(x) & 0x8000000000000000));
}

static double
rgm_sin_slow(double x)
{
    double size = fabs(x);
    return size < INFINITY ? signed_as(x, sine(reduce_any(size))) : x - x;
}

static double
rgm_cos_slow(double x)
{
    double size = fabs(x);
    return size < INFINITY ? sine(next_quadrant(reduce_any(size))) : x - x;
}

static double
rgm_tan_slow(double x)
{
    double size = fabs(x);
    return size < INFINITY ? signed_as(x, tangent(reduce_any(size))) : x - x;
}

double
rgm_sin(double x)
{
    double size = fabs(x), y = signed_as(x, sine(reduce(size)));
    if (size > REDUCED_BELOW)
        y = rgm_sin_slow(x);
    return y;
}

double
rgm_cos(double x)
{
    double size = fabs(x), y = sine(next_quadrant(reduce(size)));
    if (size > REDUCED_BELOW)
        y = rgm_cos_slow(x);
    return y;
}

rgm_pair
rgm_sincos(double x)
{
    double size = fabs(x);
    reduced a = reduce(size);
    two_sums t = sine_and_cosine(a);
    double s = t.sine + t.sine_rest, c = t.cosine + t.cosine_rest;
    bool odd = a.n & 1;
    double sine = signed_as(x, rgm_from_bits(rgm_bits(odd ? c : s) ^ (a.n & 2) << 62));
    double cosine = rgm_from_bits(rgm_bits(odd ? s : c) ^ ((a.n + 1) & 2) << 62);
    if (size > REDUCED_BELOW) {
        sine = rgm_sin_slow(x);
        cosine = rgm_cos_slow(x);
    }
    return (rgm_pair){sine, cosine};
}

double
rgm_tan(double x)
{
    double size = fabs(x), y = signed_as(x, tangent(reduce(size)));
    if (size > REDUCED_BELOW)
        y = rgm_tan_slow(x);
    return y;
}
