// Parallel loops in the branches of a kernel-level if whose condition an array holds.
// args: n=3 mode[1]=1 x[3]=0.5,1.5,-0.4 y[3]=0
#include <math.h>

void
kernel_if(int n, const int mode[1], const double x[n], double y[n])
{
    if (mode[0] > 0) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] = exp(x[i]);
    } else {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] = x[i] * x[i];
    }
}
