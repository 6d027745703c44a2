// A few thousand steps: the tape crosses pages.
// args: n=2 steps=5000 x[2]=0.5,1.5 y[2]=0
// tol: 1e-10
#include <math.h>

void
deep_recurrence(int n, int steps, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i], w = 0.0;
        for (int t = 0; t < steps; t++) {
            v = v + 0.001 * sin(v + w);
            w = w * 0.999 + 0.001 * v * x[i];
        }
        y[i] = v + w;
    }
}
