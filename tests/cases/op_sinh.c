// sinh
// args: n=4 x[4]=-2.5,-0.75,0.3,1.2 y[4]=0
// seed: y=1
// expect: y=-6.0502044810397875,-0.82231673193583,0.3045202934471426,1.5094613554121725
// grad: x=6.132289479663686,1.2946832846768448,1.0453385141288605,1.8106555673243747
#include <math.h>

void
op_sinh(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = sinh(x[i]);
}
