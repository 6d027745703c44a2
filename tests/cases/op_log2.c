// log2
// args: n=4 x[4]=0.2,0.9,1.7,4.5 y[4]=0
// seed: y=1
// expect: y=-2.321928094887362,-0.15200309344504995,0.765534746362977,2.169925001442312
// grad: x=7.213475204444817,1.6029944898766262,0.8486441416993903,0.3205988979753252
#include <math.h>

void
op_log2(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = log2(x[i]);
}
