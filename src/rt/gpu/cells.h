/* Cells of f64 that sums are formed in, and the elements that they are added to. SPDX-License-Identifier: Apache-2.0 */
#ifndef RT_GPU_CELLS_H
#define RT_GPU_CELLS_H

#include "rt/gpu/inside.h"

/* -- f16, in f64 ------------------------------------------------------------------------------------------------- */

static double
power_of_two(int32_t exponent)
{
    union { uint64_t bits; double value; } u = {.bits = (uint64_t)(exponent + 1023) << 52};
    return u.value;
}

static double
half_value(uint16_t bits)
{
    int32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double v = exponent == 31 ? (mantissa ? __builtin_nan("") : __builtin_inf())
               : exponent     ? (1024 + mantissa) * power_of_two(exponent - 25)
                              : mantissa * power_of_two(-24);
    return bits >> 15 ? -v : v;
}

static uint16_t
half_bits(double v)
{
    union { double value; uint64_t bits; } u = {.value = v};
    uint16_t sign = u.bits >> 63 ? 0x8000 : 0;
    double a = v < 0 ? -v : v, whole = power_of_two(52);
    if (v != v)
        return sign | 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    int32_t exponent = (int32_t)(u.bits >> 52 & 2047) - 1023, last = exponent < -14 ? -24 : exponent - 10;
    double digits = (a * power_of_two(-last) + whole) - whole; /* rounded to even */
    return (uint16_t)(sign | ((last + 24) * 1024 + (int32_t)digits));
}

/* -- adding up --------------------------------------------------------------------------------------------------- */

static double
sum_of_lanes(double mine)
{
    union { double value; uint64_t bits; } u = {.value = mine};
    for (uint32_t n = RT_WARP / 2; n; n /= 2) {
        union { double value; uint64_t bits; } other = {.bits = rt_warp_take64(u.bits, rt_warp_lane() ^ n)};
        u.value += other.value;
    }
    return u.value;
}

/* by one lane */
static void
add_to_element(void *array, int64_t i, double sum, int32_t bytes)
{
    if (sum == 0) /* most often nobody used the cells; and -0 stays what it is */
        return;
    if (bytes == 8)
        ((double *)array)[i] += sum;
    else if (bytes == 4)
        ((float *)array)[i] = (float)((double)((float *)array)[i] + sum);
    else
        ((uint16_t *)array)[i] = half_bits(half_value(((uint16_t *)array)[i]) + sum);
}

#endif
