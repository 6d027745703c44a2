// Functions that bring their own reverse: the root of r + e^r = a, whose derivative is 1 / (1 + e^r) without a look
// at the iteration, alone, inside a function that is differentiated in turn, and twice.
// args: n=3 a[3]=0.3,1.7,4.5 y[3]=0 z[3]=0
// seed: y=1,-0.5,2 z=1,1,1
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
root(double a)
{
    double r = 0.0;
    for (int i = 0; i < 100; i++) {
        double step = (r + exp(r) - a) / (1.0 + exp(r));
        r -= step;
        if (fabs(step) < 1e-15)
            break;
    }
    return r;
}

static void
root_vjp(double a, double r, double seed, double *ga)
{
    *ga = seed / (1.0 + exp(r));
}
RG_CUSTOM_VJP(root, root_vjp);

static double
through(double a, double b)
{
    return root(a * b) * sin(b);
}

void
derive_own(int n, const double a[n], double y[n], double z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = root(a[i]) * a[i];
        double ga, gb;
        rg_grad(through, (a[i], 1.5), (&ga, &gb));
        z[i] = ga * gb + rg_jvp(root, (a[i]), (1.0));
    }
}
