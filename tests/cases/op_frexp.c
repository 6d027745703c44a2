// frexp: the fraction is active, the exponent is an integer
// args: n=4 x[4]=-2.5,0.75,0.3,9 y[4]=0
// seed: y=1
// expect: y=-3.125,0.75,0.44999999999999996,18.5625
// grad: x=1.25,1,1.5,2.0625
#include <math.h>

static double
fraction(double v)
{
    int e;
    double f = frexp(v, &e);
    return f + 0.5 * e * v;
}

void
op_frexp(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fraction(x[i]);
}
