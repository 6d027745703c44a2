// floor is flat: only the x beside it has a derivative
// args: n=5 x[5]=-2.5,-0.75,0.3,1.5,2.5 y[5]=0
// seed: y=1
// expect: y=-8,-2.5,0.6,4,7
// grad: x=2,2,2,2,2
#include <math.h>

void
op_floor(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = floor(x[i]) + 2.0 * x[i];
}
