// A second derivative where tanh has become exactly -1: what is left of it is not lost. Closed form: -2 c c.
// args: n=2 c=1e8 v[2]=1,0.5 h[2]=0
// expect: h=-2e16
// skip: gcc fd second
#include <math.h>
#include <retrograd/kernel.h>

static double
bent(double v, double c)
{
    double u = -c * v;
    return tanh(u) * u * u;
}

static double
slope(double v, double c)
{
    double g;
    rg_grad(bent, (v, c), (&g, 0));
    return g;
}

void
saturated_curvature(int n, double c, const double v[n], double h[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g;
        rg_grad(slope, (v[i], c), (&g, 0));
        h[i] = g;
    }
}
