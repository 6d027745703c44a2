// pow with a constant negative exponent
// args: n=4 x[4]=0.2,0.9,1.7,4.5 y[4]=0
// seed: y=1
// expect: y=24.999999999999996,1.2345679012345678,0.34602076124567477,0.04938271604938271
// grad: x=-249.99999999999997,-2.743484224965706,-0.40708324852432326,-0.02194787379972565
#include <math.h>

void
pow_negative(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(x[i], -2.0);
}
