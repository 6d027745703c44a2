/* powf. SPDX-License-Identifier: Apache-2.0
 *
 * x^y = 2^(y log2 x). The exponent needs seven bits more than a float has, so the logarithm is computed in double, by a
 * polynomial; its power of two then in float. Negative bases, those below the normal range, and results near the ends of
 * the range go the slow way. */
#include "math/rgm.h"

#define SHIFT   0x1.8p52
#define ROOT    0x3f3504f3u /* sqrt(1/2) */
#define LEAST   0x00800000u /* normal */
#define NORMALS 0x7f000000u /* so many are positive and normal */

/* of a positive normal number */
static double
log2_of(float x)
{
    uint32_t image = rgm_bitsf(x), above = image - ROOT;
    double n = (double)((int32_t)above >> 23), f = (double)(rgm_from_bitsf(image - (above & 0xff800000u)) - 1);
    double p = fma(0x1.3ce9165f21a62p-4, f, -0x1.24892836df5adp-3);
    p = fma(fma(p, f, 0x1.2871e72aeb559p-3), f, -0x1.252f2c3d76b1dp-3);
    p = fma(fma(p, f, 0x1.4529171b22b1ep-3), f, -0x1.714171cc4f5c7p-3);
    p = fma(fma(p, f, 0x1.a63f44928b518p-3), f, -0x1.ec72b58e19ccfp-3);
    p = fma(fma(p, f, 0x1.277651fb767e9p-2), f, -0x1.71547097b015ap-2);
    p = fma(fma(p, f, 0x1.ec709ebb961bap-2), f, -0x1.715476565d29dp-1);
    p = fma(p, f, 0x1.71547652a1e96p0);
    return fma(p, f, n);
}

/* 2^r, r from -1/2 to 1/2 */
static float
exp2_near(float r)
{
    float p = fmaf(fmaf(fmaf(0x1.4427a4p-13f, r, 0x1.5ef7cp-10f), r, 0x1.3b2a46p-7f), r, 0x1.c6af9ap-5f);
    p = fmaf(fmaf(p, r, 0x1.ebfbep-3f), r, 0x1.62e43p-1f);
    return fmaf(p, r, 1.0f);
}

static float
powf_slow(float x, float y)
{
    float a = fabsf(x);
    int tiny = a < 0x1p-126f;
    double l = log2_of(tiny ? a * 0x1p25f : a) - (tiny ? 25 : 0);
    l = a == 0 ? -INFINITY : a < INFINITY ? l : INFINITY;
    double t = l * y;
    t = t < -200 ? -200 : t;
    t = t > 200 ? 200 : t;
    double q = t + (SHIFT + 254);
    uint32_t both = (uint32_t)rgm_bits(q), half = both >> 1;
    float r = exp2_near((float)(t - (q - (SHIFT + 254))));
    r = r * rgm_from_bitsf(half << 23) * rgm_from_bitsf((both - half) << 23);
    /* half of an odd number is none; from 2^24 on all are even */
    int whole = rintf(y) == y, odd = whole && rintf(0.5f * y) != 0.5f * y;
    r = odd ? copysignf(r, x) : r;
    r = x < 0 && !whole && a < INFINITY ? NAN : r;
    r = x != x || y != y ? x + y : r;
    /* anything to the 0 is 1, and 1 to anything; -1 to an infinity too */
    return y == 0 || x == 1 || (x == -1 && fabsf(y) == INFINITY) ? 1 : r;
}

float
rgm_powf(float x, float y)
{
    double t = log2_of(x) * y, q = t + SHIFT;
    uint32_t n = (uint32_t)rgm_bits(q) << 23;
    float r = rgm_from_bitsf(rgm_bitsf(exp2_near((float)(t - (q - SHIFT)))) + n);
    if (!(rgm_bitsf(x) - LEAST < NORMALS && fabs(t) < 125))
        r = powf_slow(x, y);
    return r;
}
