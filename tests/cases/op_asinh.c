// asinh
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=-1.6472311463710958,-0.6931471805599453,0.29567304756342244,1.015973134179692
// grad: x=0.3713906763541037,0.8,0.9578262852211513,0.6401843996644799
#include <math.h>

void
op_asinh(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = asinh(x[i]);
}
