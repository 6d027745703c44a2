/* asin acos atan atan2. SPDX-License-Identifier: Apache-2.0
 *
 * Each is base -+ (t + rest) with t in [0, 1] and base one of 0, pi/2, pi in two parts: the
 * polynomials (poly/arc.sollya) give the rest, in which stands also by how much t is rounded. */
#include "math/rgm.h"

#include <stdbool.h>

#define HALF_PI     0x1.921fb54442d18p0
#define HALF_PI_LOW 0x1.1a62633145c07p-54

/* quarters pi/2 + t + rest; |t| <= pi/2. */
static inline double
from_base(double quarters, double t, double rest)
{
    double base = quarters * HALF_PI, sum = base + t;
    return sum + (rest + fma(quarters, HALF_PI_LOW, t - (sum - base)));
}

/* -- asin and acos ----------------------------------------------------------------------------- */
/* asin x = x + x s Q(s), s = x^2 <= 1/4; two sums side by side. */
static inline double
arc_sine_rest(double x, double s)
{
    double s2 = s * s;
    double even = fma(s2, 0x1.dc181d63e5323p-6, 0x1.220541f36f9ap-6);
    double odd = fma(s2, -0x1.f58c57c0bb66bp-7, 0x1.5e2915e074c7dp-8);
    even = fma(s2, even, 0x1.532a9148f185fp-7);
    odd = fma(s2, odd, 0x1.78010220135eap-7);
    even = fma(s2, even, 0x1.c9d30ac3ce59bp-7);
    odd = fma(s2, odd, 0x1.1c4d112ced722p-6);
    even = fma(s2, even, 0x1.6e8bb37521acap-6);
    odd = fma(s2, odd, 0x1.f1c71c11deeap-6);
    even = fma(s2, even, 0x1.6db6db6e48603p-5);
    odd = fma(s2, odd, 0x1.3333333332da2p-4);
    even = fma(s2, even, 0x1.5555555555556p-3);
    return x * s * fma(s, odd, even);
}

typedef struct arc {
    double t, rest;
    bool half;
} arc;

/* The arc of |x| <= 1/2, and of larger ones that of sqrt((1 - |x|) / 2), half of what is missing to
 * pi/2. What the root lost is its square's error over twice the root; three bits of that suffice,
 * which a difference of exponents gives. */
static inline arc
arc_sine(double size)
{
    bool half = size > 0.5;
    double s = half ? fma(size, -0.5, 0.5) : size * size;
    double root = sqrt(s), t = half ? root : size;
    double inverse = rgm_from_bits(0x7fce6c0000000000 - rgm_bits(root));
    double rest = arc_sine_rest(t, s);
    return (arc){t, half ? fma(fma(-root, root, s), inverse, rest) : rest, half};
}

double
rgm_asin(double x)
{
    arc a = arc_sine(fabs(x));
    double scale = a.half ? -2.0 : 1.0;
    return copysign(from_base(a.half ? 1.0 : 0.0, scale * a.t, scale * a.rest), x);
}

double
rgm_acos(double x)
{
    arc a = arc_sine(fabs(x));
    bool negative = x < 0.0;
    double scale = a.half ? 2.0 : 1.0, quarters = a.half ? (negative ? 2.0 : 0.0) : 1.0;
    scale = negative == a.half ? -scale : scale;
    return from_base(quarters, scale * a.t, scale * a.rest);
}

/* -- atan and atan2 ---------------------------------------------------------------------------- */
/* atan(t + low) - t with t in [0, 1] and low its rounding. The signs of the polynomial's terms
 * alternate: its larger ones are summed one by one, where two sums side by side would cancel. */
static inline double
arc_tangent_rest(double t, double low)
{
    double s = t * t, s2 = s * s;
    double even = fma(s2, -0x1.959e99e5d052fp-17, -0x1.8ff38a61d42edp-11);
    double p = fma(s2, 0x1.243ad36952315p-13, 0x1.5bb4d7ad14518p-9);
    even = fma(s2, even, -0x1.b28c29c65f0d7p-8);
    p = fma(s2, p, 0x1.a4627f0482f8dp-7);
    even = fma(s2, even, -0x1.4cc40a52ec92fp-6);
    p = fma(s2, p, 0x1.c48a48b49a7f5p-6);
    even = fma(s2, even, -0x1.14b8a75005098p-5);
    p = fma(s2, p, 0x1.3d58552227922p-5);
    even = fma(s2, even, -0x1.60f31796f9d96p-5);
    p = fma(s2, p, 0x1.854bc4fc0aa7ap-5);
    p = fma(s, even, p);
    p = fma(s, p, -0x1.af00c87163751p-5);
    p = fma(s, p, 0x1.e1dc016818859p-5);
    p = fma(s, p, -0x1.1110be031dcc9p-4);
    p = fma(s, p, 0x1.3b13aaa61eb25p-4);
    p = fma(s, p, -0x1.745d16eac7943p-4);
    p = fma(s, p, 0x1.c71c71c400394p-4);
    p = fma(s, p, -0x1.249249248aa63p-3);
    p = fma(s, p, 0x1.9999999999889p-3);
    p = fma(s, p, -0x1.5555555555555p-2);
    return fma(t * s, p, fma(low * -0.5, s, low));
}

double
rgm_atan(double x)
{
    double size = fabs(x), inverse = 1.0 / size;
    bool steep = size > 1.0;
    double t = steep ? inverse : size;
    /* An infinite size has no rounding to carry. */
    double low = steep && size < 0x1p60 ? fma(-t, size, 1.0) * t : 0.0;
    double rest = arc_tangent_rest(t, low);
    return copysign(from_base(steep ? 1.0 : 0.0, steep ? -t : t, steep ? -rest : rest), x);
}

/* The angle of (|x|, |y|), in the half plane of x. The quotient is not the rounded one, but low
 * makes up for it. */
static inline double
angle(double small, double large, bool steep, bool backward)
{
    double inverse = 1.0 / large, t = small * inverse, low = fma(-t, large, small) * inverse;
    double rest = arc_tangent_rest(t, low);
    bool from_above = steep != backward;
    return from_base(steep      ? 1.0
                     : backward ? 2.0
                                : 0.0,
                     from_above ? -t : t, from_above ? -rest : rest);
}

/* Coordinates whose larger one is not far from the ends of the range, or zero, infinite, NaN. */
static double
rgm_atan2_slow(double y, double x)
{
    double across = fabs(x), up = fabs(y);
    bool steep = up > across, backward = rgm_bits(x) >> 63;
    double large = steep ? up : across, small = steep ? across : up;
    if (large == INFINITY) {
        large = 1.0;
        small = small == INFINITY ? 1.0 : small * 0.0;
    }
    double scale = large > 1.0 ? 0x1p-200 : 0x1p200;
    large = large == 0.0 ? 1.0 : large * scale;
    double result = copysign(angle(small * scale, large, steep, backward), y);
    return x == x && y == y ? result : x + y;
}

double
rgm_atan2(double y, double x)
{
    double across = fabs(x), up = fabs(y);
    bool steep = up > across, backward = rgm_bits(x) >> 63;
    double large = steep ? up : across, small = steep ? across : up;
    double result = copysign(angle(small, large, steep, backward), y);
    if (!(large >= 0x1p-960 && large <= 0x1p1000 && small <= large))
        result = rgm_atan2_slow(y, x);
    return result;
}
