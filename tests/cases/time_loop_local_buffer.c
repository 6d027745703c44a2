// A local array of the time loop's body that two parallel loops share: a buffer of each step's own.
// args: n=5 steps=3 x[5]=0.5,1.5,-0.4,0.3,0.9
// split: refused
#include <math.h>

void
time_loop_local_buffer(int n, int steps, double x[n])
{
    for (int t = 0; t < steps; t++) {
        double f[64];
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            f[i] = sin(x[i]) + (i > 0 ? x[i - 1] : 0.0);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] += 0.1 * f[i] * f[(i + 1) % n];
    }
}
