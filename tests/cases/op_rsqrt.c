// 1 / sqrt
// args: n=4 x[4]=0.2,0.9,1.7,4.5 y[4]=0
// seed: y=1
// expect: y=2.23606797749979,1.0540925533894598,0.7669649888473704,0.47140452079103173
// grad: x=-5.590169943749474,-0.5856069741052554,-0.22557793789628544,-0.05237828008789241
#include <math.h>

void
op_rsqrt(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = 1.0 / sqrt(x[i]);
}
