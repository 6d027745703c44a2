/* lgamma tgamma. SPDX-License-Identifier: Apache-2.0
 *
 * log gamma is a polynomial near its zeros at 1 and 2 (poly/gamma.sollya), from 8 on Stirling's
 * series, between them the logarithm of a product more. Logarithms have two parts. Gamma is a
 * polynomial on [1, 2], times or over a product whose lost bits are kept. What is not positive, and
 * far gammas, go the slow way. */
#include "math/log.h"
#include "math/rgm.h"

#include <stdbool.h>

#define PI     0x1.921fb54442d18p1
#define PI_LOW 0x1.1a62633145c07p-53

typedef struct sum {
    double high, low;
} sum;

/* -- log gamma --------------------------------------------------------------------------------- */
/* log x for x > 0; log_sum in two parts. */
static inline sum
log_in_two(double x)
{
    bool tiny = x < 0x1p-1000;
    uint64_t bits = rgm_bits(tiny ? x * 0x1p100 : x), up = log_exponent(bits);
    double k =
        rgm_from_bits(up >> 52 | 0x4330000000000000) - (tiny ? 0x1p52 + 1123 : 0x1p52 + 1023);
    double f = rgm_from_bits(bits - ((up & ~(uint64_t)MANTISSA) - 0x3ff0000000000000)) - 1.0;
    double s = f / (2.0 + f), h = 0.5 * f * f;
    double r = fma(s, h + log_series(s * s), k * LN2_REST);
    double whole = k * LN2, most = whole + f, rest = (whole - most) + f + (r - h),
           high = most + rest;
    return (sum){high, rest - (high - most)};
}

/* log gamma(1 + t) / t for t from -1/4 to 1/2, or log gamma(2 + t) / t from -1/2 to 1. */
static inline sum
log_gamma_near(bool one, double t)
{
    double p = one ? 0x1.c038b759317c9p-8 : 0x1.06797c1420834p-29;
    p = fma(t, p, one ? -0x1.ab3aa74b43856p-6 : -0x1.de35c687415aap-27);
    p = fma(t, p, one ? 0x1.8078fcd96225cp-5 : 0x1.99a375cef8fe7p-25);
    p = fma(t, p, one ? -0x1.d0a5b8af6e3abp-5 : -0x1.d978de46a0702p-24);
    p = fma(t, p, one ? 0x1.dace2692cae7dp-5 : 0x1.d881eaeb88548p-23);
    p = fma(t, p, one ? -0x1.e2eb5a34038a8p-5 : -0x1.e09571f5de275p-22);
    p = fma(t, p, one ? 0x1.fdb61752b0bc4p-5 : 0x1.fe141752bb753p-21);
    p = fma(t, p, one ? -0x1.10c969cae8be7p-4 : -0x1.118a54051e6f9p-19);
    p = fma(t, p, one ? 0x1.24a3b0790ccdap-4 : 0x1.25afa6c33cabp-18);
    p = fma(t, p, one ? -0x1.3b2444ff3e84ap-4 : -0x1.3cc23f3ae1717p-17);
    p = fma(t, p, one ? 0x1.556acfcc0d76ep-4 : 0x1.580cf672f1f95p-16);
    p = fma(t, p, one ? -0x1.748be69f2b78ep-4 : -0x1.78de098b4d21ap-15);
    p = fma(t, p, one ? 0x1.9a01defd229ffp-4 : 0x1.a127b4604cb75p-14);
    p = fma(t, p, one ? -0x1.c806725dd34acp-4 : -0x1.d3fd4f092a048p-13);
    p = fma(t, p, one ? 0x1.010b36c4fe002p-3 : 0x1.0b36af864b4bap-11);
    p = fma(t, p, one ? -0x1.2703a1d93fffcp-3 : -0x1.38ac5c2612f4fp-10);
    p = fma(t, p, one ? 0x1.5b40cb0fb7c96p-3 : 0x1.7add6eada00bdp-9);
    p = fma(t, p, one ? -0x1.a8b9c17aade26p-3 : -0x1.e404fc219e144p-8);
    p = fma(t, p, one ? 0x1.151322ac7dcb4p-2 : 0x1.51322ac7d864fp-6);
    p = fma(t, p, one ? -0x1.9a4d55beab295p-2 : -0x1.13e001a5575c3p-4);
    double next = one ? 0x1.a51a6625307d2p-1 : 0x1.4a34cc4a60fa6p-2, slope = fma(t, p, next);
    double last = one ? -0x1.2788cfc6fb619p-1 : 0x1.b0ee6072093cep-2, high = fma(t, slope, last);
    double slope_low = fma(t, p, next - slope);
    return (sum){high, fma(t, slope_low, fma(t, slope, last - high))};
}

/* log gamma x for x > 0 */
static inline double
log_gamma(double x)
{
    /* Below 3/4 it is log gamma(1 + x) - log x, from 3 to 8 log gamma(z) + log(product) with z from
     * 2 to 3. */
    bool small = x < 0.75, one = small ? x < 0.5 : x < 1.5, far = x >= 8.0;
    double z = x, product = 1.0;
    for (int i = 0; i < 5; i++) {
        bool above = z >= 3.0;
        z = above ? z - 1.0 : z;
        product = above ? product * z : product;
    }
    double t = small ? (one ? x : x - 1.0) : one ? x - 1.0 : z - 2.0;
    sum l = log_in_two(small || far ? x : product);
    sum p = log_gamma_near(one, t);
    double sign = small ? -1.0 : 1.0;
    double near = fma(sign, l.high, fma(t, p.high, fma(t, p.low, sign * l.low)));

    double inverse = 1.0 / x, s = inverse * inverse;
    double w = fma(s, 0x1.4674eae34b845p-8, -0x1.ee6c8636131dp-10);
    w = fma(s, w, 0x1.b920e1acbe5aap-11);
    w = fma(s, w, -0x1.381332089941p-11);
    w = fma(s, w, 0x1.a01a015dd4bd9p-11);
    w = fma(s, w, -0x1.6c16c16c10996p-9);
    w = fma(s, w, 0x1.5555555555555p-4);
    double u = x - 0.5, tail = fma(inverse, w, 0x1.acfe390c97d69p-2);
    double stirling = fma(u, l.high - 1.0, fma(u, l.low, tail));
    /* x itself: infinity, NaN */
    return far ? (x < INFINITY ? stirling : x) : x < INFINITY ? near : x;
}

/* log gamma x = log(pi / |x sin(pi x)|) - log gamma |x| */
static double
rgm_lgamma_slow(double x)
{
    double size = fabs(x), f = fabs(x - rint(x)), s = f * f;
    double p = fma(s, 0x1.b9142467475d6p-22, 0x1.2d0f7bc61224p-22);
    p = fma(s, p, -0x1.6b5bf0b2a27ccp-16);
    p = fma(s, p, 0x1.e8e14cbdbb196p-12);
    p = fma(s, p, -0x1.e3071ead61151p-8);
    p = fma(s, p, 0x1.5078343a8cc15p-4);
    p = fma(s, p, -0x1.32d2cce59cc43p-1);
    p = fma(s, p, 0x1.466bc677598f4p1);
    p = fma(s, p, -0x1.4abbce625be32p2);
    /* What each rounding loses adds to the logarithm; pi has two parts. */
    double root = fma(s, p, PI), root_low = fma(s, p, PI - root) + PI_LOW;
    double sine = f * root, sine_low = fma(f, root_low, fma(f, root, -sine));
    double under = size * sine, under_low = fma(size, sine_low, fma(size, sine, -under));
    double ratio = PI / under, lost = fma(-ratio, under_low, fma(-ratio, under, PI) + PI_LOW);
    bool tiny = size < 0x1p-60;
    sum l = log_in_two(tiny ? size : ratio);
    double high = tiny ? -l.high : l.high - log_gamma(size) + fma(lost, 1.0 / PI, l.low);
    return size < INFINITY && f > 0.0 ? high : INFINITY;
}

double
rgm_lgamma(double x)
{
    double y = log_gamma(x);
    if (x <= 0.0)
        y = rgm_lgamma_slow(x);
    return y;
}

/* -- gamma ------------------------------------------------------------------------------------- */
/* gamma x for x from 1 to 2 */
static inline sum
gamma_near(double x)
{
    double t = x - 1.5;
    double p = fma(t, -0x1.19ad368226faap-12, 0x1.8f5992aa4cb8ep-12);
    p = fma(t, p, -0x1.a56c46c7a7cf2p-13);
    p = fma(t, p, 0x1.5a75cad820787p-12);
    p = fma(t, p, -0x1.777c813af694cp-11);
    p = fma(t, p, 0x1.1552176bf5e8dp-10);
    p = fma(t, p, -0x1.8c73a27bcddp-10);
    p = fma(t, p, 0x1.29f4caa813dddp-9);
    p = fma(t, p, -0x1.c0d5576457ca3p-9);
    p = fma(t, p, 0x1.50646ad17792p-8);
    p = fma(t, p, -0x1.f7f9b3f3871dap-8);
    p = fma(t, p, 0x1.7990e730eef35p-7);
    p = fma(t, p, -0x1.1a2c34a139df8p-6);
    p = fma(t, p, 0x1.a752cd7cba92bp-6);
    p = fma(t, p, -0x1.374fd592d66afp-5);
    p = fma(t, p, 0x1.e022b72706f5p-5);
    p = fma(t, p, -0x1.3d88cfe5acb22p-4);
    p = fma(t, p, 0x1.283bd37509e3cp-3);
    p = fma(t, p, -0x1.b77ac1ca2cfbfp-4);
    p = fma(t, p, 0x1.a8c4dba620b9ep-2);
    p = fma(t, p, 0x1.08ea88ee56185p-5);
    double high = fma(t, p, 0x1.c5bf891b4ef6bp-1);
    return (sum){high, fma(t, p, 0x1.c5bf891b4ef6bp-1 - high)};
}

static inline sum
times(sum a, double b)
{
    double high = a.high * b;
    return (sum){high, fma(a.low, b, fma(a.high, b, -high))};
}

/* The numbers from x to 2, or from x up to 1, are multiplied one by one. */
static double
rgm_tgamma_slow(double x)
{
    if (fabs(x) < 0x1p-60)
        return 1.0 / x;
    if (x > 172.0 || x != x)
        return x * INFINITY;
    if (x == floor(x) && x < 0.0)
        return (x - x) / (x - x);
    if (x < -190.0)
        return trunc(x * 0.5) * 2.0 == trunc(x) ? -0.0 : 0.0;
    if (x > 0.0 && x >= 1.0) {
        sum a = gamma_near(x - trunc(x) + 1.0);
        for (double z = x - 1.0; z >= 1.0; z -= 1.0)
            a = times(a, z);
        return a.high < INFINITY ? a.high + a.low : INFINITY;
    }
    /* The product may be greater than any number where its inverse is not yet zero. */
    double scale = x < -100.0 ? 0x1p-300 : 1.0, z = x;
    sum under = {scale, 0.0};
    for (; z < 1.0; z += 1.0)
        under = times(under, z);
    sum over = gamma_near(z);
    double y = over.high / under.high;
    double rest = fma(-y, under.high, over.high) + fma(-y, under.low, over.low);
    return (y + rest / under.high) * scale;
}

double
rgm_tgamma(double x)
{
    /* Up to 4, one or two factors. */
    bool two = x >= 2.0, three = x >= 3.0;
    double z = three ? x - 2.0 : two ? x - 1.0 : x, first = two ? x - 1.0 : 1.0;
    sum a = times(times(gamma_near(z), three ? z : 1.0), first);
    double y = a.high + a.low;
    if (!(x >= 1.0 && x < 4.0))
        y = rgm_tgamma_slow(x);
    return y;
}

/* -- float: rounded once more ------------------------------------------------------------------ */
float
rgm_lgammaf(float x)
{
    return (float)rgm_lgamma(x);
}

float
rgm_tgammaf(float x)
{
    return (float)rgm_tgamma(x);
}
