// An else-if chain; values of other types set in its branches.
// args: n=5 x[5]=0.5,1.5,-0.4,3,-2 y[5]=0
#include <math.h>

void
if_chain(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i], w;
        int k = 0;
        if (v > 2.0) {
            w = log(v);
            k = 3;
        } else if (v > 1.0) {
            w = v * v;
        } else if (v < -1.0) {
            w = -v;
            k = -2;
        } else
            w = sin(v);
        y[i] = w * v + k * w;
    }
}
