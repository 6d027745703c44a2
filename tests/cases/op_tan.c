// tan
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=0.7470222972386603,-0.9315964599440725,0.30933624960962325,2.5721516221263188
// grad: x=1.5580423125717253,1.8678719641803279,1.095688915322547,7.615963967207053
#include <math.h>

void
op_tan(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = tan(x[i]);
}
