// A forward derivative in which an argument stands still, differentiated in turn: what is zero has a tangent. And
// tangents that ops hand on unchanged, seen where what they belong to is not.
// args: n=2 a[2]=0.37,-0.52 y[2]=0 z[2]=0
// seed: y=1,-0.5 z=0.7,1
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
inner(double x0, double x1)
{
    return sin(x0 * x1) * x1 + x0;
}

static double
pull(double x0, double x1)
{
    double g = 0.2, h = x1;
    double v = rg_vjp(inner, (x0, cos(0.5)), x1, (&g, &h));
    return sin(v - 0.3 * h) * x0 + g;
}

static double
branches(double x0)
{
    double loc[3] = {x0, 0.4, x0}, w = x0 - x0;
    if (x0 > 0.11) {
        double same = x0 + 1.0;
        w = same * same + sin(loc[1] * same);
        while (w * w < 1.7)
            w += 0.37 + 0.2 * same;
    }
    return w * x0 + loc[2];
}

static double
twice(double x0)
{
    double g;
    rg_grad(branches, (x0), (&g));
    return g;
}

void
derive_zero_tangent(int n, const double a[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g;
        y[i] = rg_jvp(pull, (a[i], 0.7 - a[i]), (a[i], 0));
        rg_grad(twice, (a[i] + 0.3), (&g));
        z[i] = g;
    }
}
