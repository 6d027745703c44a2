// fmin and fmax where one operand is NaN: to the other
// args: n=2 a[2]=1,nan b[2]=nan,2 y[2]=0
// seed: y=1
// grad: a=11,0 b=0,11
// skip: fd duality
#include <math.h>

void
edge_minmax_nan(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fmin(a[i], b[i]) + 10.0 * fmax(a[i], b[i]);
}
