// += after a non-linear read of the same element is an overwrite: split launches refuse it.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=1,2,3 z[3]=0
// split: refused
#include <math.h>

void
add_after_use(int n, const double x[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        z[i] = y[i] * y[i];
        y[i] += x[i] * x[i];
    }
}
