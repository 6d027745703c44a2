// Kernel-level local arrays shared by threads: temporary buffers.
// args: x[4]=0.5,1.5,-0.4,0.3 y[4]=0
// split: refused
#include <math.h>

void
temporaries(const double x[4], double y[4])
{
    double t[4];
    #pragma omp parallel for
    for (int i = 0; i < 4; i++)
        t[i] = exp(x[i]) * x[i];
    #pragma omp parallel for
    for (int i = 0; i < 4; i++)
        y[i] = t[i] * t[3 - i];
}
