// The winner of an atomic min used by a later task.
// args: n=4 x[4]=0.5,1.5,-0.4,1.2 low[1]=100 y[4]=0
// split: any
#include <math.h>

void
atomic_min_loss(int n, const double x[n], double low[1], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = cos(x[i]);
        #pragma omp atomic compare
        if (v < low[0]) { low[0] = v; }
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * low[0];
}
