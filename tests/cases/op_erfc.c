// erfc
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=1.999593047982555,1.7111556336535152,0.6713732405408726,0.08968602177036465
// grad: x=-0.00217828423035271,-0.6429310691952074,-1.031260909618963,-0.26734434700353915
#include <math.h>

void
op_erfc(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = erfc(x[i]);
}
