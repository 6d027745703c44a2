// sqrt
// args: n=4 x[4]=0.2,0.9,1.7,4.5 y[4]=0
// seed: y=1
// expect: y=0.4472135954999579,0.9486832980505138,1.3038404810405297,2.1213203435596424
// grad: x=1.118033988749895,0.5270462766947299,0.3834824944236852,0.23570226039551587
#include <math.h>

void
op_sqrt(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sqrt(x[i]);
}
