// The gradient of a function without loops, with branches, that reads an array which the kernel overwrites later: in the same
// thread, and in another task.
// args: n=41 x[41]=0.5,1.5,-0.4,0.746 y[41]=0.3,-0.2,0.9,1.1 out[41]=0
// split: refused
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
bent(double x, const double *data, int i)
{
    double a = data[i];
    if (a > 0.1)
        return x * x * a * a;
    return sin(x * a);
}

void
derive_overwritten(int n, double x[n], double y[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g;
        rg_grad(bent, (x[i], y, i), (&g, 0, 0));
        out[i] = g;
        y[i] *= g;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = out[i] * y[i];
}
