// && and || inside if
// args: n=6 steps[6]=0,1,2,5,3,9 x[6]=0.5,-0.7,1.1,0.3,-1.6,0.25 y[6]=0
#include <math.h>

void
pair_if_andor(int n, const int steps[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        int t = steps[i];
        if (x[i] > 0.2) {
            v = v * v + 0.1;
            if ((t > 1 && 1.0 / v < 3.0) || v < -0.5)
                v = v + 0.25 * v * v;
        } else {
            v = cos(v);
        }
        y[i] = v;
    }
}
