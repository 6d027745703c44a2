// A stencil: neighbours of an own element, read by three threads each.
// args: n=6 x[6]=0.5,1.5,-0.4,0.3,0.7,1.1 y[6]=0
#include <math.h>

void
stencil(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
        y[i] = x[i - 1] * x[i + 1] - sin(x[i]);
}
