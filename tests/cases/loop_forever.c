// for (;;) left by break, and while (1) left by return in a helper.
// args: n=3 x[3]=0.5,3,-2.7 y[3]=0
#include <math.h>

static double
settle(double v)
{
    int k = 0;
    while (1) {
        if (++k > 4 || v < 0.1)
            return v * k;
        v = 0.6 * v + 0.02 * v * v;
    }
}

void
loop_forever(int n, const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = fabs(x[i]);
        for (;;) {
            if (v < 1.0)
                break;
            v = sqrt(v) * 0.9;
        }
        y[i] = settle(v);
    }
}
