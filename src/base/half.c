/* IEEE binary16 in software, round to nearest even. SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"

uint16_t
half_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) /* NaN: quiet, with the top of its payload */
        return (uint16_t)(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
    if (magnitude >= 0x477ff000) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x33000000) /* below half of the least subnormal */
        return (uint16_t)sign;
    uint32_t mantissa, shift;
    if (magnitude < 0x38800000) { /* subnormal: the shift grows as the exponent falls */
        mantissa = (magnitude & 0x7fffff) | 0x800000;
        shift = 126 - (magnitude >> 23);
    } else {
        mantissa = magnitude - 0x38000000; /* exponent rebiased from 127 to 15 */
        shift = 13;
    }
    uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1);
    uint32_t half = 1u << (shift - 1);
    if (rest > half || (rest == half && (kept & 1)))
        kept++;
    return (uint16_t)(sign | kept);
}

float
float_of_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
    uint32_t bits;
    if (exponent == 31) {
        bits = sign | 0x7f800000 | (mantissa << 13);
    } else if (exponent) {
        bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
    } else { /* zero or subnormal: mantissa * 2^-24, exact in a float */
        float value = (float)mantissa * 0x1p-24f;
        memcpy(&bits, &value, 4);
        bits |= sign;
    }
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
