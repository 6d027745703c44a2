// fmin and fmax at ties: wholly to the second operand
// args: n=4 a[4]=1,2,-1,0 b[4]=1,3,-1,0 y[4]=0
// seed: y=1
// grad: a=0,1,0,0 b=11,10,11,11
// skip: fd
#include <math.h>

void
edge_minmax_tie(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fmin(a[i], b[i]) + 10.0 * fmax(a[i], b[i]);
}
