// logarithms at 0 with an adjoint of 0
// args: n=2 x[2]=0,1 y[2]=0
// seed: y=0,1
// grad: x=0,3.8769895227922153
// skip: fd duality
#include <math.h>

void
edge_log_zero(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = log(x[i]) + log2(x[i]) + log10(x[i]) + log1p(x[i] - 1.0);
}
