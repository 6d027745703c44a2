// pow with small constant integer exponents becomes multiplications, so it is right at 0
// args: n=4 x[4]=-1.5,0,0.5,2 y[4]=0
// seed: y=1
// expect: y=-2.625,0,0.875,14
// grad: x=4.75,1,2.75,17
#include <math.h>

void
pow_int(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(x[i], 2.0) + pow(x[i], 3.0) + pow(x[i], 1.0);
}
