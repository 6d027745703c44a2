// A local array carried by a loop, shifted by one each time; all of it is active.
// args: n=3 m[3]=0,4,7 x[3]=0.5,1.5,-0.4 y[3]=0
#include <math.h>

void
carried_array(int n, const int m[n], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double h[4] = {x[i], 0.5 * x[i], 0.25, -x[i]};
        for (int t = 0; t < m[i]; t++) {
            double next = 0.4 * h[0] + 0.3 * sin(h[1]) - 0.2 * h[2] * h[3];
            for (int k = 3; k > 0; k--)
                h[k] = h[k - 1];
            h[0] = next;
        }
        y[i] = h[0] * h[1] + h[3];
    }
}
