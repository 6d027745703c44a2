// 1 / sqrt at 0 with an adjoint of 0
// args: n=2 x[2]=0,4 y[2]=0
// seed: y=0,1
// grad: x=0,-0.0625
// skip: fd duality
#include <math.h>

void
edge_rsqrt_zero(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = 1.0 / sqrt(x[i]);
}
