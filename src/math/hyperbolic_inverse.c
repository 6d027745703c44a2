/* asinh, acosh, atanh.  Coefficients: poly/hyperbolic_inverse.sollya.
 * SPDX-License-Identifier: Apache-2.0 */
#include "math/log.h"

/* Squares of what is greater would overflow; there log(2 x) is all that counts. */
#define GREAT 0x1p500

/* log(1 + x + x^2 / (1 + sqrt(1 + x^2))) */
double
rgm_asinh(double x)
{
    double a = fabs(x), part = a * a / (1 + sqrt(fma(a, a, 1))), t = a + part;
    double rest = part - (t - a);
    double r = log1p_sum(a > GREAT ? a : t, a > GREAT ? 0 : rest, a > GREAT ? 1 : 0);

    return a < INFINITY ? copysign(r, x) : x;
}

/* with d = x - 1: log(1 + d + sqrt(d^2 + 2 d)) */
double
rgm_acosh(double x)
{
    double d = x - 1, root = sqrt(fma(d, d, d + d)), t = d + root;
    double rest = d - (t - root);
    double r = log1p_sum(x > GREAT ? x : t, x > GREAT ? 0 : rest, x > GREAT ? 1 : 0);

    r = x < 1 ? NAN : r;
    return x < INFINITY ? r : x;
}

/* Half the logarithm of (1 + a) / (1 - a) = 2^k (1 + s) / (1 - s), where k makes s small:
 * k ln(2) / 2 + atanh(s). Numerator and denominator are sums of two parts. */
double
rgm_atanh(double x)
{
    double a = fabs(x), p = 1 + a, q = 1 - a;
    /* the difference of the bits is nearly the logarithm; one half more, to round */
    uint64_t k = (rgm_bits(p) - rgm_bits(q) + 0x0008000000000000) >> 52;
    double half_k = (rgm_from_bits(k | 0x4330000000000000) - 0x1p52) * 0.5;
    double power = rgm_from_bits((k + 1023) << 52);
    double p_rest = a - (p - 1), q_rest = (1 - q - a) * power, scaled = q * power;
    double over = p - scaled, over_rest = p_rest - q_rest;
    double under = p + scaled, under_rest = scaled - (under - p) + (p_rest + q_rest);
    double reciprocal, s, rest, z, z2, poly, sum, r;

    reciprocal = 1 / under;
    s = over * reciprocal;
    rest = (fma(-s, under, over) + fma(-s, under_rest, over_rest)) * reciprocal;
    z = s * s;
    z2 = z * z;
    poly = fma(z2, fma(z, 0x1.172bbc06d2aabp-4, 0x1.0e78d7b7f17aap-4),
               fma(z, 0x1.3b2adbfffa477p-4, 0x1.745ca510c503fp-4));
    poly = fma(z2 * z2, poly,
               fma(z2, fma(z, 0x1.c71c72f9545eep-4, 0x1.24924923c70dfp-3),
                   fma(z, 0x1.999999999a033p-3, 0x1.5555555555555p-2)));
    sum = fma(half_k, LN2, s);
    r = sum + (fma(half_k, LN2, -sum) + s + fma(s * z, poly, fma(half_k, LN2_REST, rest)));
    r = a == 1 ? INFINITY : r;
    return copysign(a > 1 ? NAN : r, x);
}
