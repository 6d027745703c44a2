// pow with an adjoint of 0 at points where its derivatives are infinite or NaN
// args: n=2 a[2]=0,-2 b[2]=-1,0.5 y[2]=0
// seed: y=0
// grad: a=0,0 b=0,0
// skip: fd duality
#include <math.h>

void
edge_pow_guard(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(a[i], b[i]);
}
