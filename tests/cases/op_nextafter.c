// nextafter has no derivative
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// grad: x=3,3,3,3
// skip: fd
#include <math.h>

void
op_nextafter(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = 3.0 * x[i] + nextafter(x[i], 10.0);
}
