// acos
// args: n=4 x[4]=-0.8,-0.2,0.35,0.9 y[4]=0
// seed: y=1
// expect: y=2.498091544796509,1.7721542475852274,1.2132252231493863,0.45102681179626236
// grad: x=-1.666666666666667,-1.0206207261596576,-1.0675210253672476,-2.294157338705618
#include <math.h>

void
op_acos(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = acos(x[i]);
}
