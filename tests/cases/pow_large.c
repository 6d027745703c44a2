// a constant integer exponent above 8, negative bases too
// args: n=3 x[3]=-1.5,0.5,1.2 y[3]=0
// seed: y=1
// expect: y=-86.49755859375,0.00048828125,7.430083706879997
// grad: x=634.3154296875,0.0107421875,68.10910064639997
#include <math.h>

void
pow_large(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(x[i], 11.0);
}
