// A counted loop downwards, and one in steps of 3, both non-linear.
// args: n=3 x[3]=0.5,-1.5,0.9 y[3]=0
#include <math.h>

void
for_down(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 7; t >= 0; t--)
            v = v + 0.05 * t * cos(v);
        for (int t = 1; t < 11; t += 3)
            v = v - 0.02 * t * v * v;
        for (int t = 10; t > -3; t -= 4)
            v = v + 0.01 * t * v;
        y[i] = v;
    }
}
