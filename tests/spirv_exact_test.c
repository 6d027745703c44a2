/* The exact arithmetic that the SPIR-V generator takes into modules (codegen/spirv/exact_of.h), compiled by the host's compiler, against
 * the host's own: every bit. SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "near_middles.h"

#include "base/base.h"
#include "math/rgm.h"

#include <float.h>

double rgx_quotient(double x, double y), rgx_root(double x);
double rgx_fast_quotient(double x, double y, double about), rgx_fast_root(double x, double about);
bool rgx_fits_quotient(double x, double y, double q), rgx_fits_root(double x);
double rgx_ldexp(double x, int32_t n), rgx_fraction(double x), rgx_fmod(double x, double y),
    rgx_remainder(double x, double y), rgx_fdim(double x, double y), rgx_nextafter(double x, double y),
    rgx_fused(double x, double y, double z);
float rgx_quotientf(float x, float y), rgx_rootf(float x);
float rgx_fast_quotientf(float x, float y, float about), rgx_fast_rootf(float x, float about);
bool rgx_fits_quotientf(float x, float y, float q), rgx_fits_rootf(float x);
float rgx_ldexpf(float x, int32_t n), rgx_fractionf(float x), rgx_fmodf(float x, float y),
    rgx_remainderf(float x, float y), rgx_fdimf(float x, float y), rgx_nextafterf(float x, float y),
    rgx_fusedf(float x, float y, float z), rgx_wide_fusedf(float x, float y, float z);
int32_t rgx_exponent(double x), rgx_exponentf(float x);
float rgx_half(float x), rgx_of_half(uint32_t half), rgx_odd_float(double v);
uint32_t rgx_half_bits(float x);
/* doubles.c */
double rgx_sum(double x, double y), rgx_difference(double x, double y), rgx_product(double x, double y), rgx_negative(double x),
    rgx_size(double x), rgx_trunc(double x), rgx_floor(double x), rgx_ceil(double x), rgx_rint(double x), rgx_double(float x),
    rgx_of_signed(int64_t n), rgx_of_unsigned(uint64_t n);
float rgx_single(double x);
int64_t rgx_to_signed(double x);
uint64_t rgx_to_unsigned(double x);
bool rgx_equal(double x, double y), rgx_less(double x, double y), rgx_less_equal(double x, double y);

static uint64_t state = 88172645463325252u;

static uint64_t
next_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static const double edges[] = {0.0, -0.0, 1, -1, 0.5, 3, 1.5, DBL_MAX, -DBL_MAX, DBL_MIN, 0x1p-1074, -0x1p-1074, FLT_MAX, FLT_MIN,
                               0x1p-149, INFINITY, -INFINITY, NAN, 0x1.fffffep-127, 0x1.fffffffffffffp-1023,
                               65504, 65520, 0x1p-24, 0x1p-25};

/* an edge, any bits, or a number near to 1 or to another one, so that much cancels */
static double
next_double(double near)
{
    uint64_t bits = next_bits();
    switch (bits >> 60) {
    case 0:
        return edges[next_bits() % countof(edges)];
    case 1:
    case 2:
        return rgm_from_bits(next_bits());
    case 3:
        return rgm_from_bits(next_bits() & 0x800fffffffffffffu); /* below the normal range */
    case 4:
        return -near * (1 + (double)(next_bits() % 16) * 0x1p-52);
    case 5:
        return near;
    default:
        return ldexp((double)(int64_t)next_bits(), (int)(next_bits() % 64) - 95);
    }
}

static float
next_float(float near)
{
    uint64_t bits = next_bits();
    switch (bits >> 61) {
    case 0:
        return (float)edges[next_bits() % countof(edges)];
    case 1:
        return rgm_from_bitsf((uint32_t)next_bits());
    case 2:
        return rgm_from_bitsf((uint32_t)next_bits() & 0x807fffffu);
    case 3:
        return -near * (1 + (float)(next_bits() % 16) * 0x1p-23f);
    default:
        return ldexpf((float)(int32_t)next_bits(), (int)(next_bits() % 32) - 47);
    }
}

static void
same(double x, double y, const char *what, double a, double b, double c)
{
    CHECK((x != x && y != y) || rgm_bits(x) == rgm_bits(y), "%s(%a, %a, %a): %a, not %a", what, a, b, c, x, y);
}

/* glibc's is -0 now and then: IEEE 754 has the sign of x */
static double
rest_of(double r, double x)
{
    return r == 0 ? copysign(r, x) : r;
}

/* an approximation as rough as f32's */
static double
rough(double v)
{
    return v * (1 + ((double)(next_bits() % 7) - 3) * 0x1p-23);
}

static float
near_by(float v, int units)
{
    return rgm_from_bitsf(rgm_bitsf(v) + (uint32_t)units);
}

static void
check_fast_doubles(double x, double y)
{
    double q = rgx_fast_quotient(x, y, rough(1 / y));
    if (rgx_fits_quotient(x, y, q))
        same(q, x / y, "fast quotient", x, y, 0);
    if (rgx_fits_root(x))
        same(rgx_fast_root(x, rough(1 / sqrt(x))), sqrt(x), "fast root", x, 0, 0);
}

/* `by` units away from the device's best */
static void
check_fast_quotient(float x, float y, int by)
{
    float q = rgx_fast_quotientf(x, y, near_by(1 / y, by));
    if (rgx_fits_quotientf(x, y, q))
        same(q, x / y, "fast quotientf", x, y, by);
}

static void
check_fast_root(float x, int by)
{
    if (rgx_fits_rootf(x))
        same(rgx_fast_rootf(x, near_by((float)(1 / sqrt(x)), by)), sqrtf(x), "fast rootf", x, by, 0);
}

static void
check_doubles(double x, double y, double z)
{
    int exponent, n = (int)(next_bits() % 4500) - 2250;
    double whole = frexp(x, &exponent);
    same(rgx_quotient(x, y), x / y, "quotient", x, y, 0);
    same(rgx_root(x), sqrt(x), "root", x, 0, 0);
    check_fast_doubles(x, y);
    same(rgx_fused(x, y, z), fma(x, y, z), "fused", x, y, z);
    same(rgx_fused(x, y, -(x * y)), fma(x, y, -(x * y)), "fused", x, y, -(x * y));
    same(rgx_ldexp(x, n), ldexp(x, n), "ldexp", x, n, 0);
    same(rgx_fraction(x), whole, "fraction", x, 0, 0);
    CHECK(rgx_exponent(x) == (x - x == 0 ? exponent : 0), "exponent(%a)", x);
    same(rgx_fmod(x, y), fmod(x, y), "fmod", x, y, 0);
    same(rgx_remainder(x, y), rest_of(remainder(x, y), x), "remainder", x, y, 0);
    same(rgx_fdim(x, y), fdim(x, y), "fdim", x, y, 0);
    same(rgx_nextafter(x, y), nextafter(x, y), "nextafter", x, y, 0);
}

static void
check_conversions(double x, float f)
{
    uint64_t bits = next_bits() >> (next_bits() & 63);
    double whole = trunc(x);
    int64_t integer = x != x ? 0 : whole >= 0x1p63 ? INT64_MAX : whole < -0x1p63 ? INT64_MIN : (int64_t)whole;
    uint64_t natural = x != x || whole <= 0 ? 0 : whole >= 0x1p64 ? UINT64_MAX : (uint64_t)whole;
    same(rgx_double(f), f, "double", f, 0, 0);
    same(rgx_single(x), (float)x, "single", x, 0, 0);
    same(rgx_of_signed((int64_t)bits), (double)(int64_t)bits, "of_signed", (double)(int64_t)bits, 0, 0);
    same(rgx_of_signed(-(int64_t)bits), (double)-(int64_t)bits, "of_signed", (double)-(int64_t)bits, 0, 0);
    same(rgx_of_unsigned(bits), (double)bits, "of_unsigned", (double)bits, 0, 0);
    CHECK(rgx_to_signed(x) == integer, "to_signed(%a)", x);
    CHECK(rgx_to_unsigned(x) == natural, "to_unsigned(%a)", x);
}

/* what is made of doubles where there are none */
static void
check_without_doubles(double x, double y)
{
    same(rgx_sum(x, y), x + y, "sum", x, y, 0);
    same(rgx_difference(x, y), x - y, "difference", x, y, 0);
    same(rgx_product(x, y), x * y, "product", x, y, 0);
    same(rgx_negative(x), -x, "negative", x, 0, 0);
    same(rgx_size(x), fabs(x), "size", x, 0, 0);
    CHECK(rgx_equal(x, y) == (x == y) && rgx_less(x, y) == (x < y) && rgx_less_equal(x, y) == (x <= y), "order of %a, %a", x, y);
    same(rgx_trunc(x), trunc(x), "trunc", x, 0, 0);
    same(rgx_floor(x), floor(x), "floor", x, 0, 0);
    same(rgx_ceil(x), ceil(x), "ceil", x, 0, 0);
    same(rgx_rint(x), rint(x), "rint", x, 0, 0);
}

/* exponents near to each other and to those where a sum, product or f32 leaves its range */
static double
next_close(void)
{
    uint64_t bits = next_bits(), e = bits >> 60 == 0 ? 1 : bits >> 60 == 1 ? 500 : bits >> 60 == 2 ? 2040 : bits >> 60 == 3 ? 860 : 1000;
    uint64_t m = next_bits() >> 12;
    m = bits >> 58 & 1 ? m : m >> (bits & 63) << (bits & 63);
    return rgm_from_bits((bits & 1) << 63 | (e - 1 + next_bits() % (bits & 2 ? 4 : 64)) % 2047 << 52 | m);
}

static void
check_fused_floats(float x, float y, float z)
{
    float rest = -(x * y);
    same(rgx_fusedf(x, y, z), fmaf(x, y, z), "fusedf", x, y, z);
    same(rgx_fusedf(x, y, rest), fmaf(x, y, rest), "fusedf", x, y, rest);
    same(rgx_wide_fusedf(x, y, z), fmaf(x, y, z), "wide_fusedf", x, y, z);
    same(rgx_wide_fusedf(x, y, rest), fmaf(x, y, rest), "wide_fusedf", x, y, rest);
}

static float
next_close_float(void)
{
    uint64_t bits = next_bits(), e = bits >> 62 == 0 ? 1 : bits >> 62 == 1 ? 60 : bits >> 62 == 2 ? 250 : 120;
    uint32_t m = (uint32_t)next_bits() >> 9;
    m = bits >> 58 & 1 ? m : m >> (bits & 31) << (bits & 31);
    return rgm_from_bitsf((uint32_t)(bits & 1) << 31 | (uint32_t)((e - 1 + next_bits() % (bits & 2 ? 4 : 24)) % 255) << 23 | m);
}

static void
check_floats(float x, float y, float z)
{
    int exponent, n = (int)(next_bits() % 700) - 350;
    float whole = frexpf(x, &exponent);
    same(rgx_quotientf(x, y), x / y, "quotientf", x, y, 0);
    same(rgx_rootf(x), sqrtf(x), "rootf", x, 0, 0);
    for (int off = -3; off <= 3; off += 3) {
        check_fast_quotient(x, y, off);
        check_fast_root(x, off);
    }
    check_fused_floats(x, y, z);
    same(rgx_ldexpf(x, n), ldexpf(x, n), "ldexpf", x, n, 0);
    same(rgx_fractionf(x), whole, "fractionf", x, 0, 0);
    CHECK(rgx_exponentf(x) == (x - x == 0 ? exponent : 0), "exponentf(%a)", (double)x);
    same(rgx_fmodf(x, y), fmodf(x, y), "fmodf", x, y, 0);
    same(rgx_remainderf(x, y), rest_of(remainderf(x, y), x), "remainderf", x, y, 0);
    same(rgx_fdimf(x, y), fdimf(x, y), "fdimf", x, y, 0);
    same(rgx_nextafterf(x, y), nextafterf(x, y), "nextafterf", x, y, 0);
}

static void
check_near(void *user, uint32_t x, uint32_t y)
{
    (void)user;
    float over = (float)x, under = (float)y;
    same(rgx_quotientf(over, under), over / under, "quotientf", over, under, 0);
    for (int off = -3; off <= 3; off++)
        check_fast_quotient(over, under, off);
}

/* Quotients that come near to the middle of two numbers, reciprocals, and roots of both parities: of the significand. */
static void
check_significand(uint32_t y)
{
    float under = (float)y;
    near_middles(y, check_near, NULL);
    same(rgx_quotientf(1, under), 1 / under, "quotientf", 1, under, 0);
    for (float x = under; x <= 2 * under; x += under)
        same(rgx_rootf(x), sqrtf(x), "rootf", x, 0, 0);
    for (int off = -3; off <= 3; off++) {
        check_fast_quotient(1, under, off);
        for (float x = under; x <= 2 * under; x += under)
            check_fast_root(x, off);
    }
}

static uint16_t
half_bits_of(_Float16 h)
{
    uint16_t bits;
    memcpy(&bits, &h, sizeof bits);
    return bits;
}

static void
check_halves(float x, double d)
{
    uint16_t bits = half_bits_of((_Float16)x);
    uint32_t ours = rgx_half_bits(rgx_half(x));
    CHECK(x != x ? (ours & 0x7fff) > 0x7c00 : ours == bits, "half(%a): %x, not %x", (double)x, ours, bits);
    same(rgx_half(x), x != x ? NAN : (float)(_Float16)x, "half", x, 0, 0);
    same(rgx_half(rgx_odd_float(d)), (float)(_Float16)d, "odd_float", d, 0, 0);
}

/* spirv_exact_test [all]: every significand of f32 instead of some */
int
main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    double last = 1;
    float lastf = 1;
    for (size_t i = 0; i < countof(edges); i++)
        for (size_t k = 0; k < countof(edges); k++)
            for (size_t j = 0; j < countof(edges); j++) {
                check_doubles(edges[i], edges[k], edges[j]);
                check_without_doubles(edges[i], edges[k]);
                check_conversions(edges[i], (float)edges[k]);
                check_floats((float)edges[i], (float)edges[k], (float)edges[j]);
            }
    for (int i = 0; i < 400000; i++) {
        double x = next_double(last), y = next_double(x), z = next_double(x * y);
        float a = next_float(lastf), b = next_float(a), c = next_float(a * b);
        check_doubles(x, y, z);
        check_floats(a, b, c);
        check_halves(a, x);
        check_without_doubles(x, y);
        check_conversions(x, a);
        last = y;
        lastf = b;
    }
    for (uint32_t y = (1u << 23) + (all ? 0 : next_bits() % 512); y < 1u << 24; y += all || y >= (1u << 24) - 1024 ? 1 : 512)
        check_significand(y);
    for (int i = 0; i < 2000000; i++) {
        double x = next_close(), y = next_close(), z = next_close();
        check_without_doubles(x, y);
        check_conversions(x, (float)y);
        same(rgx_fused(x, y, z), fma(x, y, z), "fused", x, y, z);
        same(rgx_fused(x, y, -(x * y)), fma(x, y, -(x * y)), "fused", x, y, -(x * y));
        check_fused_floats(next_close_float(), next_close_float(), next_close_float());
    }
    for (uint32_t h = 0; h < 65536; h++) {
        _Float16 half;
        uint16_t word = (uint16_t)h;
        memcpy(&half, &word, sizeof half);
        same(rgx_of_half(h), (float)half, "of_half", h, 0, 0);
    }
    return check_done();
}
