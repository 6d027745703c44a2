/* sinf, cosf, sincosf, tanf. SPDX-License-Identifier: Apache-2.0
 *
 * Sine:   x = n pi + r, n the nearest integer: sin x = (-1)^n sin r, by an odd polynomial.
 * Cosine: x = (n - 1/2) pi + r: cos x = (-1)^n sin r, by the same.
 * So each alone costs one polynomial; both together share nothing but constants, and the other's latency.
 * r = ((x - n PI_1) - n PI_2) - n PI_3: the first difference is exact, PI_1 having three bits less than a float. Beyond
 * LARGE n is no longer known well enough, and x is multiplied by as many bits of 1 / 2 pi as it takes.
 * Tangent: x = n pi / 2 + r, tan x is tan r or -1 / tan r, all in double: what float loses of r, the quotient would double. */
#include "math/rgm.h"

#define LARGE   0x1p17f
#define LARGE_TAN 0x1p30f
#define SHIFT   0x1.8p23f /* adding it rounds to an integer, in the low bits */
#define SIGN    0x80000000u
#define INV_PI  0x1.45f306p-2f
#define PI_1    0x1.921fb4p1f
#define PI_2    0x1.4442dp-23f
#define PI_3    0x1.84698ap-47f

typedef struct reducedf {
    float r;
    uint32_t flip; /* the sign bit: n is odd */
} reducedf;

typedef struct reduced {
    double r;
    uint32_t odd;
} reduced;

/* |x| / 2 pi in turns, of 2^64 steps; x is at least LARGE, or no number */
static uint64_t
turns(float x)
{
    /* 32 zeros, and 1 / 2 pi */
    static const uint32_t bits[8] = {0,          0x28be60db, 0x9391054a, 0x7f09d5f4,
                                     0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea};
    uint32_t image = rgm_bitsf(x), at = ((image >> 23) & 0xff) - 118;
    uint64_t m = (image & 0x7fffff) | 0x800000;
    uint32_t word = at >> 5 < 4 ? at >> 5 : 4, by = at & 31;
    uint64_t w0 = bits[word], w1 = bits[word + 1], w2 = bits[word + 2], w3 = bits[word + 3];
    uint64_t a = ((w0 << 32 | w1) << by) >> 32, b = ((w1 << 32 | w2) << by) >> 32, c = ((w2 << 32 | w3) << by) >> 32;
    return ((m * a) << 32) + m * b + ((m * c) >> 32);
}

/* where the steps stand before or behind the nearest of 2^bits points of the turn, in radians */
static double
radians(uint64_t steps, uint32_t bits, float x)
{
    int64_t rest = (int64_t)(steps << bits) >> bits;
    double r = (double)rest * 0x1.921fb54442d18p-62;
    return fabsf(x) < INFINITY ? copysign(1.0, (double)x) * r : (double)(x - x);
}

static reducedf
reduce_sinf_slow(float x)
{
    uint64_t steps = turns(x);
    reducedf red = {(float)radians(steps, 1, x), (uint32_t)((steps + 0x4000000000000000u) >> 63) << 31};
    return red;
}

/* cosine is the sine a quarter of a turn further, and even */
static reducedf
reduce_cosf_slow(float x)
{
    uint64_t steps = turns(x) + 0x4000000000000000u;
    reducedf red = {(float)radians(steps, 1, fabsf(x)), (uint32_t)((steps + 0x4000000000000000u) >> 63) << 31};
    return red;
}

static reduced
reduce_tanf_slow(float x)
{
    uint64_t steps = turns(x);
    reduced red = {radians(steps, 2, x), (uint32_t)((steps + 0x2000000000000000u) >> 62) & 1};
    return red;
}

/* x - n pi */
static float
without(float x, float n)
{
    return fmaf(n, -PI_3, fmaf(n, -PI_2, fmaf(n, -PI_1, x)));
}

/* sin r, r from -pi / 2 to pi / 2, or its negative */
static float
sine_of(reducedf red)
{
    float r = rgm_from_bitsf(rgm_bitsf(red.r) ^ red.flip), z = r * r;
    float p = fmaf(fmaf(fmaf(0x1.5d5048p-19f, z, -0x1.9f66e2p-13f), z, 0x1.110e88p-7f), z, -0x1.555548p-3f);
    return copysignf(fmaf(p, z * r, r), r); /* of a zero too */
}

static reducedf
near_sinf(float x)
{
    float q = fmaf(x, INV_PI, SHIFT);
    reducedf red = {without(x, q - SHIFT), rgm_bitsf(q) << 31};
    return red;
}

static reducedf
near_cosf(float x)
{
    float q = fmaf(x, INV_PI, 0.5f) + SHIFT;
    reducedf red = {without(x, (q - SHIFT) - 0.5f), rgm_bitsf(q) << 31};
    return red;
}

float
rgm_sinf(float x)
{
    reducedf red = near_sinf(x);
    if (!(fabsf(x) <= LARGE))
        red = reduce_sinf_slow(x);
    return sine_of(red);
}

float
rgm_cosf(float x)
{
    reducedf red = near_cosf(x);
    if (!(fabsf(x) <= LARGE))
        red = reduce_cosf_slow(x);
    return sine_of(red);
}

/* one question for both */
rgm_pairf
rgm_sincosf(float x)
{
    reducedf s = near_sinf(x), c = near_cosf(x);
    if (!(fabsf(x) <= LARGE)) {
        s = reduce_sinf_slow(x);
        c = reduce_cosf_slow(x);
    }
    rgm_pairf both = {sine_of(s), sine_of(c)};
    return both;
}

float
rgm_tanf(float x)
{
    double q = fma((double)x, 0x1.45f306dc9c883p-1, 0x1.8p52), n = q - 0x1.8p52;
    reduced red = {fma(n, -0x1.1a62633145c07p-54, fma(n, -0x1.921fb54442d18p0, (double)x)), (uint32_t)rgm_bits(q) & 1};
    if (!(fabsf(x) <= LARGE_TAN))
        red = reduce_tanf_slow(x);
    double r = red.r, z = r * r;
    double p = fma(fma(fma(0x1.31b6eb11a238ep-8, z, -0x1.0324447e5bc0ap-11), z, 0x1.721b03d4974eep-7), z, 0x1.59cd486cd9355p-6);
    p = fma(fma(fma(p, z, 0x1.bb22df6fe717ap-5), z, 0x1.110c008dc92eep-3), z, 0x1.5555660dec7dfp-2);
    double t = fma(p, z * r, r);
    return copysignf((float)(red.odd ? -1 / t : t), red.odd ? -(float)r : (float)r);
}
