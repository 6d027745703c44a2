/* Exact arithmetic of double, for the library of the SPIR-V generator; fma is in doubles.c. SPDX-License-Identifier: Apache-2.0 */
#include "math/rgm.h"

#include <stdbool.h>

#define NAME(name) name
#define SLOW(name) exact_##name##_slow
#define REAL       double
#define BITS       uint64_t
#define BITS_OF    rgm_bits
#define REAL_OF    rgm_from_bits
#define FMA        fma
#define CLZ        __builtin_clzll
enum { MANTISSA = 53, BIAS = 1023, STEPS = 3 };
#include "codegen/spirv/exact_of.h"

EXACT_FUNCTIONS

/* A double rounded to odd in float: rounding that once more, to 11 bits, then gives the nearest. */
float
rgx_odd_float(double v)
{
    float f = (float)v;
    if ((double)f == v || v != v)
        return f;
    uint32_t bits = rgm_bitsf(f);
    if (bits & 1)
        return f;
    bool away = f > 0 ? (double)f < v : (double)f > v;
    return rgm_from_bitsf(f == 0 ? (v < 0 ? 0x80000001u : 1u) : away ? bits + 1 : bits - 1);
}
