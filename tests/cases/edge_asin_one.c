// asin and acos at 1 with an adjoint of 0; inf with 1; NaN outside
// args: n=4 x[4]=1,1,2,-1 y[4]=0
// seed: y=0,1,1,0
// grad: x=0,inf,nan,0
// skip: fd duality
#include <math.h>

void
edge_asin_one(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = asin(x[i]);
}
