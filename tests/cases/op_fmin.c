// fmin: to the operand that is the result
// args: n=4 a[4]=1.5,-2.25,0.7,3.1 b[4]=0.4,1.3,-1.7,2.2 y[4]=0
// seed: y=1
// expect: y=0.4,-2.25,-1.7,2.2
// grad: a=0,1,0,0 b=1,0,1,1
#include <math.h>

void
op_fmin(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fmin(a[i], b[i]);
}
