// NaN is not hidden
// args: n=2 x[2]=nan,2 y[2]=0
// seed: y=1
// grad: x=nan,4
// skip: fd duality
#include <math.h>

void
edge_nan(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
