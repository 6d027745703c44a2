// A ball between walls: the times of impact are found by a while with a bisection in it.
// args: n=2 x[2]=0.5,0.1 v[2]=1.3,-2.1 out[2]=0
#include <math.h>

void
bounce(int n, const double x[n], const double v[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double p = x[i], u = v[i], left = 2.0;
        while (left > 0.0) {
            double hit = u > 0.0 ? (1.0 - p) / u : -p / u;
            if (hit > left)
                hit = left;
            p += u * hit;
            left -= hit;
            if (left > 0.0)
                u = -0.8 * u;
        }
        out[i] = p;
    }
}
