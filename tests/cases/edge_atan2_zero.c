// atan2 at the origin with an adjoint of 0; on the axes
// args: n=4 a[4]=0,0,2,-3 b[4]=0,-2,0,0 y[4]=0
// seed: y=0,1,1,1
// grad: a=0,-0.5,0,0 b=0,0,-0.5,0.3333333333333333
// skip: fd duality
#include <math.h>

void
edge_atan2_zero(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = atan2(a[i], b[i]);
}
