// fdim at a == b: nothing
// args: n=2 a[2]=2,3 b[2]=2,1 y[2]=0
// seed: y=1
// grad: a=0,1 b=0,-1
// skip: fd
#include <math.h>

void
edge_fdim_tie(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fdim(a[i], b[i]);
}
