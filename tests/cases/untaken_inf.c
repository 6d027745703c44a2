// Branches and loops not taken, whose values or derivatives would be infinite or NaN.
// args: n=4 x[4]=0,-1,4,0.5 y[4]=0
// seed: y=1
// expect: y=0,-2,1.5,0.4142135623730951
// grad: x=2,2,-0.0625,-1.4142135623730951
// skip: fd
#include <math.h>

void
untaken_inf(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = 2.0 * x[i];
        if (x[i] > 0.0) {
            v = 1.0 / sqrt(x[i]) + 1.0;
            if (x[i] < 1.0)
                v = v - 2.0 + 0.0 * log(x[i]);
        }
        for (int t = 0; t < 0; t++)
            v = log(x[i]);
        y[i] = v;
    }
}
