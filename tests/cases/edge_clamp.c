// clamp = min(hi, max(lo, x)): 1 inside and at both bounds, 0 outside
// args: n=5 x[5]=-3,-1,0.5,1,3 y[5]=0
// seed: y=1
// grad: x=0,1,1,1,0
// skip: fd
#include <math.h>

void
edge_clamp(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fmin(1.0, fmax(-1.0, x[i]));
}
