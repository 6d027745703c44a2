/* libm's exact functions of one type (exact.c, exactf.c): NAME(f) is f's name for it, BUILTIN(f) the compiler's f, REAL the
 * type, BITS its integer, MANTISSA the bits of its mantissa, BIAS what its exponent counts from.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

REAL NAME(rg_fmod)(REAL x, REAL y);
REAL NAME(rg_remainder)(REAL x, REAL y);
REAL NAME(rg_fdim)(REAL x, REAL y);
REAL NAME(rg_nextafter)(REAL x, REAL y);
REAL NAME(rg_ldexp)(REAL x, int32_t n);

enum { EXPONENTS = 2 * BIAS + 1, BELOW = MANTISSA - 1 };
static const BITS SIGN = (BITS)1 << (8 * sizeof(BITS) - 1), ONE = (BITS)1 << BELOW;

static BITS
bits(REAL x)
{
    BITS b;
    __builtin_memcpy(&b, &x, sizeof b);
    return b;
}

static REAL
real(BITS b)
{
    REAL x;
    __builtin_memcpy(&x, &b, sizeof x);
    return x;
}

/* a number's exponent, from 1; its mantissa, with the leading bit, where it has one */
static int32_t
parts(BITS b, BITS *mantissa)
{
    int32_t exponent = (int32_t)(b >> BELOW) & EXPONENTS;
    *mantissa = (b & (ONE - 1)) | (exponent ? ONE : 0);
    return exponent ? exponent : 1;
}

/* what `parts` took apart, without a sign; the mantissa may have leading zeros */
static REAL
whole(int32_t exponent, BITS mantissa)
{
    while (exponent > 1 && !(mantissa & ONE)) {
        mantissa <<= 1;
        exponent--;
    }
    return real(mantissa & ONE ? ((BITS)exponent << BELOW) + (mantissa - ONE) : mantissa);
}

/* the rest of |x| / |y|, both finite, y not 0; the quotient's last bit */
static REAL
rest(REAL x, REAL y, int *odd)
{
    enum { STEP = 8 * sizeof(BITS) - MANTISSA };
    BITS over, under;
    int32_t from = parts(bits(x) & ~SIGN, &over), to = parts(bits(y) & ~SIGN, &under);
    *odd = 0;
    if (from < to)
        return BUILTIN(fabs)(x);
    *odd = (int)(over / under & 1);
    over %= under;
    while (from > to && over) {
        int32_t by = from - to < STEP ? from - to : STEP;
        over <<= by;
        *odd = (int)(over / under & 1);
        over %= under;
        from -= by;
    }
    if (from > to)
        *odd = 0;
    return whole(to, over);
}

REAL
NAME(rg_fmod)(REAL x, REAL y)
{
    int odd;
    if (x - x != 0 || y != y || y == 0)
        return (x * y) / (x * y);
    return y - y != 0 ? x : BUILTIN(copysign)(rest(x, y, &odd), x);
}

REAL
NAME(rg_remainder)(REAL x, REAL y)
{
    int odd;
    if (x - x != 0 || y != y || y == 0)
        return (x * y) / (x * y);
    if (y - y != 0)
        return x;
    REAL by = BUILTIN(fabs)(y), r = rest(x, y, &odd);
    REAL below = by - r; /* exact wherever it decides */
    if (r > below || (r == below && odd))
        r = -below;
    return bits(x) & SIGN ? -r : r;
}

REAL
NAME(rg_fdim)(REAL x, REAL y)
{
    return x != x || y != y ? x + y : x > y ? x - y : 0;
}

REAL
NAME(rg_nextafter)(REAL x, REAL y)
{
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return BUILTIN(copysign)(real(1), y);
    return real((x < y) == (x > 0) ? bits(x) + 1 : bits(x) - 1);
}

/* in three steps, the last of which alone may round */
REAL
NAME(rg_ldexp)(REAL x, int32_t n)
{
    const REAL up = real((BITS)(2 * BIAS) << BELOW), down = real((BITS)(1 + MANTISSA) << BELOW);
    for (int i = 0; i < 2 && n > BIAS; i++, n -= BIAS)
        x *= up;
    for (int i = 0; i < 2 && n < 1 - BIAS; i++, n += BIAS - 1 - MANTISSA)
        x *= down;
    n = n > BIAS ? BIAS : n < 1 - BIAS ? 1 - BIAS : n;
    return x * real((BITS)(n + BIAS) << BELOW);
}
