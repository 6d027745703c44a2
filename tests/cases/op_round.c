// round is flat: only the x beside it has a derivative
// args: n=5 x[5]=-2.5,-0.75,0.3,1.5,2.5 y[5]=0
// seed: y=1
// expect: y=-8,-2.5,0.6,5,8
// grad: x=2,2,2,2,2
// skip: fd
#include <math.h>

void
op_round(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = round(x[i]) + 2.0 * x[i];
}
