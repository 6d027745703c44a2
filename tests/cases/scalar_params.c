// Gradients with respect to scalar arguments, summed over all threads and used before a loop as well.
// args: n=4 a=0.7 b=-0.3 x[4]=0.5,1.5,-0.4,0.3 y[4]=0
#include <math.h>

void
scalar_params(int n, double a, double b, const double x[n], double y[n])
{
    double c = exp(a) * b;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        for (int t = 0; t < 3; t++)
            v = a * v + c;
        y[i] = v * b;
    }
}
