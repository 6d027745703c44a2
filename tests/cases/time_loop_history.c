// A time loop that keeps every step: rows of a rank-2 array, each written once.
// args: n=3 steps=4 h[5][3]=0.5,1.5,-0.4,0,0,0,0,0,0,0,0,0,0,0,0 rate[3]=0.5,0.6,0.7
#include <math.h>

void
time_loop_history(int n, int steps, double h[steps + 1][n], const double rate[n])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            h[t + 1][i] = h[t][i] + rate[i] * cos(h[t][i]) * 0.3;
    }
}
