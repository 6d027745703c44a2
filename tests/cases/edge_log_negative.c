// log at x < 0 has the derivative 1 / x though its value is NaN
// args: n=3 x[3]=-2,-0.5,4 y[3]=0
// seed: y=1
// grad: x=-0.5,-2,0.25
// skip: fd duality
#include <math.h>

void
edge_log_negative(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = log(x[i]);
}
