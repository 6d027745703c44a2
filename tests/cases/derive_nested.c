// Gradients of gradients: the mixed third derivative of x^3 y^2 z, and Newton's method on a gradient.
// args: n=3 x[3]=0.5,-1.5,2 y[3]=0 least[3]=0
// expect: y=9,81,144
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
f(double x, double y, double z)
{
    return x * x * x * y * y * z;
}

static double
f_x(double x, double y, double z)
{
    double g;
    rg_grad(f, (x, y, z), (&g, 0, 0));
    return g;
}

static double
f_xy(double x, double y, double z)
{
    double g;
    rg_grad(f_x, (x, y, z), (0, &g, 0));
    return g;
}

static double
valley(double u, double a)
{
    return cosh(u - a) + 0.1 * u * u * u * u;
}

static double
slope(double u, double a)
{
    double g;
    rg_grad(valley, (u, a), (&g, 0));
    return g;
}

void
derive_nested(int n, const double x[n], double y[n], double least[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g;
        rg_grad(f_xy, (x[i], 6.0, 1.0), (0, 0, &g));
        y[i] = g;
        double u = 0.0, step = 1.0;
        for (int t = 0; t < 60 && fabs(step) > 1e-13; t++) {
            step = slope(u, x[i]) / rg_jvp(slope, (u, x[i]), (1.0, 0));
            u -= step;
        }
        least[i] = u;
    }
}
