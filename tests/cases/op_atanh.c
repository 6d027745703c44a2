// atanh
// args: n=4 x[4]=-0.8,-0.2,0.35,0.9 y[4]=0
// seed: y=1
// expect: y=-1.0986122886681098,-0.2027325540540822,0.36544375427139614,1.4722194895832204
// grad: x=2.7777777777777786,1.0416666666666667,1.1396011396011396,5.263157894736843
#include <math.h>

void
op_atanh(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = atanh(x[i]);
}
