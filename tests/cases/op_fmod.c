// fmod: 1 and -trunc(a / b)
// args: n=4 a[4]=5.5,-7.25,3,2.9 b[4]=0.4,1.3,-1.7,2.2 y[4]=0
// seed: y=1
// expect: y=0.2999999999999997,-0.7499999999999998,1.3,0.6999999999999997
// grad: a=1,1,1,1 b=-13,5,1,-1
#include <math.h>

void
op_fmod(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = fmod(a[i], b[i]);
}
