// Several outputs, one of them without a use in the loss: its seed is 0.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0 z[3]=0
// seed: y=1 z=0
// grad: x=1,3,-0.8
// skip: fd duality
#include <math.h>

void
two_outputs_seeded(int n, const double x[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = x[i] * x[i];
        z[i] = sqrt(x[i] - 1.5);
    }
}
