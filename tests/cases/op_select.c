// ?: between two active values
// args: n=4 a[4]=1.5,-2.25,0.7,3.1 b[4]=0.4,1.3,-1.7,2.2 y[4]=0
// seed: y=1
// expect: y=0.6000000000000001,1.3,-1.19,6.820000000000001
// grad: a=0.4,0,-1.7,2.2 b=1.5,1,0.7,3.1
#include <math.h>

void
op_select(int n, const double a[n], const double b[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a[i] > b[i] ? a[i] * b[i] : b[i];
}
