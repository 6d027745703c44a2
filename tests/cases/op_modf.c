// modf: the fraction is active, the whole part is flat
// args: n=4 x[4]=-2.5,0.75,3.3,-9.1 y[4]=0
// seed: y=1
// grad: x=-1,1,4,-8
#include <math.h>

static double
fraction(double v)
{
    double whole;
    double f = modf(v, &whole);
    return f + whole * v;
}

void
op_modf(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fraction(x[i]);
}
