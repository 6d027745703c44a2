// An adaptive ODE step: the step size shrinks until an error estimate accepts it.
// args: n=3 x[3]=0.5,1.5,-0.4 y[3]=0
#include <math.h>

void
adaptive_step(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double t = 0.0, h = 0.5, v = x[i];
        while (t < 1.0) {
            if (t + h > 1.0)
                h = 1.0 - t;
            double k1 = -2.0 * v + sin(3.0 * t), mid = v + 0.5 * h * k1;
            double k2 = -2.0 * mid + sin(3.0 * (t + 0.5 * h));
            double error = fabs(h * (k2 - k1));
            if (error > 0.1) {
                h *= 0.5;
                continue;
            }
            v += h * k2;
            t += h;
            if (error < 0.02)
                h *= 1.7;
        }
        y[i] = v;
    }
}
