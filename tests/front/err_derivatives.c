// Derivatives inside kernels that cannot be.
#include <math.h>
#include <retrograd/kernel.h>
static double
fine(double x, int n, const double *p)
{
    return x * n * p[0];
}
static double
writes(double x, double *p)
{
    p[1] = x; // error: E0487
    return x;
}
static double
own_reads(double x, const double *p)
{
    return x * p[0];
}
static void
own_reads_vjp(double x, const double *p, double value, double seed, double *gx, double *gp)
{
    *gx = seed * p[0];
    gp[0] = seed * x;
}
RG_CUSTOM_VJP(own_reads, own_reads_vjp);
static int
whole(double x)
{
    return (int)x;
}
static void
nothing(double x)
{
}
static double outside(double x);
static double
itself(double x)
{
    double g;
    rg_grad(itself, (x), (&g)); // error: E0480
    return g;
}
static double
shared(double x)
{
    double s = 0.0;
    #pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < 10; i++)
        s += x * i;
    return s;
}
static void
twice(double *a, const double *b)
{
    a[0] = b[1];
}
static double
with_own(double x)
{
    return x * x;
}
static void
own_vjp(double x, double value, double *gx) // error: E0486
{
    *gx = x;
}
RG_CUSTOM_VJP(with_own, own_vjp);
void
err_derivatives(int n, double x[n], double y[n])
{
    double g, p[2] = {1, 2}, gp[2], small[1];
    float f;
    y[0] = rg_grad(fine, (x[0], n, p), (&g, 0)); // error: E0481
    y[0] = rg_grad(fine, (x[0], n, p), (&f, 0, gp)); // error: E0482
    y[0] = rg_grad(fine, (x[0], n, p), (g, 0, gp)); // error: E0482
    y[0] = rg_grad(fine, (x[0], n, p), (&g, &g, gp)); // error: E0482
    y[0] = rg_grad(fine, (x[0], n, p), (&g, 0, small)); // error: E0482
    y[0] = rg_grad(fine, (x[0], n, x), (&g, 0, y)); // error: E0483
    y[0] = rg_grad(writes, (x[0], x), (&g, 0));
    y[0] = own_reads(x[0], x); // error: E0483
    y[0] = rg_grad(whole, (x[0]), (&g)); // error: E0480
    rg_grad(nothing, (x[0]), (&g)); // error: E0480
    y[0] = rg_grad(outside, (x[0]), (&g)); // error: E0480
    y[0] = rg_grad(itself, (x[0]), (&g));
    y[0] = rg_grad(shared, (x[0]), (&g)); // error: E0480
    rg_vjp(twice, (p, p), 0, (gp, 0)); // error: E0484
    y[0] = rg_jvp(fine, (x[0], n, p), (p, 0, 0)); // error: E0482
    y[0] = with_own(x[0]);
}
