// fmod: an exact multiple, a negative dividend, a larger divisor
// args: n=3 a[3]=6,-6.5,1 b[3]=3,2,5 y[3]=0
// seed: y=1
// grad: a=1,1,1 b=-2,3,0
// skip: fd
#include <math.h>

void
edge_fmod(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fmod(a[i], b[i]);
}
