// what ?: does not choose contributes exactly 0, also where its derivative is infinite or NaN
// args: n=3 x[3]=0,-1,4 y[3]=0
// seed: y=1
// grad: x=3,3,0.5
// skip: fd
#include <math.h>

void
edge_select_inf(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] > 0.0 ? sqrt(x[i]) + log(x[i]) : 3.0 * x[i];
}
