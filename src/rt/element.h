/* Sums formed in f64, added to elements of an array of floats. SPDX-License-Identifier: Apache-2.0
 *
 * For runtimes on the host and on GPUs: no library is called. */
#ifndef RT_ELEMENT_H
#define RT_ELEMENT_H

#include <stdint.h>

/* -- f16, in f64 ------------------------------------------------------------------------------------------------- */

static inline double
rt_power_of_two(int32_t exponent)
{
    union { uint64_t bits; double value; } u = {.bits = (uint64_t)(exponent + 1023) << 52};
    return u.value;
}

static inline double
rt_half_value(uint16_t bits)
{
    int32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double v = exponent == 31 ? (mantissa ? __builtin_nan("") : __builtin_inf())
               : exponent     ? (1024 + mantissa) * rt_power_of_two(exponent - 25)
                              : mantissa * rt_power_of_two(-24);
    return bits >> 15 ? -v : v;
}

static inline uint16_t
rt_half_bits(double v)
{
    union { double value; uint64_t bits; } u = {.value = v};
    uint16_t sign = u.bits >> 63 ? 0x8000 : 0;
    double a = v < 0 ? -v : v, whole = rt_power_of_two(52);
    if (v != v)
        return sign | 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    int32_t exponent = (int32_t)(u.bits >> 52 & 2047) - 1023, last = exponent < -14 ? -24 : exponent - 10;
    double digits = (a * rt_power_of_two(-last) + whole) - whole; /* rounded to even */
    return (uint16_t)(sign | ((last + 24) * 1024 + (int32_t)digits));
}

/* -- adding ------------------------------------------------------------------------------------------------------ */

/* bytes of an element: 8, 4, 2 */
static inline void
rt_add_to_element(void *array, int64_t i, double sum, int32_t bytes)
{
    if (sum == 0) /* most often nobody used the cells; and -0 stays what it is */
        return;
    if (bytes == 8)
        ((double *)array)[i] += sum;
    else if (bytes == 4)
        ((float *)array)[i] = (float)((double)((float *)array)[i] + sum);
    else
        ((uint16_t *)array)[i] = rt_half_bits(rt_half_value(((uint16_t *)array)[i]) + sum);
}

#endif
