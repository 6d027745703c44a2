/* Logarithms of x and of 1 + x.  Coefficients: poly/log.sollya.
 * SPDX-License-Identifier: Apache-2.0 */
#include "math/log.h"

#define INV_LN2       0x1.71547652b82fep0
#define INV_LN2_REST  0x1.777d0ffda0d24p-56
#define LOG10_2       0x1.34413509f78p-2 /* 42 bits: k times it is exact */
#define LOG10_2_REST  0x1.fef311f12b358p-46
#define INV_LN10      0x1.bcb7b1526e50ep-2
#define INV_LN10_REST 0x1.95355baaafad3p-57

/* r, but what a logarithm is where there is none */
static inline double
edges(double x, double r)
{
    r = x == 0 ? -INFINITY : r;
    r = x < 0 ? NAN : r;
    return x < INFINITY ? r : x;
}

/* log(1 + f) */
static inline struct log_parts
log_parts(double f)
{
    double s = f / (2 + f), h = 0.5 * f * f;
    struct log_parts r;

    r.high = f - h;
    r.low = fma(s, h + log_series(s * s), f - r.high - h);
    return r;
}

/* log(1 + f) * (factor + rest) + k * (unit + unit_rest) */
static inline double
scaled_sum(struct log_split x, double factor, double rest, double unit, double unit_rest)
{
    struct log_parts m = log_parts(x.f);
    double whole = x.k * unit, sum = fma(m.high, factor, whole);
    double low = fma(m.low, factor, fma(m.high, rest, x.k * unit_rest));

    return sum + (fma(m.high, factor, whole - sum) + low);
}

double
rgm_log(double x)
{
    struct log_split p = log_split(x);

    return edges(x, log_sum(p.k, p.f, 0));
}

double
rgm_log2(double x)
{
    return edges(x, scaled_sum(log_split(x), INV_LN2, INV_LN2_REST, 1, 0));
}

double
rgm_log10(double x)
{
    return edges(x, scaled_sum(log_split(x), INV_LN10, INV_LN10_REST, LOG10_2, LOG10_2_REST));
}

double
rgm_log1p(double x)
{
    double r = log1p_sum(x, 0, 0);

    r = x == -1 ? -INFINITY : r;
    r = x < -1 ? NAN : r;
    r = fabs(x) < 0x1p-54 ? x : r;
    return x < INFINITY ? r : x;
}
