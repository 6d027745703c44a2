// Helpers that call helpers, in loops, with early returns and by-pointer results.
// args: n=4 x[4]=0.5,1.5,-0.4,3 y[4]=0
#include <math.h>

static double
smooth(double a, double b)
{
    if (a < 0.0)
        return b * b;
    return sqrt(a + 0.5) * b;
}

static int
split(double v, double *whole, double *rest)
{
    *whole = smooth(v, 0.5);
    *rest = v - *whole;
    return v > 1.0;
}

void
helper_calls(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i], a = 0.0, b = 0.0;
        for (int t = 0; t < 3; t++) {
            int big = split(v, &a, &b);
            v = smooth(a, b) + (big ? 0.1 : -0.1) * v;
        }
        y[i] = v + a * b;
    }
}
