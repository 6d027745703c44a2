/* sinh, cosh, tanh.  Coefficients: poly/hyperbolic.sollya.  SPDX-License-Identifier: Apache-2.0
 *
 * |x| = n ln(2) + r with a whole n and |r| <= ln(2)/2. With plus = 2^n + 2^-n and minus = 2^n -
 * 2^-n, 2 sinh |x| = minus cosh(r) + plus sinh(r)     2 cosh |x| = plus cosh(r) + minus sinh(r) and
 * nothing cancels where n = 0. Both sums are taken in two parts, so that their rounding is the last
 * one and nearly the only one. */
#include "math/rgm.h"

#define INV_LN2  0x1.71547652b82fep0
#define LN2      0x1.62e42fefa38p-1 /* 42 bits: n times it is exact */
#define LN2_REST 0x1.ef35793c7673p-45

/* Of n ln(2) + r + rest: r, cosh(r) - 1, and what sinh has more than r. */
struct reduced {
    double r, cosine, sine;
};

static inline struct reduced
reduce(double x, double n)
{
    double t = fma(n, -LN2, x), r = fma(n, -LN2_REST, t), rest = fma(n, -LN2_REST, t - r);
    double z = r * r, z2 = z * z, c, s;
    struct reduced m;

    c = fma(z2,
            fma(z2, 0x1.2891db5ac36ddp-22, fma(z, 0x1.a019b8b0664bbp-16, 0x1.6c16c178ad307p-10)),
            fma(z, 0x1.5555555553cd5p-5, 0x1.0000000000001p-1));
    s = fma(z2,
            fma(z2, 0x1.af3f0f614bffdp-26, fma(z, 0x1.71de0a3920c82p-19, 0x1.a01a01a9031f8p-13)),
            fma(z, 0x1.111111111070ap-7, 0x1.5555555555556p-3));
    m.r = r;
    m.cosine = z * c;
    m.sine = fma(r * z, s, rest);
    return m;
}

/* high + low */
struct parts {
    double high, low;
};

static inline struct parts
sine_sum(double minus, double plus, struct reduced m)
{
    double first = plus * m.r, lost = fma(plus, m.r, -first);
    struct parts p;

    p.high = minus + first;
    p.low = first - (p.high - minus) + fma(minus, m.cosine, fma(plus, m.sine, lost));
    return p;
}

static inline struct parts
cosine_sum(double minus, double plus, struct reduced m)
{
    double first = minus * m.r, lost = fma(minus, m.r, -first);
    struct parts p;

    p.high = plus + first;
    p.low = first - (p.high - plus) + fma(plus, m.cosine, fma(minus, m.sine, lost));
    return p;
}

/* 2^(n - 2) for n from -1020 to 1025, with n + 1021 in the low bits of sum */
#define TO_WHOLE (0x1.8p52 + 1021)

static inline double
quarter_power(double sum)
{
    return rgm_from_bits(rgm_bits(sum) << 52);
}

/* 2^(-n - 2) for n >= 0, or 0 where that is denormal */
static inline double
quarter_inverse(double sum)
{
    int64_t field = (int64_t)(0x4338000000000000 + 2 * 1021 - rgm_bits(sum));

    return rgm_from_bits((uint64_t)(field < 0 ? 0 : field) << 52);
}

/* half of where the results overflow, and a little */
#define GREAT 710.6

double
rgm_sinh(double x)
{
    double a = fabs(x) > GREAT ? GREAT : fabs(x), sum = fma(a, INV_LN2, TO_WHOLE);
    double power = quarter_power(sum), inverse = quarter_inverse(sum);
    struct reduced m = reduce(a, sum - TO_WHOLE);
    double minus = power - inverse, lost = power - minus - inverse;
    struct parts p = sine_sum(minus, power + inverse, m);

    return fabs(x) < 0x1p-54 ? x : copysign(2 * (p.high + (p.low + lost)), x);
}

double
rgm_cosh(double x)
{
    double a = fabs(x) > GREAT ? GREAT : fabs(x), sum = fma(a, INV_LN2, TO_WHOLE);
    double power = quarter_power(sum), inverse = quarter_inverse(sum);
    struct reduced m = reduce(a, sum - TO_WHOLE);
    double plus = power + inverse, lost = power - plus + inverse;
    struct parts p = cosine_sum(power - inverse, plus, m);

    return 2 * (p.high + (p.low + lost));
}

/* The quotient of the two sums, both times 2^-n. */
double
rgm_tanh(double x)
{
    double a = fabs(x) > 20 ? 20 : fabs(x), sum = fma(a, INV_LN2, 0x1.8p52);
    double inverse = rgm_from_bits(0x3ff0000000000000 - (rgm_bits(sum) << 53)); /* 2^(-2 n) */
    double minus = 1 - inverse, plus = 1 + inverse;
    struct reduced m = reduce(a, sum - 0x1.8p52);
    struct parts s = sine_sum(minus, plus, m), c = cosine_sum(minus, plus, m);
    double over = s.high + s.low, over_rest = s.low - (over - s.high);
    double under = c.high + c.low, under_rest = c.low - (under - c.high);
    double reciprocal = 1 / under, q = over * reciprocal;
    double lacks = fma(-q, under, over) + (over_rest - q * under_rest);

    /* and where minus and plus are not exact */
    lacks = fma(fma(-2, inverse, plus - minus), 1 - m.r, lacks);
    return copysign(fma(lacks, reciprocal, q), x);
}
