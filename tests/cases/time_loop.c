// A time loop around a parallel loop, in place over global state.
// args: n=4 steps=5 x[4]=0.5,1.5,-0.4,0.3 v[4]=0,0.1,0.2,0.3
// split: refused
#include <math.h>

void
time_loop(int n, int steps, double x[n], double v[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            v[i] -= 0.1 * sin(x[i]);
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] += 0.1 * v[i];
    }
}
