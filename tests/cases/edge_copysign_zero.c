// copysign at zeros of either sign
// args: n=4 a[4]=0,-0.0,2,2 b[4]=-0.0,-0.0,-0.0,0 y[4]=0
// seed: y=1
// grad: a=-1,1,-1,1 b=0,0,0,0
// skip: fd
#include <math.h>

void
edge_copysign_zero(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = copysign(a[i], b[i]);
}
