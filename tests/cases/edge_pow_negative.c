// pow at x < 0 with a whole y: the base is right, the exponent gets NaN
// args: n=2 a[2]=-2,-1.5 b[2]=3,2 y[2]=0
// seed: y=1
// grad: a=12,-3 b=nan,nan
// skip: fd duality
#include <math.h>

void
edge_pow_negative(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(a[i], b[i]);
}
