// Square roots of a value that is held at 0 and values held at 0 of a root that is not there: exactly 0, forward and reverse.
// args: n=3 x[3]=-10,-1,4 y[3]=0 z[3]=0
// seed: y=1 z=1
// expect: y=0,0,2 z=0,0,3
// grad: x=0,0,0.4166666666666667
// skip: fd
#include <math.h>

void
root_of_relu(int n, const double x[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = sqrt(fmax(x[i], 0.0));
        z[i] = x[i] > 0.0 ? sqrt(x[i] + 5.0) : 0.0;
    }
}
