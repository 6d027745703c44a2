// Constants stored over active values, before and after their use: a tangent is replaced by 0, an adjoint consumed.
// args: n=4 x[4]=0.5,1.5,-0.4,2 w[4]=0.3,0.6 y[4]=7
// split: any
#include <math.h>

void
constant_stored(int n, const double x[n], double w[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = w[i] * x[i];
        w[i] = 2.0;
        y[i] = sin(v) * w[i];
        if (i & 1)
            y[i] = 3.0;
    }
}
