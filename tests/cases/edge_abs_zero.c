// fabs at 0 and at -0 has the derivative 0
// args: n=3 x[3]=0,-0.0,1 y[3]=0
// seed: y=1
// grad: x=0,0,1
// skip: fd
#include <math.h>

void
edge_abs_zero(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fabs(x[i]);
}
