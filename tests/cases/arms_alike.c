// Arms that do alike of other neighbours: a limited flux, by the wind's direction; and one whose arms differ in the end.
// args: n=40 c[40]=0.3,-0.2,0.1,-0.4,0.05 q[40]=0.5,1.5,1.7,0.3,0.7,1.1,-0.2 flux[40]=0 root[40]=0
#include <math.h>

static double
limited(double a, double b)
{
    return a * b > 0.0 ? 2.0 * a * b / (a + b) : 0.0;
}

void
arms_alike(int n, const double c[n], const double q[n], double flux[n], double root[n])
{
    #pragma omp parallel for
    for (int i = 2; i < n - 1; i++) {
        if (c[i] > 0.0)
            flux[i] = c[i] * (q[i - 1] + 0.5 * (1.0 - c[i]) * limited(q[i - 1] - q[i - 2], q[i] - q[i - 1]));
        else
            flux[i] = c[i] * (q[i] - 0.5 * (1.0 + c[i]) * limited(q[i] - q[i - 1], q[i + 1] - q[i]));
        double v;
        if (q[i] > 0.6)
            v = exp(-q[i] * q[i - 1]) / (1.0 + q[i]);
        else if (q[i] > 0.2)
            v = exp(-c[i] * q[i + 1]) / (2.0 + q[i]);
        else
            v = sin(c[i] * q[i + 1]) / (2.0 - q[i]);
        root[i] = v * q[i + 1];
    }
}
