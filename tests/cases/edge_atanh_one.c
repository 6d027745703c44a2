// atanh at 1
// args: n=2 x[2]=1,1 y[2]=0
// seed: y=0,1
// grad: x=0,inf
// skip: fd duality
#include <math.h>

void
edge_atanh_one(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = atanh(x[i]);
}
