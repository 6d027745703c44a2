/* erf erfc. SPDX-License-Identifier: Apache-2.0
 *
 * Near zero a polynomial (poly/erf.sollya); far away erfc x = exp(-x^2) S(q) / (x + 2) with q = (x
 * - 2) / (x + 2), where x^2 has two parts, and what the factors lose in rounding is carried into
 * the last sum. */
#include "math/rgm.h"

/* Added, leaves the nearest whole number n and in the low bits n + 2046. */
#define TO_WHOLE (0x1.8p52 + 2046)

/* erf x / x - 1 for |x| < 1, s = x^2 */
static inline double
erf_rest(double s)
{
    double p = fma(s, -0x1.d734e79f68ec6p-37, 0x1.3d75c87cd30c3p-33);
    p = fma(s, p, -0x1.79af00b20cc68p-30);
    p = fma(s, p, 0x1.02706b0aaa5f4p-26);
    p = fma(s, p, -0x1.5ff9f098b371cp-23);
    p = fma(s, p, 0x1.b9f240c453327p-20);
    p = fma(s, p, -0x1.f4d3062ae3c3ap-17);
    p = fma(s, p, 0x1.f9a32d93d6d55p-14);
    p = fma(s, p, -0x1.c02db42b1b2b1p-11);
    p = fma(s, p, 0x1.565bcd0f16275p-8);
    p = fma(s, p, -0x1.b82ce3128bb84p-6);
    p = fma(s, p, 0x1.ce2f21a042c46p-4);
    p = fma(s, p, -0x1.812746b0379e7p-2);
    return fma(s, p, 0x1.06eba8214db69p-3);
}

typedef struct sum {
    double high, low;
} sum;

/* (x + 2) exp(x^2) erfc x */
static inline sum
tail_series(double q, double q_low)
{
    double q2 = q * q;
    double even = fma(q2, -0x1.448a8a747987ep-24, 0x1.6acae8c2c4ea3p-23);
    double odd = fma(q2, 0x1.af181cb6a955bp-23, -0x1.14e83a93f857dp-21);
    even = fma(q2, even, -0x1.601843c8c1ce9p-21);
    odd = fma(q2, odd, 0x1.58ebf2b42fb38p-23);
    even = fma(q2, even, 0x1.0df34be99927ep-19);
    odd = fma(q2, odd, 0x1.df65d972308d4p-19);
    even = fma(q2, even, -0x1.2c1819e92cbf3p-20);
    odd = fma(q2, odd, -0x1.0e212accfb41fp-16);
    even = fma(q2, even, -0x1.6c1064d8cbfdep-16);
    odd = fma(q2, odd, 0x1.1e6eae51a720bp-15);
    even = fma(q2, even, 0x1.2efa8b02ac676p-13);
    odd = fma(q2, odd, 0x1.2054eee12d92ap-15);
    even = fma(q2, even, -0x1.5ba43ad8ccfe3p-11);
    odd = fma(q2, odd, -0x1.b6fbfa8d94c9bp-11);
    even = fma(q2, even, 0x1.9517bb78d81a7p-9);
    odd = fma(q2, odd, 0x1.a89eaff9994e9p-8);
    even = fma(q2, even, -0x1.606e41552e3e5p-6);
    odd = fma(q2, odd, -0x1.2a88e6107e01ep-5);
    even = fma(q2, even, 0x1.1e2deea6b1165p-2);
    double bend = fma(q2, odd, q * even), slope = -0x1.5fd386754eff8p-1 + bend;
    double slope_low = bend - (slope + 0x1.5fd386754eff8p-1);
    double high = fma(q, slope, 0x1.058671b52c776p0);
    /* The slope of the chord is near enough to the curve's. */
    double low = fma(slope, q_low, fma(q, slope_low, fma(q, slope, 0x1.058671b52c776p0 - high)));
    return (sum){high, low};
}

/* erfc x for x >= 1/2. With u = x + 2, 1/u = t (1 + lost); exp(-x^2) = 2^n (1 + r + p). */
static inline double
erfc_far(double x)
{
    x = x > 28.0 ? 28.0 : x;
    double square = x * x, square_low = fma(x, x, -square);
    double whole = fma(square, -0x1.71547652b82fep0, TO_WHOLE), n = whole - TO_WHOLE;
    double first = fma(n, -0x1.62e42fefa38p-1, -square);
    double second = fma(n, -0x1.ef35793c7673p-45, -square_low);
    double r = first + second, r_low = second - (r - first);
    double e = fma(r, 0x1.af61c91546b84p-26, 0x1.2891d915c979p-22);
    e = fma(r, e, 0x1.71ddf7832088fp-19);
    e = fma(r, e, 0x1.a019b8b2468dep-16);
    e = fma(r, e, 0x1.a01a01afb874ap-13);
    e = fma(r, e, 0x1.6c16c178acbaap-10);
    e = fma(r, e, 0x1.111111110f8d9p-7);
    e = fma(r, e, 0x1.5555555553cd6p-5);
    e = fma(r, e, 0x1.5555555555558p-3);
    e = fma(r, e, 0x1.0000000000001p-1);
    double p = fma(r * r, e, r_low);

    double u = x + 2.0, of_x = u - 2.0, u_low = (x - of_x) + (2.0 - (u - of_x));
    double t = 1.0 / u, lost = fma(-t, u_low, fma(-t, u, 1.0));
    double q = fma(-4.0, t, 1.0), q_low = fma(-4.0 * t, lost, fma(-4.0, t, 1.0 - q));
    sum s = tail_series(q, q_low);
    double high = t * s.high, low = fma(t, s.high, -high) + fma(t, s.low, high * lost);
    double y = high + fma(high, r, fma(high, p, fma(low, r, low)));
    /* 2^n in two factors: the second rounds once what is denormal. */
    uint64_t bits = rgm_bits(whole), half = bits >> 1;
    return y * rgm_from_bits(half << 52) * rgm_from_bits((bits - half) << 52);
}

double
rgm_erf(double x)
{
    double size = fabs(x), near = fma(size, erf_rest(x * x), size);
    return copysign(size < 1.0 ? near : 1.0 - erfc_far(size), x);
}

double
rgm_erfc(double x)
{
    double far = erfc_far(fabs(x)), rest = erf_rest(x * x), most = 1.0 - x;
    double near = most + fma(-x, rest, (1.0 - most) - x);
    return x > -1.0 && x < 0.5 ? near : x < 0.0 ? 2.0 - far : far;
}
