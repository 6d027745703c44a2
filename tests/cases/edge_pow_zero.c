// pow at x = 0: for y > 0 the exponent gets 0; for y = 0 the base gets 0
// args: n=5 a[5]=0,0,0,2,2 b[5]=2,1,0,0,3 y[5]=0
// seed: y=1
// grad: a=0,1,0,0,12 b=0,0,-inf,0.6931471805599453,5.545177444479562
// skip: fd duality
#include <math.h>

void
edge_pow_zero(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = pow(a[i], b[i]);
}
