/* Exact arithmetic of double, for the library of the SPIR-V generator; fma is in doubles.c. SPDX-License-Identifier: Apache-2.0 */
#include "math/rgm.h"

#include <stdbool.h>

#define NAME(name) name
#define REAL       double
#define BITS       uint64_t
#define BITS_OF    rgm_bits
#define REAL_OF    rgm_from_bits
#define SIZE       fabs
#define FMA        fma
#define CLZ        __builtin_clzll
enum { MANTISSA = 53, BIAS = 1023, STEPS = 3 };
#include "codegen/spirv/exact_of.h"

static double
quotient_of_sizes(uint64_t sign, uint64_t over, uint64_t under)
{
    int32_t e = exponent_of_size(over) - exponent_of_size(under) + BIAS;
    uint64_t rest = mantissa_of_size(over), by = mantissa_of_size(under), q = 1;
    if (rest < by) {
        rest <<= 1;
        e--;
    }
    rest -= by;
    /* not counted in an int: a loop of known length would become straight code, and drivers put this function at each quotient and root */
    for (uint64_t bit = ONE; bit; bit >>= 1) {
        rest <<= 1;
        q <<= 1;
        if (rest >= by) {
            rest -= by;
            q |= 1;
        }
    }
    return pack(sign, e, q << 1 | (uint64_t)(rest != 0));
}

static double
exact_quotient(double x, double y)
{
    uint64_t a = rgm_bits(x), b = rgm_bits(y), sign = (a ^ b) & SIGN, over = a & ~SIGN, under = b & ~SIGN;
    if (over > INFINITE || under > INFINITE)
        return NO_NUMBER;
    if (over == INFINITE || under == 0)
        return under == INFINITE || over == 0 ? NO_NUMBER : rgm_from_bits(sign | INFINITE);
    if (over == 0 || under == INFINITE)
        return rgm_from_bits(sign);
    return quotient_of_sizes(sign, over, under);
}

/* digit by digit: two bits of the operand for each of the root */
static double
root_of_size(uint64_t size)
{
    int32_t e = exponent_of_size(size) - BIAS;
    uint64_t m = mantissa_of_size(size), rest = 0, q = 0;
    if (e & 1) {
        m <<= 1;
        e--;
    }
    for (uint64_t bit = 2 * ONE; bit; bit >>= 1) {
        uint64_t next = q << 2 | 1;
        rest = rest << 2 | (m >> BELOW & 3);
        m = m << 2 & (4 * ONE - 1);
        q <<= 1;
        if (rest >= next) {
            rest -= next;
            q |= 1;
        }
    }
    return pack(0, e / 2 + BIAS, q << 1 | (uint64_t)(rest != 0));
}

static double
exact_root(double x)
{
    uint64_t size = rgm_bits(x);
    if (size == SIGN || size == 0 || (size & ~SIGN) > INFINITE || size == INFINITE)
        return x;
    if (size & SIGN)
        return NO_NUMBER;
    return root_of_size(size);
}

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
