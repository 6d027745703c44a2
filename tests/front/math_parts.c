// modf, frexp, sincos, classification, special values.
// args: n=7 x[7]=2.75,-0.3,0,inf,-inf,nan,1e-310 f[7]=0 p[7]=0 e[7]=0 c[7]=0
#define _GNU_SOURCE
#include <math.h>
void
math_parts(int n, const double x[n], double f[n], double p[n], int e[n], int c[n])
{
    for (int i = 0; i < n; i++) {
        double whole, s, t;
        int k = 0;
        f[i] = modf(x[i], &whole);
        p[i] = isfinite(x[i]) ? whole + frexp(x[i], &k) : whole;
        e[i] = k;
        sincos(i, &s, &t);
        c[i] = !!isnan(x[i]) + 2 * !!isinf(x[i]) + 4 * !!isfinite(x[i]) + 8 * !!signbit(x[i]) * !isnan(x[i]) +
               16 * !!isnormal(x[i]) + 32 * isgreater(x[i], 0.5) + 64 * isunordered(x[i], 1) +
               128 * (x[i] == INFINITY) + 256 * (x[i] != NAN) + 512 * isless((float)i, 3.0f);
        p[i] += s - t;
    }
}
