// remainder: 1 and -rint(a / b)
// args: n=4 a[4]=5.5,-7.25,3,2.9 b[4]=0.4,1.3,-1.7,2.2 y[4]=0
// seed: y=1
// expect: y=-0.10000000000000031,0.5500000000000003,-0.3999999999999999,0.6999999999999997
// grad: a=1,1,1,1 b=-14,6,2,-1
#include <math.h>

void
op_remainder(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = remainder(a[i], b[i]);
}
