// Counters of other integer types, one of which wraps around.
// args: n=3 x[3]=0.5,-1.5,0.9 y[3]=0
#include <math.h>
#include <stdint.h>

void
for_unsigned(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (unsigned t = 0; t < 5u; t++)
            v = v + 0.1 * sin(v + t);
        for (uint8_t t = 250; t != 3; t++)
            v = v + 0.001 * t * v;
        for (int64_t t = 3; t > 0; t--)
            v = v * 0.9 + 0.1 * v * v;
        for (short t = 0; t <= 2; t++)
            v = cos(v);
        y[i] = v;
    }
}
