/* Scalar operations that compiled code calls because no instruction does them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/helpers.h"

/* A double rounded to odd in float: rounding that once more, to 11 bits, then gives the nearest. */
float
rt_odd_float(double v)
{
    float f = (float)v;
    if ((double)f == v || v != v)
        return f;
    uint32_t bits;
    __builtin_memcpy(&bits, &f, 4);
    if ((bits & 1) == 0) {
        int away = f > 0 ? (double)f < v : (double)f > v;
        bits = f == 0 ? (v < 0 ? 0x80000001u : 1u) : away ? bits + 1 : bits - 1;
        __builtin_memcpy(&f, &bits, 4);
    }
    return f;
}

/* Shared with GPUs, so it asks nothing of a library. */
enum { BELOW_POINT = 52, EXPONENTS = 0x7ff, TO_HALF = 1022 /* the exponent of 0.5 */ };

static uint64_t
bits_of(double x)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &x, 8);
    return bits;
}

/* of a finite number that is not 0 */
static double
split(double x, int32_t *exponent)
{
    uint64_t bits = bits_of(x);
    int32_t subnormal = (bits >> BELOW_POINT & EXPONENTS) == 0;
    bits = subnormal ? bits_of(x * 0x1p54) : bits;
    *exponent = (int32_t)(bits >> BELOW_POINT & EXPONENTS) - TO_HALF - (subnormal ? 54 : 0);
    bits = (bits & ~((uint64_t)EXPONENTS << BELOW_POINT)) | (uint64_t)TO_HALF << BELOW_POINT;
    __builtin_memcpy(&x, &bits, 8);
    return x;
}

double
rt_fraction(double x)
{
    int32_t exponent;
    return x - x != 0 || x == 0 ? x : split(x, &exponent);
}

/* every float is a normal double */
float
rt_fractionf(float x)
{
    return (float)rt_fraction(x);
}

/* 0 where frexp leaves it open */
int32_t
rt_exponent(double x)
{
    int32_t exponent = 0;
    if (x - x == 0 && x != 0)
        split(x, &exponent);
    return exponent;
}
