/* logf, log2f, log10f, log1pf, asinhf, acoshf, atanhf. SPDX-License-Identifier: Apache-2.0
 *
 * x = 2^n (1 + f), 1 + f from sqrt(1/2) to sqrt(2): log x = n ln 2 + f + f^2 p(f). Zeros, negative numbers, those below the
 * normal range and what is no number go the slow way. */
#include "math/rgm.h"

#define LN2_HI  0x1.62e43p-1f
#define LN2_LO  -0x1.05c61p-29f
#define ROOT    0x3f3504f3u /* sqrt(1/2) */
#define LEAST   0x00800000u /* normal */
#define NORMALS 0x7f000000u /* so many are positive and normal */

typedef struct partsf {
    float n, f;
} partsf;

static partsf
parts_of(float x)
{
    uint32_t image = rgm_bitsf(x), above = image - ROOT;
    partsf p = {(float)((int32_t)above >> 23), rgm_from_bitsf(image - (above & 0xff800000u)) - 1};
    return p;
}

static int
is_plain(float x)
{
    return rgm_bitsf(x) - LEAST < NORMALS;
}

/* of what is not plain, if it is a number that has a logarithm: it is below the normal range then */
static partsf
lifted_parts_of(float x)
{
    partsf p = parts_of(x * 0x1p25f);
    p.n -= 25;
    return p;
}

/* the logarithm of what is not plain, given that by its parts */
static float
edge(float x, float by_parts)
{
    float r = x < INFINITY ? by_parts : x;
    return x > 0 ? r : x == 0 ? -INFINITY : x != x ? x : NAN;
}

static float
log_of(partsf x)
{
    float f = x.f, p = fmaf(fmaf(fmaf(-0x1.496a5cp-4f, f, 0x1.08a6a4p-3f), f, -0x1.0bf544p-3f), f, 0x1.22446ap-3f);
    p = fmaf(fmaf(fmaf(p, f, -0x1.5487e2p-3f), f, 0x1.99a7a8p-3f), f, -0x1.000222p-2f);
    p = fmaf(fmaf(p, f, 0x1.555548p-2f), f, -0x1.fffffep-2f);
    return fmaf(x.n, LN2_HI, fmaf(x.n, LN2_LO, fmaf(p, f * f, f)));
}

static float
logf_slow(float x)
{
    return edge(x, log_of(lifted_parts_of(x)));
}

float
rgm_logf(float x)
{
    float r = log_of(parts_of(x));
    if (!is_plain(x))
        r = logf_slow(x);
    return r;
}

static float
log2_of(partsf x)
{
    float f = x.f, p = fmaf(fmaf(fmaf(-0x1.dea8b6p-4f, f, 0x1.7d28c6p-3f), f, -0x1.819062p-3f), f, 0x1.a2d478p-3f);
    p = fmaf(fmaf(fmaf(p, f, -0x1.eb6aaap-3f), f, 0x1.2780dp-2f), f, -0x1.7156c8p-2f);
    p = fmaf(fmaf(p, f, 0x1.ec708ap-2f), f, -0x1.715476p-1f);
    return x.n + fmaf(f, 0x1.715476p0f, fmaf(f, 0x1.4ae0cp-26f, p * (f * f)));
}

static float
log2f_slow(float x)
{
    return edge(x, log2_of(lifted_parts_of(x)));
}

float
rgm_log2f(float x)
{
    float r = log2_of(parts_of(x));
    if (!is_plain(x))
        r = log2f_slow(x);
    return r;
}

static float
log10_of(partsf x)
{
    float f = x.f, p = fmaf(fmaf(fmaf(-0x1.1f2e4ep-5f, f, 0x1.cbb712p-5f), f, -0x1.d10bbp-5f), f, 0x1.f83b34p-5f);
    p = fmaf(fmaf(fmaf(p, f, -0x1.27ced6p-4f), f, 0x1.63d298p-4f), f, -0x1.bcbb1cp-4f);
    p = fmaf(fmaf(p, f, 0x1.287a6ap-3f), f, -0x1.bcb7bp-3f);
    float small = fmaf(f, 0x1.bcb7b2p-2f, fmaf(f, -0x1.5b235ep-27f, p * (f * f)));
    return fmaf(x.n, 0x1.3442p-2f, fmaf(x.n, -0x1.95ec1p-19f, small));
}

static float
log10f_slow(float x)
{
    return edge(x, log10_of(lifted_parts_of(x)));
}

float
rgm_log10f(float x)
{
    float r = log10_of(parts_of(x));
    if (!is_plain(x))
        r = log10f_slow(x);
    return r;
}

/* x above -1 and below 2^126: f is x, scaled by the exponent of 1 + x, with a single rounding */
static float
log1p_of(float x)
{
    uint32_t above = rgm_bitsf(1 + x) - ROOT;
    float by = rgm_from_bitsf(0x3f800000u - (above & 0xff800000u));
    partsf p = {(float)((int32_t)above >> 23), fmaf(x, by, by - 1)};
    return log_of(p);
}

static float
log1pf_slow(float x)
{
    float r = x < INFINITY ? log_of(parts_of(x)) : x;
    return x > -1 ? r : x == -1 ? -INFINITY : x != x ? x : NAN;
}

float
rgm_log1pf(float x)
{
    float r = copysignf(log1p_of(x), x);
    if (!(x > -1 && x < 0x1p126f))
        r = log1pf_slow(x);
    return r;
}

/* log(1 + t), or, where a is large, log 2a, which it is then; a is not negative */
static float
log1p_or_double(double t, float a)
{
    int large = a > 0x1p60f;
    float r = log1p_of(large ? a * 0x1p-32f : (float)t);
    r += large ? 0x1.6dfb52p4f : 0; /* 33 ln 2 */
    return a < INFINITY ? r : a;
}

float
rgm_asinhf(float x)
{
    double a = fabsf(x);
    return copysignf(log1p_or_double(a + a * a / (1 + sqrt(1 + a * a)), (float)a), x);
}

float
rgm_acoshf(float x)
{
    double a = (double)x - 1;
    float r = log1p_or_double(a + sqrt(a * (a + 2)), x);
    return x < 1 ? NAN : r;
}

float
rgm_atanhf(float x)
{
    double a = fabsf(x);
    float r = 0.5f * log1p_of((float)(2 * a / (1 - a)));
    r = a < 1 ? r : a == 1 ? INFINITY : x != x ? x : NAN;
    return copysignf(r, x);
}
