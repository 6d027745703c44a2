/* e^x, 2^x, e^x - 1.  Coefficients: poly/exp.sollya.  SPDX-License-Identifier: Apache-2.0
 *
 * x = n ln(2) + r with a whole n and |r| <= ln(2)/2; the result is 2^n e^r. Adding 1.5 * 2^52
 * rounds to a whole number and leaves it in the low bits of the sum. Sums that begin with 1 are
 * taken in two parts: their rounding is then the last one and nearly the only one. */
#include "math/rgm.h"

/* With this bias, an n from -2046 to 2048 and 2046 more stand in the sum's low twelve bits. */
#define TO_WHOLE (0x1.8p52 + 2046)
#define INV_LN2  0x1.71547652b82fep0
#define LN2      0x1.62e42fefa38p-1 /* 42 bits: n times it is exact */
#define LN2_REST 0x1.ef35793c7673p-45

/* 2^n * p for p near 1, with n + 2046 in the low bits of sum: by two factors, so that what is too
 * great becomes infinite and what is denormal is rounded once. */
static inline double
scale(double p, double sum)
{
    uint64_t bits = rgm_bits(sum), half = bits >> 1;

    return p * rgm_from_bits(half << 52) * rgm_from_bits((bits - half) << 52);
}

double
rgm_exp(double x)
{
    double sum, n, r, r2, r4, u, q;

    x = x > 1000 ? 1000 : x;
    x = x < -1000 ? -1000 : x;
    sum = fma(x, INV_LN2, TO_WHOLE);
    n = sum - TO_WHOLE;
    r = fma(n, -LN2_REST, fma(n, -LN2, x));
    r2 = r * r;
    r4 = r2 * r2;
    q = fma(r4, fma(r, 0x1.af857843e7cd7p-26, 0x1.28afab17a5475p-22),
            fma(r2, fma(r, 0x1.71dddfd543793p-19, 0x1.a019975978956p-16),
                fma(r, 0x1.a01a01bade4fcp-13, 0x1.6c16c18550082p-10)));
    q = fma(r4, q,
            fma(r2, fma(r, 0x1.111111110d644p-7, 0x1.5555555550229p-5),
                fma(r, 0x1.5555555555561p-3, 0x1.000000000000bp-1)));
    u = 1 + r;
    return scale(u + fma(r2, q, r - (u - 1)), sum);
}

double
rgm_exp2(double x)
{
    double sum, r, r2, r4, q;

    x = x > 1500 ? 1500 : x;
    x = x < -1500 ? -1500 : x;
    sum = x + TO_WHOLE;
    r = x - (sum - TO_WHOLE);
    r2 = r * r;
    r4 = r2 * r2;
    q = fma(r4, fma(r, 0x1.eb1699f1856b4p-32, 0x1.e61cc0f952697p-28),
            fma(r2, fma(r, 0x1.b5241268aed89p-24, 0x1.62bfc6c046147p-20),
                fma(r, 0x1.ffcbfce322637p-17, 0x1.4309130f33988p-13)));
    q = fma(r4, q,
            fma(r2, fma(r, 0x1.5d87fe7887464p-10, 0x1.3b2ab6fb9ff47p-7),
                fma(r, 0x1.c6b08d704a189p-5, 0x1.ebfbdff82c5a5p-3)));
    return scale(fma(r, fma(r, q, 0x1.62e42fefa39efp-1), 1), sum);
}

double
rgm_expm1(double x)
{
    double sum, n, t, r, rest, r2, r4, q, v, power, u;

    t = x > 710 ? 710 : x;
    t = t < -50 ? -50 : t;
    sum = fma(t, INV_LN2, TO_WHOLE);
    n = sum - TO_WHOLE;
    t = fma(n, -LN2, t);
    r = fma(n, -LN2_REST, t);
    rest = fma(n, -LN2_REST, t - r);
    r2 = r * r;
    r4 = r2 * r2;
    q = fma(r4, fma(r, 0x1.1f7ca2d6ebd55p-29, 0x1.af3f0f353b53cp-26),
            fma(r2, fma(r, 0x1.27e4d64a59394p-22, 0x1.71de0a39316c7p-19),
                fma(r, 0x1.a01a01a8a0aa8p-16, 0x1.a01a01a9031c8p-13)));
    q = fma(r4, q,
            fma(r2, fma(r, 0x1.6c16c16c15f3ep-10, 0x1.111111111070ap-7),
                fma(r, 0x1.5555555555556p-5, 0x1.5555555555556p-3)));
    q = r2 * fma(r, q, 0.5);
    v = r + q;
    rest = r - v + q + fma(0.5, fma(r, r, -r2), rest);
    /* 2^n (v + rest) + 2^n - 1; by half of 2^n, which cannot be infinite */
    power = rgm_from_bits((rgm_bits(sum) - 1024) << 52);
    t = power - 0.5;
    v = power * v;
    u = t + v;
    u = u + (fma(power, rest, power - t - 0.5) + (v - (u - t)));
    return fabs(x) < 0x1p-54 ? x : 2 * u;
}
