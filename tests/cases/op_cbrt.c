// cbrt, also of negative numbers
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=-1.3572088082974532,-0.9085602964160698,0.6694329500821695,1.0626585691826111
// grad: x=0.18096117443966045,0.4038045761849199,0.7438143889801883,0.29518293588405864
#include <math.h>

void
op_cbrt(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = cbrt(x[i]);
}
