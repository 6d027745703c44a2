// hypot at the origin with an adjoint of 0
// args: n=2 a[2]=0,3 b[2]=0,4 y[2]=0
// seed: y=0,1
// grad: a=0,0.6 b=0,0.8
// skip: fd duality
#include <math.h>

void
edge_hypot_zero(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = hypot(a[i], b[i]);
}
