/* What GPUs have instead of libm, against libm: the same bits. SPDX-License-Identifier: Apache-2.0 */
#include "base/base.h"
#include "rt/cpu/helpers.h"

#include <math.h>

#define DECLARE(F, REAL)                                                                                               \
    REAL rg_fmod##F(REAL x, REAL y);                                                                                   \
    REAL rg_remainder##F(REAL x, REAL y);                                                                              \
    REAL rg_fdim##F(REAL x, REAL y);                                                                                   \
    REAL rg_nextafter##F(REAL x, REAL y);                                                                              \
    REAL rg_ldexp##F(REAL x, int32_t n);
DECLARE(, double)
DECLARE(f, float)

static uint64_t state = 1;

static uint64_t
random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state ^ state >> 29) * 0xbf58476d1ce4e5b9u;
}

static bool
same(double a, double b)
{
    return (a != a && b != b) || memcmp(&a, &b, sizeof a) == 0;
}

static int
differs(const char *name, double x, double y, double have, double want)
{
    if (same(have, want))
        return 0;
    fprintf(stderr, "%s(%a, %a): %a, not %a\n", name, x, y, have, want);
    return 1;
}

static int
check(double x, double y, int n)
{
    float fx = (float)x, fy = (float)y;
    int exponent = 0, failures = 0;
#define TWO(name)                                                                                                      \
    failures += differs(#name, x, y, rg_##name(x, y), name(x, y));                                                     \
    failures += differs(#name "f", fx, fy, rg_##name##f(fx, fy), name##f(fx, fy));
    TWO(fmod) TWO(fdim) TWO(nextafter)
    /* a zero has the sign of x; some libm's does not */
    if (remainder(x, y) != 0 && remainderf(fx, fy) != 0) {
        TWO(remainder)
    } else if (rg_remainder(x, y) == 0 && remainder(x, y) == 0) {
        failures += differs("remainder", x, y, rg_remainder(x, y), copysign(0, x));
    }
    failures += differs("ldexp", x, n, rg_ldexp(x, n), ldexp(x, n));
    failures += differs("ldexpf", fx, n, rg_ldexpf(fx, n), ldexpf(fx, n));
    failures += differs("fraction", x, 0, rt_fraction(x), frexp(x, &exponent));
    failures += differs("exponent", x, 0, rt_exponent(x), isfinite(x) ? exponent : 0);
    failures += differs("fractionf", fx, 0, rt_fractionf(fx), frexpf(fx, &exponent));
    return failures;
}

/* neighbours of special numbers; any bits; two numbers of like size */
static double
number(double near)
{
    static const double special[] = {0.0, -0.0, 1, 2, 3, 0x1p-1074, 0x1p-1022, 0x1p-149, 0x1p-126, 0x1.fffffep127,
                                     0x1.fffffffffffffp1023, INFINITY, NAN, 0.5, 1e300, -7};
    uint64_t r = random_bits();
    double x;
    if (r % 8 == 0)
        return special[r / 8 % countof(special)];
    if (r % 8 < 3)
        return near * (double)(int)(r / 8 % 64) * 0.5;
    if (r % 8 < 5)
        return (double)(float)ldexp((double)(int32_t)(r >> 32), (int)(r / 8 % 280) - 170);
    r = random_bits();
    memcpy(&x, &r, sizeof x);
    return x;
}

int
main(void)
{
    int failures = 0;
    for (int i = 0; i < 1000000 && failures < 20; i++) {
        double x = number(1), y = number(x);
        failures += check(x, y, (int)(random_bits() >> 40) % 5000 - 2500);
    }
    failures += check(1.5, 0, INT32_MAX) + check(0x1.8p-1074, 0, INT32_MIN);
    return failures != 0;
}
