// log
// args: n=4 x[4]=0.2,0.9,1.7,4.5 y[4]=0
// seed: y=1
// expect: y=-1.6094379124341003,-0.10536051565782628,0.5306282510621704,1.5040773967762742
// grad: x=5,1.1111111111111112,0.5882352941176471,0.2222222222222222
#include <math.h>

void
op_log(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = log(x[i]);
}
