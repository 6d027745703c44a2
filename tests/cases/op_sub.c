// a - b
// args: n=4 a[4]=1.5,-2.25,0.7,3.1 b[4]=0.4,1.3,-1.7,2.2 y[4]=0
// seed: y=1
// expect: y=1.1,-3.55,2.4,0.8999999999999999
// grad: a=1,1,1,1 b=-1,-1,-1,-1
#include <math.h>

void
op_sub(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a[i] - b[i];
}
