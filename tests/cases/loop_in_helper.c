// The same helper with a data-dependent loop, called in a loop and twice in one expression.
// args: n=4 x[4]=0.5,1.5,-0.4,3 y[4]=0
#include <math.h>

static double
shrink(double v, double limit)
{
    while (fabs(v) > limit)
        v *= 0.6;
    return v * v;
}

void
loop_in_helper(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < 2 + i; t++)
            v = shrink(v + 1.0, 0.7) + shrink(v - 1.0, 0.4) * v;
        y[i] = v;
    }
}
