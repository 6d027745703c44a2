// lround is flat and an integer
// args: n=4 x[4]=-2.4,0.3,1.6,7.8 y[4]=0
// seed: y=1
// expect: y=4.8,0,3.2,62.4
// grad: x=-2,0,2,8
#include <math.h>

void
op_lround(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * (double)lround(x[i]);
}
