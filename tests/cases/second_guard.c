// Second derivatives where an adjoint is 0 but its tangent is not: the zero rule asks for both.
// args: n=3 x[3]=0.5,1.5,0.2 y[3]=0 z[3]=0
// seed: y=1 z=1
// split: any
#include <math.h>

void
second_guard(int n, const double x[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double b = x[i] - 0.5, h = 0.0;
        y[i] = sqrt(x[i] + 0.5) * b;
        for (int t = 0; t < 3; t++)
            h = h / (1.0 + exp(-x[i])) + log(x[i] + 1.0) * h * x[i] + b;
        z[i] = h;
    }
}
