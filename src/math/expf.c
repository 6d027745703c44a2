/* expf, exp2f, expm1f, sinhf, coshf, tanhf. SPDX-License-Identifier: Apache-2.0
 *
 * e^x = 2^n e^r, n the integer nearest to x / ln 2: r = x - n ln 2 in two steps, e^r by a polynomial. n comes out of the low
 * bits of a sum with 1.5 * 2^23, to which the exponent's bias is added. Arguments beyond the range are brought to its ends:
 * what is computed there overflows, or underflows, as it has to. No branches. */
#include "math/rgm.h"

#define SHIFT  0x1.8p23f
#define LOG2_E 0x1.715476p0f
#define LN2_HI 0x1.62e4p-1f
#define LN2_LO 0x1.7f7d1cp-20f

/* a NaN stays */
static float
between(float least, float x, float most)
{
    x = x < least ? least : x;
    return x > most ? most : x;
}

static float
rest_of(float x, float n)
{
    return fmaf(n, -LN2_LO, fmaf(n, -LN2_HI, x));
}

/* p 2^n in two steps, so that n may be any from -252 to 254 and the result is rounded once; the low bits of q are n + 254 */
static float
scaled(float p, float q)
{
    uint32_t both = rgm_bitsf(q), half = both >> 1;
    return p * rgm_from_bitsf(half << 23) * rgm_from_bitsf((both - half) << 23);
}

/* e^r */
static float
exp_near(float r)
{
    float p = fmaf(fmaf(fmaf(fmaf(0x1.6d5156p-10f, r, 0x1.120e6ap-7f), r, 0x1.5554e6p-5f), r, 0x1.5554dap-3f), r, 0.5f);
    return fmaf(fmaf(p, r, 1.0f), r, 1.0f);
}

float
rgm_expf(float x)
{
    x = between(-104, x, 89);
    float q = fmaf(x, LOG2_E, SHIFT + 254);
    return scaled(exp_near(rest_of(x, q - (SHIFT + 254))), q);
}

float
rgm_exp2f(float x)
{
    x = between(-151, x, 129);
    float q = x + (SHIFT + 254), r = x - (q - (SHIFT + 254));
    float p = fmaf(fmaf(fmaf(0x1.4427a4p-13f, r, 0x1.5ef7cp-10f), r, 0x1.3b2a46p-7f), r, 0x1.c6af9ap-5f);
    p = fmaf(fmaf(p, r, 0x1.ebfbep-3f), r, 0x1.62e43p-1f);
    return scaled(fmaf(p, r, 1.0f), q);
}

/* e^r - 1 */
static float
expm1_near(float r)
{
    float p = fmaf(fmaf(fmaf(0x1.a2d36ap-13f, r, 0x1.6d3152p-10f), r, 0x1.110fc4p-7f), r, 0x1.5555p-5f);
    p = fmaf(fmaf(p, r, 0x1.555556p-3f), r, 0.5f);
    return fmaf(p, r * r, r);
}

/* 2^n (e^r - 1) + (2^n - 1), at half of its size, so that 2^n does not overflow first */
float
rgm_expm1f(float x)
{
    float within = between(-20, x, 89);
    float q = fmaf(within, LOG2_E, SHIFT + 126), s = rgm_from_bitsf(rgm_bitsf(q) << 23);
    float r = 2 * fmaf(expm1_near(rest_of(within, q - (SHIFT + 126))), s, s - 0.5f);
    return fabsf(x) < 0x1p-26f ? x : r;
}

/* With h = (e^2x - 1) / 2: h / (1 + h), which is also h - h tanh x: that takes out most of the quotient's error where h is
 * small. r is half of what it is elsewhere; one step is good enough for it. From 9.25 on tanh is 1. */
float
rgm_tanhf(float x)
{
    float a = fabsf(x);
    a = a > 9.25f ? 9.25f : a;
    float q = fmaf(a, 2 * LOG2_E, SHIFT + 127), s = rgm_from_bitsf(rgm_bitsf(q) << 23);
    float r = fmaf(q - (SHIFT + 127), -0x1.62e43p-2f, a);
    float p = fmaf(fmaf(fmaf(0x1.6d544cp-5f, r, 0x1.1210dp-3f), r, 0x1.5554e4p-2f), r, 0x1.5554d8p-1f);
    float near = fmaf(fmaf(p, r, 1.0f), r * r, r);
    float h = fmaf(near, s, fmaf(s, 0.5f, -0.5f)), t = h / (1 + h);
    t = a < 0.26f ? fmaf(-h, t, h) : t;
    return copysignf(t, x);
}

/* a quarter of e^a, a not negative: as large as floats are where cosh is */
static float
quarter_exp(float a)
{
    a = a > 90 ? 90 : a;
    float q = fmaf(a, LOG2_E, SHIFT + 125);
    return exp_near(rest_of(a, q - (SHIFT + 125))) * rgm_from_bitsf(rgm_bitsf(q) << 23);
}

float
rgm_coshf(float x)
{
    float e = quarter_exp(fabsf(x));
    return fmaf(2, e, 0.125f / e);
}

float
rgm_sinhf(float x)
{
    float a = fabsf(x), e = quarter_exp(a), z = a * a;
    float p = fmaf(fmaf(fmaf(0x1.76771ep-19f, z, 0x1.a01c22p-13f), z, 0x1.1110eap-7f), z, 0x1.555556p-3f);
    float near = fmaf(p, z * a, a), far = fmaf(2, e, -0.125f / e);
    return copysignf(a < 1 ? near : far, x);
}
