// What is stored is rounded, and read so, in each step anew.
// args: n=3 steps=3 x[3]=0.3,1.7,-0.6 h[3]=0 y[3]=0
// split: refused
#include <math.h>

void
stored_half(int n, int steps, double x[n], _Float16 h[n], double y[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            h[i] = sin(x[i]);
            y[i] += h[i] * x[i];
            x[i] = 0.9 * x[i] + 0.1 * h[i] * h[i];
        }
    }
}
