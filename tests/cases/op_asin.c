// asin
// args: n=4 x[4]=-0.8,-0.2,0.35,0.9 y[4]=0
// seed: y=1
// expect: y=-0.9272952180016123,-0.2013579207903308,0.35757110364551026,1.1197695149986342
// grad: x=1.666666666666667,1.0206207261596576,1.0675210253672476,2.294157338705618
#include <math.h>

void
op_asin(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = asin(x[i]);
}
