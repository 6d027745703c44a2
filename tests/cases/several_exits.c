// A loop with four ways out; each leaves other values behind.
// args: n=6 x[6]=0.5,3,-2.7,0.01,0.9,1.3 y[6]=0
#include <math.h>

static double
run(double v, double p)
{
    double s = 0.0;
    for (int t = 0; t < 12; t++) {
        v = 0.95 * v + 0.1 * sin(p * t);
        if (v > 1.2) {
            v = 1.2 - p;
            break;
        }
        s += v * v;
        if (s > 4.0)
            return s * p;
        if (t > 5 && v < 0.4)
            break;
        v += 0.01 * s;
    }
    return s + v * v * p;
}

void
several_exits(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = run(x[i], 0.3 + 0.1 * x[i]);
}
