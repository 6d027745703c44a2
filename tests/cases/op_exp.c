// exp
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=0.0820849986238988,0.4723665527410147,1.3498588075760032,3.3201169227365472
// grad: x=0.0820849986238988,0.4723665527410147,1.3498588075760032,3.3201169227365472
#include <math.h>

void
op_exp(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = exp(x[i]);
}
