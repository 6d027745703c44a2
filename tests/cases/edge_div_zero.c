// division by 0 with an adjoint of 0
// args: n=2 a[2]=1,3 b[2]=0,2 y[2]=0
// seed: y=0,1
// grad: a=0,0.5 b=0,-0.75
// skip: fd duality
#include <math.h>

void
edge_div_zero(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a[i] / b[i];
}
