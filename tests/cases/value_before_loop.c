// Values computed before a loop and used in each of its iterations; the loop's result used twice.
// args: n=4 m[4]=3,0,5,1 x[4]=0.5,1.5,-0.4,2 y[4]=0
#include <math.h>

void
value_before_loop(int n, const int m[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double rate = exp(-x[i] * x[i]), drift = sin(x[i]), v = 1.0;
        for (int t = 0; t < m[i]; t++)
            v = v * rate + drift * drift;
        y[i] = v * v + rate * v;
    }
}
