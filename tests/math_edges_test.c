/* The math library in double where functions end, overflow, vanish or change their formula: the C
 * library's results, which follow Annex F, to two units in the last place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "math/rgm.h"

#include <stdbool.h>
#include <stdio.h>

static const double edges[] = {0,
                               0x1p-1074,
                               0x1.8p-1073,
                               0x1.fffffffffffffp-1023,
                               0x1p-1022,
                               1e-300,
                               0x1p-60,
                               0x1p-54,
                               0x1p-53,
                               0x1p-30,
                               0x1p-27,
                               1e-3,
                               0.1,
                               0.25,
                               0.34657359,
                               0.34657360,
                               0.5,
                               0x1.6a09e667f3bccp-1,
                               0x1.6a09e667f3bcdp-1,
                               0x1.fffffffffffffp-1,
                               1,
                               0x1.0000000000001p0,
                               0x1.6a09e667f3bcdp0,
                               1.5,
                               2,
                               3,
                               10,
                               18.4,
                               19.1,
                               20,
                               22,
                               36.7,
                               37.5,
                               50,
                               100,
                               708.4,
                               0x1.62e42fefa39efp9,
                               0x1.62e42fefa39fp9,
                               0x1.633ce8fb9f87dp9,
                               0x1.633ce8fb9f87ep9,
                               711,
                               745,
                               745.13,
                               745.14,
                               1022,
                               1023,
                               0x1.fffffffffffffp9,
                               1024,
                               1074,
                               1075,
                               1076,
                               1e9,
                               0x1p52,
                               0x1p53,
                               0x1.8p53,
                               0x1p54,
                               0x1p100,
                               1e154,
                               1e155,
                               0x1.6a09e667f3bcdp1023,
                               0x1.fffffffffffffp1023,
                               INFINITY,
                               NAN};
enum { EDGES = 2 * sizeof edges / sizeof *edges };

static const struct function {
    const char *name;
    double (*ours)(double), (*want)(double);
} functions[] = {
#define BOTH(name)                                                                                 \
    {                                                                                              \
#name, rgm_##name, name                                                                    \
    }
    BOTH(exp),   BOTH(exp2), BOTH(expm1), BOTH(log),  BOTH(log2),   BOTH(log10),
    BOTH(log1p), BOTH(sinh), BOTH(cosh),  BOTH(tanh), BOTH(asinh),  BOTH(acosh),
    BOTH(atanh), BOTH(sin),  BOTH(cos),   BOTH(tan),  BOTH(asin),   BOTH(acos),
    BOTH(atan),  BOTH(cbrt), BOTH(erf),   BOTH(erfc), BOTH(lgamma), BOTH(tgamma),
};

static double
edge(unsigned i)
{
    return i % 2 ? -edges[i / 2] : edges[i / 2];
}

static bool
near(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    int64_t apart = (int64_t)(rgm_bits(a) - rgm_bits(b));
    return isinf(b) || b == 0 ? apart == 0 : !isinf(a) && apart >= -2 && apart <= 2;
}

static unsigned failures;

static const struct function_of_two {
    const char *name;
    double (*ours)(double, double), (*want)(double, double);
} functions_of_two[] = {BOTH(pow), BOTH(atan2), BOTH(hypot)};

static void
compare(const struct function_of_two *f, double x, double y)
{
    if (near(f->ours(x, y), f->want(x, y)))
        return;
    failures++;
    printf("%s(%a, %a) is %a, not %a\n", f->name, x, y, f->ours(x, y), f->want(x, y));
}

int
main(void)
{
    for (const struct function *f = functions; f < functions + sizeof functions / sizeof *f; f++)
        for (unsigned i = 0; i < EDGES; i++) {
            double x = edge(i), is = f->ours(x), want = f->want(x);
            if (near(is, want))
                continue;
            failures++;
            printf("%s(%a) is %a, not %a\n", f->name, x, is, want);
        }
    for (unsigned k = 0; k < sizeof functions_of_two / sizeof *functions_of_two; k++) {
        for (unsigned i = 0; i < EDGES; i++)
            for (unsigned j = 0; j < EDGES; j++)
                compare(&functions_of_two[k], edge(i), edge(j));
        for (int i = -16; i <= 16; i++)
            for (int j = -16; j <= 16; j++)
                compare(&functions_of_two[k], i * 0.5, j * 0.5);
    }
    printf("%u failures\n", failures);
    return failures > 0;
}
