// sqrt at 0: +inf, but an adjoint of exactly 0 gives exactly 0
// args: n=3 x[3]=0,0,4 y[3]=0
// seed: y=1,0,3
// grad: x=inf,0,0.75
// skip: fd duality
#include <math.h>

void
edge_sqrt_zero(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sqrt(x[i]);
}
