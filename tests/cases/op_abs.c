// fabs: the sign of x
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=2.5,0.75,0.3,1.2
// grad: x=-1,-1,1,1
#include <math.h>

void
op_abs(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fabs(x[i]);
}
