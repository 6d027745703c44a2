/* How far the math library is from the truth, in units in the last place. SPDX-License-Identifier: Apache-2.0
 *
 *   ulp [--all] [--count N] [NAME...]
 *
 * For each function the largest error, and where it is. A cheap reference (the C library's, in the next wider type) says of
 * every argument how far the result is off; where that is about the largest so far, MPFR decides. N arguments are random,
 * drawn so that all exponents are met, and such that are hard: near zeros, poles, ends of the range, multiples of pi / 2.
 * With --all float functions of one argument are tried on each there is: compiled code in lanes finds the blocks of
 * arguments that are worth a look (scan.h). */
#include "math/rgm.h"
#include "scan.h"

#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 160, BLOCK = 1 << 18 };

typedef struct function {
    const char *name;
    unsigned args;
    bool narrow;
    float (*f1)(float), (*f2)(float, float);
    double (*d1)(double), (*d2)(double, double);
    double (*cheap1)(double), (*cheap2)(double, double); /* NULL: none that may be trusted */
    long double (*wide1)(long double), (*wide2)(long double, long double);
    int (*exact1)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    int (*exact2)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
    double bound; /* the documented one */
} function;

static int
exact_lgamma(mpfr_t r, const mpfr_t x, mpfr_rnd_t mode)
{
    int sign;
    return mpfr_lgamma(r, &sign, x, mode);
}

static float
sine_of_pairf(float x)
{
    return rgm_sincosf(x).sine;
}

static float
cosine_of_pairf(float x)
{
    return rgm_sincosf(x).cosine;
}

static double
sine_of_pair(double x)
{
    return rgm_sincos(x).sine;
}

static double
cosine_of_pair(double x)
{
    return rgm_sincos(x).cosine;
}

/* clang-format off */
#define ONE(n, e, bf, bd)                                                                                              \
    {.name = #n "f", .args = 1, .narrow = true, .f1 = rgm_##n##f, .cheap1 = n, .exact1 = e, .bound = bf},              \
    {.name = #n, .args = 1, .d1 = rgm_##n, .wide1 = n##l, .exact1 = e, .bound = bd},
#define TWO(n, e, bf, bd)                                                                                              \
    {.name = #n "f", .args = 2, .narrow = true, .f2 = rgm_##n##f, .cheap2 = n, .exact2 = e, .bound = bf},              \
    {.name = #n, .args = 2, .d2 = rgm_##n, .wide2 = n##l, .exact2 = e, .bound = bd},
static const function functions[] = {
#include "ulp.def"
    {.name = "sincosf.sine", .args = 1, .narrow = true, .f1 = sine_of_pairf, .cheap1 = sin, .exact1 = mpfr_sin, .bound = 2},
    {.name = "sincosf.cosine", .args = 1, .narrow = true, .f1 = cosine_of_pairf, .cheap1 = cos, .exact1 = mpfr_cos, .bound = 2},
    {.name = "sincos.sine", .args = 1, .d1 = sine_of_pair, .wide1 = sinl, .exact1 = mpfr_sin, .bound = 2},
    {.name = "sincos.cosine", .args = 1, .d1 = cosine_of_pair, .wide1 = cosl, .exact1 = mpfr_cos, .bound = 2},
};
/* clang-format on */

typedef struct worst {
    double error, x, y;
    uint64_t count, wrong; /* wrong: a NaN, an infinity or a zero's sign that is not the reference's */
    double wrong_x, wrong_y;
} worst;

static mpfr_t exact_x, exact_y, exact_r, exact_d;

/* the unit in the last place of a value of this size; lgamma of a negative number is a difference, and has zeros in
 * unknown places: it is right to units of what is subtracted */
static double
unit_of(const function *f, double x, double r)
{
    bool narrow = f->narrow;
    if (f->exact1 == exact_lgamma && x < 0)
        r = fmax(fabs(r), fmax(1, -x));
    int least = narrow ? -149 : -1074, digits = narrow ? 24 : 53;
    int e = r == 0 ? least : ilogb(r) - (digits - 1);
    return ldexp(1, e < least ? least : e);
}

static double
call(const function *f, double x, double y)
{
    if (f->narrow)
        return (double)(f->args == 1 ? f->f1((float)x) : f->f2((float)x, (float)y));
    return f->args == 1 ? f->d1(x) : f->d2(x, y);
}

static double
exact_error(const function *f, double x, double y, double got)
{
    mpfr_set_d(exact_x, x, MPFR_RNDN);
    mpfr_set_d(exact_y, y, MPFR_RNDN);
    if (f->args == 1)
        f->exact1(exact_r, exact_x, MPFR_RNDN);
    else
        f->exact2(exact_r, exact_x, exact_y, MPFR_RNDN);
    double near = mpfr_get_d(exact_r, MPFR_RNDN);
    if (near != near)
        return got != got ? 0 : INFINITY;
    if (got != got)
        return INFINITY;
    /* beyond the largest number: an infinity is right from half a unit on */
    double most = f->narrow ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    if (fabs(got) == INFINITY)
        got = copysign(f->narrow ? 0x1p128 : INFINITY, got);
    if (!f->narrow && got == near)
        return fabs(got) == INFINITY ? 0 : (mpfr_sub_d(exact_d, exact_r, got, MPFR_RNDN),
                                            fabs(mpfr_get_d(exact_d, MPFR_RNDN)) / unit_of(f, x, near));
    if (f->narrow && fabs(near) > 0x1.ffffffp127)
        return fabs(got) == 0x1p128 && (got > 0) == (near > 0) ? 0 : fabs(near) == INFINITY ? 1 : fabs(got - near) / 0x1p104;
    if (fabs(got) == INFINITY || fabs(near) == INFINITY)
        return fabs(got) == most || fabs(near) == most ? 1 : INFINITY;
    mpfr_sub_d(exact_d, exact_r, got, MPFR_RNDN);
    return fabs(mpfr_get_d(exact_d, MPFR_RNDN)) / unit_of(f, x, near);
}

/* negative: MPFR has to say */
static double
cheap_error(const function *f, double x, double y, double got)
{
    if (f->narrow) {
        double ref = f->args == 1 ? f->cheap1(x) : f->cheap2(x, y), size = fabs(ref);
        return size < 0x1p127 && size > 0x1p-140 && got == got ? fabs(got - ref) / unit_of(f, x, ref) : -1;
    }
    long double ref = f->args == 1 ? f->wide1((long double)x) : f->wide2((long double)x, (long double)y);
    double size = fabs((double)ref);
    if (!(size < 0x1p1020 && size > 0x1p-1020 && got == got))
        return -1;
    return (double)fabsl((long double)got - ref) / unit_of(f, x, (double)ref);
}

static bool
same_edge(const function *f, double x, double y, double got)
{
    double ref = f->narrow ? (f->args == 1 ? f->cheap1(x) : f->cheap2(x, y))
                           : (double)(f->args == 1 ? f->wide1((long double)x) : f->wide2((long double)x, (long double)y));
    if (f->narrow && fabs(ref) < 0x1p-150)
        ref = copysign(0, ref);
    if (ref != ref || got != got)
        return ref != ref && got != got;
    return !(ref == 0 && got == 0) || signbit(ref) == signbit(got);
}

/* the cheap references are wrong by less than that part of a unit */
static double
near_enough(const function *f)
{
    return f->narrow ? 1 - 1e-6 : 0.999;
}

static void
try(const function *f, double x, double y, worst *w)
{
    double got = call(f, x, y), error = cheap_error(f, x, y, got);
    w->count++;
    if (error < 0 && !same_edge(f, x, y, got)) {
        w->wrong++;
        w->wrong_x = x;
        w->wrong_y = y;
    }
    /* outside of the range there is nothing to measure, and MPFR takes its time */
    bool beyond = error < 0 && (got != got || fabs(got) == INFINITY || got == 0) && w->count % 64;
    if (beyond || (error >= 0 && error <= w->error * near_enough(f)))
        return;
    if (x == x && y == y)
        error = exact_error(f, x, y, got);
    else
        error = 0;
    if (error > w->error) {
        w->error = error;
        w->x = x;
        w->y = y;
    }
}

/* -- arguments -------------------------------------------------------------------------------------------- */

static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double
as_type(const function *f, double x)
{
    return f->narrow ? (double)(float)x : x;
}

/* any bits; or of a size that functions care about; or near a number that some of them find hard */
static double
draw(const function *f, uint64_t *state)
{
    static const double hard[] = {0,   1,    -1,    2,     -2,    0.5,  -0.5, 3,     0x1p-1022, 0x1p-126, 88.7228, 709.7827,
                                  -87, -103, -708.4, -745, 171.6, 35.04, 10, 1e5, 1e22, 0x1p128, 0x1p1023, 2.7182818284590452};
    uint64_t r = next_random(state), kind = r % 16;
    double u = (double)(next_random(state) >> 11) * 0x1p-53, sign = r & 16 ? -1 : 1;
    if (kind < 4)
        return f->narrow ? (double)rgm_from_bitsf((uint32_t)(next_random(state))) : rgm_from_bits(next_random(state));
    if (kind < 8)
        return as_type(f, sign * exp2((u - 0.5) * 20));
    if (kind < 12)
        return as_type(f, sign * u * (double)(1 << (r >> 8) % 12));
    if (kind < 14)
        return as_type(f, sign * (double)((r >> 8) % 10000) * 0x1.921fb54442d18p0 * (1 + (u - 0.5) * exp2(-(double)(r >> 40) / 0x1p19)));
    double near = hard[(r >> 8) % (sizeof hard / sizeof *hard)];
    return as_type(f, sign * near * (1 + (u - 0.5) * exp2(-(double)(r >> 40) / 0x1p19)));
}

static void
try_random(const function *f, uint64_t count, worst *w)
{
    uint64_t state = 12345;
    for (uint64_t i = 0; i < count; i++) {
        double x = draw(f, &state), y = f->args == 2 ? draw(f, &state) : 0;
        /* a power is of interest where it is in the range */
        if (f->exact2 == mpfr_pow && i % 4) {
            double t = (double)(next_random(&state) >> 11) * 0x1p-52 - 1;
            y = as_type(f, t * (f->narrow ? 130 : 1050) / log2(fabs(x)));
        }
        try(f, x, y, w);
    }
}

static void
try_floats(const function *f, uint64_t from, uint64_t to, uint64_t step, worst *w)
{
    for (uint64_t i = from; i < to; i += step)
        try(f, (double)rgm_from_bitsf((uint32_t)i), 0, w);
}

static void
try_all_floats(const function *f, worst *w)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strlen(f->name) - 1, f->name);
    scan *s = strchr(f->name, '.') ? NULL : scan_open(name);
    for (uint64_t i = 0; s && i < (uint64_t)1 << 32; i += BLOCK) {
        w->count += BLOCK;
        if (scan_block(s, (uint32_t)i, BLOCK) > w->error * near_enough(f))
            try_floats(f, i, i + BLOCK, 1, w);
    }
    scan_close(s);
}

static bool
is_asked(const function *f, int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            i += strcmp(argv[i], "--all") != 0;
            continue;
        }
        any = true;
        if (strcmp(argv[i], f->name) == 0)
            return true;
    }
    return !any;
}

int
main(int argc, char **argv)
{
    bool all = false, good = true;
    uint64_t count = 20000;
    for (int i = 1; i < argc; i++) {
        all |= strcmp(argv[i], "--all") == 0;
        if (strcmp(argv[i], "--count") == 0 && i + 1 < argc)
            count = strtoull(argv[i + 1], NULL, 10);
    }
    mpfr_inits2(BITS, exact_x, exact_y, exact_r, exact_d, (mpfr_ptr)0);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const function *f = &functions[i];
        worst w = {0};
        if (!is_asked(f, argc, argv))
            continue;
        try_random(f, count, &w);
        if (f->narrow && f->args == 1)
            try_floats(f, 0, (uint64_t)1 << 32, 100901, &w);
        if (all && f->narrow && f->args == 1)
            try_all_floats(f, &w);
        bool kept = w.error <= f->bound && !w.wrong;
        good &= kept;
        printf("%-14s %8.4f ulp at %.9g", f->name, w.error, w.x);
        if (f->args == 2)
            printf(", %.9g", w.y);
        printf("  (%llu arguments)%s", (unsigned long long)w.count, kept ? "\n" : "  TOO FAR\n");
        if (w.wrong)
            printf("    %llu wrong at the edges: %.17g %.17g\n", (unsigned long long)w.wrong, w.wrong_x, w.wrong_y);
        fflush(stdout);
    }
    return good ? 0 : 1;
}
