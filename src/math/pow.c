/* x^y.  Coefficients: poly/pow.sollya.  SPDX-License-Identifier: Apache-2.0
 *
 * 2^(y log2 |x|), with the logarithm and the product in two parts: the logarithm is right to about
 * 2^-65 of itself, for an exponent of 1000 takes ten bits of that. */
#include <stdbool.h>

#include "math/log.h"

#define A      0x1.71547652b82fep1 /* 2/ln(2) */
#define A_REST 0x1.777d0ffda0d24p-55
#define B      0x1.ec709dc3a03fdp-1 /* 2/(3 ln(2)) */
#define B_REST 0x1.d27f05548af0cp-55

/* log2(x) for x > 0. With s = f / (2 + f) and z = s^2 it is k + s (a + z (b + z P(z))), of which s,
 * a, b and both sums are in two parts. */
static inline struct log_parts
log2_parts(double x)
{
    struct log_split m = log_split(x);
    double under = 2 + m.f, under_rest = m.f - (under - 2), reciprocal = 1 / under;
    double s = m.f * reciprocal;
    double s_rest = fma(-s, under_rest, fma(-s, under, m.f)) * reciprocal;
    double z = s * s, z_rest = fma(s + s, s_rest, fma(s, s, -z)), z2 = z * z;
    double q, u, u_rest, w, w_rest;
    struct log_parts r;

    q = fma(z2, fma(z, 0x1.603963d2c91a8p-3, 0x1.593b57f70a64ap-3),
            fma(z, 0x1.8a061d48c279bp-3, 0x1.c68f050abacd8p-3));
    q = fma(z2, q, fma(z, 0x1.0c9a84fff9e95p-2, 0x1.484b13d735f3bp-2));
    q = fma(z, fma(z, q, 0x1.a61762a7ae41dp-2), 0x1.2776c50ef9bfep-1);
    u = fma(z, q, B);
    u_rest = fma(z, q, B - u) + fma(z_rest, q, B_REST);
    w = fma(z, u, A);
    w_rest = fma(z, u, A - w) + fma(z, u_rest, fma(z_rest, u, A_REST));
    r.high = fma(s, w, m.k);
    r.low = fma(s, w, m.k - r.high) + fma(s, w_rest, s_rest * w);
    return r;
}

/* As in exp.c: with this bias, an n from -2046 to 2048 and 2046 more stand in the sum's low bits.
 */
#define TO_WHOLE      (0x1.8p52 + 2046)
#define LN2_NEAR      0x1.62e42fefa39efp-1
#define LN2_NEAR_REST 0x1.abc9e3b39803fp-56

/* 2^(high + low), high at most 1500 either way */
static inline double
exp2_parts(double high, double low)
{
    double sum = high + TO_WHOLE, whole = high - (sum - TO_WHOLE);
    double r = whole + low, rest = whole - r + low, r2 = r * r, r4 = r2 * r2, q, first, u;
    uint64_t bits = rgm_bits(sum), half = bits >> 1;

    q = fma(r4, fma(r, 0x1.ea12eb606062fp-32, 0x1.e61cc79046633p-28),
            fma(r2, fma(r, 0x1.b524d26b6307bp-24, 0x1.62bfc6bc8cc13p-20),
                fma(r, 0x1.ffcbfc7962aa2p-17, 0x1.4309130f34f2dp-13)));
    q = fma(r4, q,
            fma(r2, fma(r, 0x1.5d87fe78a1c34p-10, 0x1.3b2ab6fb9ff42p-7),
                fma(r, 0x1.c6b08d704a0cfp-5, 0x1.ebfbdff82c5a5p-3)));
    first = r * LN2_NEAR;
    u = 1 + first;
    rest = fma(rest, LN2_NEAR, fma(r, LN2_NEAR_REST, fma(r, LN2_NEAR, -first)));
    u = u + (fma(r2, q, rest) + (1 - u + first));
    return u * rgm_from_bits(half << 52) * rgm_from_bits((bits - half) << 52);
}

double
rgm_pow(double x, double y)
{
    double a = fabs(x), power, high, low, near, r;
    struct log_parts l = log2_parts(a);
    bool whole = rint(y) == y, odd = whole && rint(0.5 * y) != 0.5 * y;

    /* Beyond 2^70 every y does the same, and its products stay finite. */
    power = y > 0x1p70 ? 0x1p70 : y;
    power = power < -0x1p70 ? -0x1p70 : power;
    high = power * l.high;
    low = fma(power, l.low, fma(power, l.high, -high));
    near = high > 1500 ? 1500 : high;
    near = near < -1500 ? -1500 : near;
    r = exp2_parts(near, near == high ? low : 0);

    r = x < 0 && !whole ? NAN : r;
    r = a == 0 || a == INFINITY ? ((a == 0) == (y < 0) ? INFINITY : 0) : r;
    r = odd ? copysign(r, x) : r;
    r = x != x || y != y ? x + y : r;
    return x == 1 || y == 0 ? 1 : r;
}
