// log1p
// args: n=4 x[4]=-0.8,-0.2,0.35,0.9 y[4]=0
// seed: y=1
// expect: y=-1.6094379124341005,-0.22314355131420976,0.30010459245033805,0.6418538861723948
// grad: x=5.000000000000001,1.25,0.7407407407407407,0.5263157894736842
#include <math.h>

void
op_log1p(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = log1p(x[i]);
}
