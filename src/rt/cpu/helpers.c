/* Scalar operations that compiled code calls because no instruction does them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "rt/cpu/helpers.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A double rounded to odd in float: rounding that once more, to 11 bits, then gives the nearest. */
float
rt_odd_float(double v)
{
    float f = (float)v;
    if ((double)f == v || v != v)
        return f;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if ((bits & 1) == 0) {
        int away = f > 0 ? (double)f < v : (double)f > v;
        bits = f == 0 ? (v < 0 ? 0x80000001u : 1u) : away ? bits + 1 : bits - 1;
        memcpy(&f, &bits, 4);
    }
    return f;
}

double
rt_fraction(double x)
{
    int exponent;
    return frexp(x, &exponent);
}

float
rt_fractionf(float x)
{
    int exponent;
    return frexpf(x, &exponent);
}

/* 0 where frexp leaves it open */
int32_t
rt_exponent(double x)
{
    int exponent = 0;
    if (isfinite(x))
        frexp(x, &exponent);
    return exponent;
}
