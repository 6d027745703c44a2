// A thread reads its own latest store: forwarded, so a split launch does.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0 z[3]=0
#include <math.h>

void
forwarded_store(int n, const double x[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = sin(x[i]);
        z[i] = y[i] * y[i] * x[i];
    }
}
