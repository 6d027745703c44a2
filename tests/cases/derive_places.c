// Gradients outside of parallel loops, in reductions, with constant tables, assertions, f16 and f32.
// args: n=2 x[2]=0.7,-0.4 y[2]=0 z[1]=0 s[2]=0
// seed: y=1,2 z=0.5 s=1
// skip: gcc
#include <math.h>
#include <assert.h>
#include <retrograd/kernel.h>
static const double table[3] = {0.5, 1.5, -2.0};
static double
poly(double x, int k)
{
    static const double c[2][2] = {{1.0, 2.0}, {3.0, 4.0}};
    assert(k >= 0);
    return table[k % 3] * x * x * x + c[k % 2][1] * x;
}
static float
narrow(float x, _Float16 h)
{
    return x * x * (float)h + sinf((float)h);
}
static double
pd(double x)
{
    double g;
    rg_grad(poly, (x, 1), (&g, 0));
    return g * table[0];
}
void
derive_places(int n, const double x[n], double y[n], double z[1], double s[n])
{
    double g0;
    z[0] += rg_grad(poly, (x[0], 2), (&g0, 0)) * g0;
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g;
        rg_grad(pd, (x[i]), (&g));
        y[i] = g * table[2] + g0;
        float gx;
        _Float16 gh;
        float v = rg_grad(narrow, ((float)x[i], (_Float16)0.5f), (&gx, &gh));
        s[i] = v * gx + (float)gh;
    }
    double sum = 0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += rg_jvp(pd, (x[i]), (1));
    z[0] += sum * sum;
}
