// The adjoint that reaches the square root is exactly 0, but its tangent is not: second derivatives see that.
// args: n=2 x[2]=0.5,1.5 y[2]=0
// seed: y=1
// grad: x=1,1.7677669529663687
#include <math.h>

void
second_at_zero(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double b = x[i] - 0.5;
        y[i] = sqrt(x[i] + 0.5) * b;
    }
}
