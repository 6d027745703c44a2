/* erff erfcf. SPDX-License-Identifier: Apache-2.0
 *
 * As in erf.c, in float. */
#include "math/rgm.h"

/* Added, leaves the nearest whole number n and in the low bits n + 254. */
#define TO_WHOLE (0x1.8p23f + 254.0f)

/* erf x / x - 1 for |x| < 1, s = x^2 */
static inline float
erf_restf(float s)
{
    float p = fmaf(s, -0x1.d8d37cp-18f, 0x1.b514ep-14f);
    p = fmaf(s, p, -0x1.b7559p-11f);
    p = fmaf(s, p, 0x1.55c30cp-8f);
    p = fmaf(s, p, -0x1.b82278p-6f);
    p = fmaf(s, p, 0x1.ce2ed2p-4f);
    p = fmaf(s, p, -0x1.812746p-2f);
    return fmaf(s, p, 0x1.06eba8p-3f);
}

typedef struct sumf {
    float high, low;
} sumf;

/* (x + 2) exp(x^2) erfc x; the constants in two parts */
static inline sumf
tail_seriesf(float q, float q_low)
{
    float p = fmaf(q, 0x1.f65ccap-14f, 0x1.f5161cp-15f);
    p = fmaf(q, p, -0x1.55f1f4p-11f);
    p = fmaf(q, p, -0x1.bb5604p-11f);
    p = fmaf(q, p, 0x1.94ca04p-9f);
    p = fmaf(q, p, 0x1.a8b3b2p-8f);
    p = fmaf(q, p, -0x1.606d42p-6f);
    p = fmaf(q, p, -0x1.2a891p-5f);
    p = fmaf(q, p, 0x1.1e2deep-2f);
    float bend = q * p, slope = -0x1.5fd386p-1f + bend;
    float slope_low = bend - (slope + 0x1.5fd386p-1f) - 0x1.a6d44p-27f;
    float high = fmaf(q, slope, 0x1.058672p0f);
    /* The slope of the chord is near enough to the curve's. */
    float low = fmaf(slope, q_low,
                     fmaf(q, slope_low, fmaf(q, slope, 0x1.058672p0f - high) - 0x1.2a08a8p-26f));
    return (sumf){high, low};
}

/* erfc x for x >= 1/2. With u = x + 2, 1/u = t (1 + lost); exp(-x^2) = 2^n (1 + r + p). */
static inline float
erfc_farf(float x)
{
    x = x > 10.5f ? 10.5f : x;
    float square = x * x, square_low = fmaf(x, x, -square);
    float whole = fmaf(square, -0x1.715476p0f, TO_WHOLE), n = whole - TO_WHOLE;
    float first = fmaf(n, -0x1.62e4p-1f, -square);
    float second = fmaf(n, -0x1.7f7d1cp-20f, -square_low);
    float r = first + second, r_low = second - (r - first);
    float e = fmaf(r, 0x1.6d4bfep-10f, 0x1.120c08p-7f);
    e = fmaf(r, e, 0x1.5554eap-5f);
    e = fmaf(r, e, 0x1.5554dcp-3f);
    e = fmaf(r, e, 0.5f);
    float p = fmaf(r * r, e, r_low);

    float u = x + 2.0f, of_x = u - 2.0f, u_low = (x - of_x) + (2.0f - (u - of_x));
    float t = 1.0f / u, lost = fmaf(-t, u_low, fmaf(-t, u, 1.0f));
    float q = fmaf(-4.0f, t, 1.0f), q_low = fmaf(-4.0f * t, lost, fmaf(-4.0f, t, 1.0f - q));
    sumf s = tail_seriesf(q, q_low);
    float high = t * s.high, low = fmaf(t, s.high, -high) + fmaf(t, s.low, high * lost);
    float y = high + fmaf(high, r, fmaf(high, p, fmaf(low, r, low)));
    /* 2^n in two factors: the second rounds once what is denormal. */
    uint32_t bits = rgm_bitsf(whole), half = bits >> 1;
    return y * rgm_from_bitsf(half << 23) * rgm_from_bitsf((bits - half) << 23);
}

float
rgm_erff(float x)
{
    float size = fabsf(x), near = fmaf(size, erf_restf(x * x), size);
    return copysignf(size < 1.0f ? near : 1.0f - erfc_farf(size), x);
}

float
rgm_erfcf(float x)
{
    float far = erfc_farf(fabsf(x)), rest = erf_restf(x * x), most = 1.0f - x;
    float near = most + fmaf(-x, rest, (1.0f - most) - x);
    return x > -1.0f && x < 0.5f ? near : x < 0.0f ? 2.0f - far : far;
}
