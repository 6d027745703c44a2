// A loop that never runs; the value before it passes through.
// args: n=4 m[4]=0,-3,2,0 x[4]=0.5,1.5,-0.4,2 y[4]=0
#include <math.h>

void
for_zero_trip(int n, const int m[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i] * x[i];
        for (int t = 0; t < m[i]; t++)
            v = sin(v);
        y[i] = v;
    }
}
