// An operation without a derivative, of an active value.
// refused: vjp forward_vjp jvp E0501
#include <math.h>

void
no_derivative(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = lgamma(x[i]);
}
