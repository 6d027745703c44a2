// An active value computed in a while's condition and used after it.
// args: n=4 x[4]=0.5,3,2.7,10 y[4]=0
#include <math.h>

void
while_condition_active(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i], d;
        while ((d = v * v - 0.25) > 0.3)
            v = 0.7 * v;
        y[i] = d * v;
    }
}
