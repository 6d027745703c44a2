/* Arithmetic of one type, rounded as IEEE 754 asks for, in integers (exact.c, exactf.c, which say what NAME, SLOW, REAL, BITS, MANTISSA,
 * BIAS, STEPS and the functions BITS_OF, REAL_OF, FMA and CLZ are, and then EXACT_FUNCTIONS: the library takes of a file what the file
 * itself defines). SPDX-License-Identifier: Apache-2.0
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

/* m has two bits more, of which the last is set if anything is left below it: rounded once, halves to even */
static REAL
NAME(pack)(BITS sign, int32_t e, BITS m)
{
    if (e < 1) {
        int32_t by = 1 - e < MANTISSA + 3 ? 1 - e : MANTISSA + 3;
        m = m >> by | (BITS)((m & (((BITS)1 << by) - 1)) != 0);
        e = 1;
    }
    BITS q = m >> 2, rest = m & 3;
    q += (BITS)(rest > 2 || (rest == 2 && (q & 1)));
    if (e >= EXPONENTS)
        return REAL_OF(sign | INFINITE);
    return REAL_OF(sign | (((BITS)(e - 1) << BELOW) + q)); /* the leading bit counts the exponent up */
}

static REAL
NAME(quotient_of_sizes)(BITS sign, BITS over, BITS under)
{
    int32_t e = NAME(exponent_of_size)(over) - NAME(exponent_of_size)(under) + BIAS;
    BITS rest = NAME(mantissa_of_size)(over), by = NAME(mantissa_of_size)(under), q = 1;
    if (rest < by) {
        rest <<= 1;
        e--;
    }
    rest -= by;
    /* not counted in an int: a loop of known length would become straight code, and drivers put this function at each quotient and root */
    for (BITS bit = ONE; bit; bit >>= 1) {
        rest <<= 1;
        q <<= 1;
        if (rest >= by) {
            rest -= by;
            q |= 1;
        }
    }
    return NAME(pack)(sign, e, q << 1 | (BITS)(rest != 0));
}

static REAL
NAME(exact_quotient)(REAL x, REAL y)
{
    BITS a = BITS_OF(x), b = BITS_OF(y), sign = (a ^ b) & SIGN, over = a & ~SIGN, under = b & ~SIGN;
    if (over > INFINITE || under > INFINITE)
        return NO_NUMBER;
    if (over == INFINITE || under == 0)
        return under == INFINITE || over == 0 ? NO_NUMBER : REAL_OF(sign | INFINITE);
    if (over == 0 || under == INFINITE)
        return REAL_OF(sign);
    return NAME(quotient_of_sizes)(sign, over, under);
}

/* digit by digit: two bits of the operand for each of the root */
static REAL
NAME(root_of_size)(BITS size)
{
    int32_t e = NAME(exponent_of_size)(size) - BIAS;
    BITS m = NAME(mantissa_of_size)(size), rest = 0, q = 0;
    if (e & 1) {
        m <<= 1;
        e--;
    }
    for (BITS bit = 2 * ONE; bit; bit >>= 1) {
        BITS next = q << 2 | 1;
        rest = rest << 2 | (m >> BELOW & 3);
        m = m << 2 & (4 * ONE - 1);
        q <<= 1;
        if (rest >= next) {
            rest -= next;
            q |= 1;
        }
    }
    return NAME(pack)(0, e / 2 + BIAS, q << 1 | (BITS)(rest != 0));
}

static REAL
NAME(exact_root)(REAL x)
{
    BITS size = BITS_OF(x);
    if (size == SIGN || size == 0 || (size & ~SIGN) > INFINITE || size == INFINITE)
        return x;
    if (size & SIGN)
        return NO_NUMBER;
    return NAME(root_of_size)(size);
}

/* -- quotients and roots by approximations ---------------------------------------------------------------------------
 *
 * Where fma is rounded once, but quotients and roots are not rounded correctly. `about` is the device's 1 / y or 1 / sqrt(x), off by at
 * most 3 units of f32's last place. STEPS of Newton's method make the reciprocal nearly the nearest number; the rest x - y q
 * is exact, and the sum of q and its share of the rest is rounded correctly (spirv_exact_test tries the hard cases). Where an operation
 * could overflow or come below the normal range, which devices may take for 0, and where the significand of y is within SUSPECTS of
 * the largest, so that the reciprocal lies too close to the middle between two numbers, the slow way is taken. Exponents of x that are from
 * LEAST on and below MOST, with those of y from FROM on and below TO, keep q normal and the rest exact. */
enum { SUSPECTS = 64, LEAST = 2 * MANTISSA + 1, MOST = BIAS + (BIAS + 1) / 2, FROM = (BIAS + 1) / 2 + 1, TO = BIAS + LEAST - 2 };

/* whether the exponent of the size is from `least` on and below `most` */
static bool
NAME(is_between)(BITS size, int32_t least, int32_t most)
{
    return size - ((BITS)least << BELOW) < (BITS)(most - least) << BELOW;
}

static REAL
SLOW(quotient)(REAL x, REAL y)
{
    return NAME(exact_quotient)(x, y);
}

static REAL
NAME(exact_near_quotient)(REAL x, REAL y, REAL about)
{
    BITS over = BITS_OF(x) & ~SIGN, under = BITS_OF(y) & ~SIGN;
    REAL by = about;
    for (int i = 0; i < STEPS; i++)
        by = FMA(by, FMA(-y, by, 1), by);
    REAL first = x * by, q = FMA(by, FMA(-y, first, x), first), result = over == 0 ? first : q;
    bool known = NAME(is_between)(under, FROM, TO) && (under & (ONE - 1)) < ONE - SUSPECTS;
    bool fits = known && (over == 0 || NAME(is_between)(over, LEAST, MOST));
    return fits ? result : SLOW(quotient)(x, y);
}

static REAL
SLOW(root)(REAL x)
{
    return NAME(exact_root)(x);
}

static REAL
NAME(exact_near_root)(REAL x, REAL about)
{
    REAL root = x * about, half = (REAL)0.5 * about;
    for (int i = 0; i < STEPS; i++) {
        REAL rest = FMA(-root, half, (REAL)0.5);
        root = FMA(root, rest, root);
        half = FMA(half, rest, half);
    }
    REAL result = FMA(FMA(-root, root, x), half, root);
    return NAME(is_between)(BITS_OF(x), LEAST, EXPONENTS) ? result : SLOW(root)(x);
}

static REAL
NAME(exact_ldexp)(REAL x, int32_t n)
{
    BITS size = BITS_OF(x) & ~SIGN, sign = BITS_OF(x) & SIGN;
    if (size >= INFINITE || size == 0)
        return x;
    n = n > 4 * BIAS ? 4 * BIAS : n < -4 * BIAS ? -4 * BIAS : n;
    return NAME(pack)(sign, NAME(exponent_of_size)(size) + n, NAME(mantissa_of_size)(size) << 2);
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
#define EXACT_3(name)                                                                                                            \
    REAL NAME(rgx_##name)(REAL x, REAL y, REAL z)                                                                                 \
    {                                                                                                                            \
        return NAME(exact_##name)(x, y, z);                                                                                      \
    }
#define EXACT_FUNCTIONS                                                                                                          \
    EXACT_2(quotient, REAL)                                                                                                      \
    EXACT_1(root, REAL)                                                                                                          \
    EXACT_3(near_quotient)                                                                                                       \
    EXACT_2(near_root, REAL)                                                                                                     \
    EXACT_2(ldexp, int32_t)                                                                                                      \
    EXACT_1(fraction, REAL)                                                                                                      \
    EXACT_1(exponent, int32_t)                                                                                                   \
    EXACT_2(fmod, REAL)                                                                                                          \
    EXACT_2(remainder, REAL)                                                                                                     \
    EXACT_2(fdim, REAL)                                                                                                          \
    EXACT_2(nextafter, REAL)
