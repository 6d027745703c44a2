/* Arithmetic of one type, rounded as IEEE 754 asks for, in integers (exact.c, exactf.c, which say what NAME, REAL, BITS, MANTISSA,
 * BIAS, STEPS and the functions BITS_OF, REAL_OF, SIZE, FMA and CLZ are, and then exact_quotient, exact_root and EXACT_FUNCTIONS: the
 * library takes of a file what the file itself defines). SPDX-License-Identifier: Apache-2.0
 *
 * A number is taken apart into its exponent e, from 1, and a mantissa m whose leading bit is that of ONE:
 * m * 2^(e - BIAS - BELOW). */

enum { BELOW = MANTISSA - 1, EXPONENTS = 2 * BIAS + 1 };
#define ONE      ((BITS)1 << BELOW)
#define SIGN     ((BITS)1 << (8 * sizeof(BITS) - 1))
#define INFINITE ((BITS)EXPONENTS << BELOW)
#define NO_NUMBER REAL_OF(INFINITE | ONE >> 1)

/* of a size that is finite and not 0; CLZ counts from the leading bit of BITS. No loops: where there is no fma, a function has many. */
static int32_t
NAME(exponent_of_size)(BITS size)
{
    int32_t e = (int32_t)(size >> BELOW);
    return e ? e : 1 + (int32_t)(8 * sizeof(BITS) - MANTISSA) - CLZ(size);
}

static BITS
NAME(mantissa_of_size)(BITS size)
{
    return size >= ONE ? (size & (ONE - 1)) | ONE : size << (CLZ(size) - (int32_t)(8 * sizeof(BITS) - MANTISSA));
}

/* m has two bits more, of which the last is set if anything is left below it: rounded once, halves to even. e is below 2 EXPONENTS. */
static REAL
NAME(pack)(BITS sign, int32_t e, BITS m)
{
    int32_t under = e < 1 ? 1 - e : 0, by = under < MANTISSA + 3 ? under : MANTISSA + 3;
    BITS kept = m >> by, all = kept | (BITS)(kept << by != m), q = (all + 1 + (all >> 2 & 1)) >> 2;
    BITS size = ((BITS)(e > 1 ? e - 1 : 0) << BELOW) + q; /* the leading bit counts the exponent up */
    return REAL_OF(sign | (size < INFINITE ? size : INFINITE));
}

/* -- quotients and roots by approximations ---------------------------------------------------------------------------
 *
 * Where fma is rounded once, but quotients and roots are not rounded correctly. `about` is the device's 1 / y or 1 / sqrt(x), off by at
 * most 3 units of f32's last place. STEPS of Newton's method make the reciprocal nearly the nearest number; the rest x - y q
 * is exact, and the sum of q and its share of the rest is rounded correctly (spirv_exact_test tries the hard cases). But not where an
 * operation could overflow or come below the normal range, which devices may take for 0, or where the significand of y is within SUSPECTS
 * of the largest, so that the reciprocal lies too close to the middle between two numbers. Of x that is at least 2^LEAST the rest is
 * exact. */
enum { SUSPECTS = 64, LEAST = 2 * MANTISSA + 1 - BIAS };
#define POWER(n) REAL_OF((BITS)(BIAS + (n)) << BELOW)

static REAL
NAME(exact_fast_quotient)(REAL x, REAL y, REAL about)
{
    REAL by = about;
    for (int i = 0; i < STEPS; i++)
        by = FMA(by, FMA(-y, by, 1), by);
    REAL first = x * by, q = FMA(by, FMA(-y, first, x), first);
    return (BITS_OF(x) & ~SIGN) == 0 ? first : q; /* what is left of 0 may have the wrong sign */
}

/* whether q is the quotient, if that is what it gave: what is no number is neither below nor above anything */
static bool
NAME(exact_fits_quotient)(REAL x, REAL y, REAL q)
{
    REAL over = SIZE(x), under = SIZE(y), size = SIZE(q);
    bool by = under >= POWER(1 - BIAS) && under < POWER(BIAS - 2) && (~BITS_OF(y) & (ONE - SUSPECTS)) != 0;
    bool normal = over >= POWER(LEAST) && size >= POWER(2 - BIAS);
    return by && size < POWER(BIAS - 1) && (normal || (BITS_OF(x) & ~SIGN) == 0);
}

static REAL
NAME(exact_fast_root)(REAL x, REAL about)
{
    REAL root = x * about, half = (REAL)0.5 * about;
    for (int i = 0; i < STEPS; i++) {
        REAL rest = FMA(-root, half, (REAL)0.5);
        root = FMA(root, rest, root);
        half = FMA(half, rest, half);
    }
    return FMA(FMA(-root, root, x), half, root);
}

static bool
NAME(exact_fits_root)(REAL x)
{
    return x >= POWER(LEAST) && x < REAL_OF(INFINITE);
}

static REAL
NAME(exact_ldexp)(REAL x, int32_t n)
{
    BITS size = BITS_OF(x) & ~SIGN, sign = BITS_OF(x) & SIGN;
    if (size >= INFINITE || size == 0)
        return x;
    n = n > 4 * BIAS ? 4 * BIAS : n < -4 * BIAS ? -4 * BIAS : n;
    int32_t e = NAME(exponent_of_size)(size) + n;
    return NAME(pack)(sign, e < EXPONENTS ? e : EXPONENTS, NAME(mantissa_of_size)(size) << 2);
}

static REAL
NAME(exact_fraction)(REAL x)
{
    BITS size = BITS_OF(x) & ~SIGN, sign = BITS_OF(x) & SIGN;
    if (size >= INFINITE || size == 0)
        return x;
    return REAL_OF(sign | (BITS)(BIAS - 1) << BELOW | (NAME(mantissa_of_size)(size) & (ONE - 1)));
}

static int32_t
NAME(exact_exponent)(REAL x)
{
    BITS size = BITS_OF(x) & ~SIGN;
    if (size >= INFINITE || size == 0)
        return 0;
    return NAME(exponent_of_size)(size) - (BIAS - 1);
}

/* -- remainders ------------------------------------------------------------------------------------------------------ */

/* |x| modulo 2 |y|, or modulo |y|, of sizes that are finite and not 0; exact */
static BITS
NAME(rest_of_sizes)(BITS over, BITS under, int32_t doubled)
{
    if (over < under)
        return over;
    int32_t e = NAME(exponent_of_size)(over), to = NAME(exponent_of_size)(under) + doubled;
    BITS m = NAME(mantissa_of_size)(over), by = NAME(mantissa_of_size)(under);
    if (e < to)
        return over;
    while (e > to) {
        if (m >= by)
            m -= by;
        m <<= 1;
        e--;
    }
    if (m >= by)
        m -= by;
    if (m == 0)
        return 0;
    while (!(m & ONE)) {
        m <<= 1;
        e--;
    }
    if (e >= 1)
        return ((BITS)(e - 1) << BELOW) + m;
    return m >> (1 - e);
}

static REAL
NAME(exact_fmod)(REAL x, REAL y)
{
    BITS over = BITS_OF(x) & ~SIGN, under = BITS_OF(y) & ~SIGN, sign = BITS_OF(x) & SIGN;
    if (over >= INFINITE || under > INFINITE || under == 0)
        return NO_NUMBER;
    if (over == 0 || under == INFINITE)
        return x;
    return REAL_OF(sign | NAME(rest_of_sizes)(over, under, 0));
}

/* from the rest modulo 2 |y|: |y| goes off once where it is more than half of that, and once more */
static REAL
NAME(nearest_rest)(BITS over, BITS under)
{
    BITS rest = NAME(rest_of_sizes)(over, under, 1);
    REAL r = REAL_OF(rest), by = REAL_OF(under);
    bool small = under < 2 * ONE; /* halves of it lose a bit */
    if (small ? r + r > by : r > (REAL)0.5 * by) {
        r -= by;
        if (small ? r + r >= by : r >= (REAL)0.5 * by)
            r -= by;
    }
    return r;
}

static REAL
NAME(exact_remainder)(REAL x, REAL y)
{
    BITS over = BITS_OF(x) & ~SIGN, under = BITS_OF(y) & ~SIGN, sign = BITS_OF(x) & SIGN;
    if (over >= INFINITE || under > INFINITE || under == 0)
        return NO_NUMBER;
    if (over == 0 || under == INFINITE)
        return x;
    return REAL_OF(BITS_OF(NAME(nearest_rest)(over, under)) ^ sign);
}

static REAL
NAME(exact_fdim)(REAL x, REAL y)
{
    return x != x || y != y ? NO_NUMBER : x > y ? x - y : 0;
}

static REAL
NAME(exact_nextafter)(REAL x, REAL y)
{
    BITS a = BITS_OF(x);
    if (x != x || y != y)
        return NO_NUMBER;
    if (x == y)
        return y;
    if ((a & ~SIGN) == 0)
        return REAL_OF((BITS_OF(y) & SIGN) | 1);
    return REAL_OF((x < y) == (x > 0) ? a + 1 : a - 1);
}

#define EXACT_1(name, result)                                                                                                    \
    result NAME(rgx_##name)(REAL x)                                                                                              \
    {                                                                                                                            \
        return NAME(exact_##name)(x);                                                                                            \
    }
#define EXACT_2(name, second)                                                                                                    \
    REAL NAME(rgx_##name)(REAL x, second y)                                                                                      \
    {                                                                                                                            \
        return NAME(exact_##name)(x, y);                                                                                         \
    }
#define EXACT_3(name, result)                                                                                                    \
    result NAME(rgx_##name)(REAL x, REAL y, REAL z)                                                                              \
    {                                                                                                                            \
        return NAME(exact_##name)(x, y, z);                                                                                      \
    }
#define EXACT_FUNCTIONS                                                                                                          \
    EXACT_2(quotient, REAL)                                                                                                      \
    EXACT_1(root, REAL)                                                                                                          \
    EXACT_3(fast_quotient, REAL)                                                                                                 \
    EXACT_3(fits_quotient, bool)                                                                                                 \
    EXACT_2(fast_root, REAL)                                                                                                     \
    EXACT_1(fits_root, bool)                                                                                                     \
    EXACT_2(ldexp, int32_t)                                                                                                      \
    EXACT_1(fraction, REAL)                                                                                                      \
    EXACT_1(exponent, int32_t)                                                                                                   \
    EXACT_2(fmod, REAL)                                                                                                          \
    EXACT_2(remainder, REAL)                                                                                                     \
    EXACT_2(fdim, REAL)                                                                                                          \
    EXACT_2(nextafter, REAL)
