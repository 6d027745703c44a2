// Second derivatives of a function with a loop that the data ends, as two gradients one in the other.
// skip: gcc
// args: n=3 x[3]=0.3,0.5,0.7 y[3]=0.2,0.4,0.8 xx[3]=0 xy[3]=0
#include <math.h>
#include <retrograd/kernel.h>

static double
surface(double x, double y)
{
    double z = x;
    while (z * z < 4.0)
        z += 0.5 + 0.25 * sin(y * z);
    return z * y;
}

static double
slope(double x, double y)
{
    double g;
    rg_grad(surface, (x, y), (&g, 0));
    return g;
}

void
derive_curvature(int n, const double x[n], const double y[n], double xx[n], double xy[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        rg_grad(slope, (x[i], y[i]), (&xx[i], &xy[i]));
    }
}
