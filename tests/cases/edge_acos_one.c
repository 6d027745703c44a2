// acos at the ends of its domain
// args: n=3 x[3]=1,-1,1 y[3]=0
// seed: y=0,1,1
// grad: x=0,-inf,-inf
// skip: fd duality
#include <math.h>

void
edge_acos_one(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = acos(x[i]);
}
