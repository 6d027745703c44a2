// atan
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=-1.1902899496825317,-0.6435011087932844,0.2914567944778671,0.8760580505981934
// grad: x=0.13793103448275862,0.64,0.9174311926605504,0.4098360655737705
#include <math.h>

void
op_atan(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = atan(x[i]);
}
