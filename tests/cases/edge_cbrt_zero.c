// cbrt at 0: +inf, 0 with an adjoint of 0
// args: n=3 x[3]=0,0,8 y[3]=0
// seed: y=1,0,1
// grad: x=inf,0,0.08333333333333333
// skip: fd duality
#include <math.h>

void
edge_cbrt_zero(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = cbrt(x[i]);
}
