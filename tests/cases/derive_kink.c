// The derivative of a function whose derivative does not depend on the array that it reads: what the array receives is 0,
// beside another one that does receive.
// args: n=41 x[41]=0.5,1.5,-0.4,0.746 y[41]=0.3,-0.2,0.9,1.1 z[41]=0.7,0.1 out[1]=0
// skip: gcc bits
#include <math.h>
#include <retrograd/kernel.h>

static double
larger(double a, const double *data, int k)
{
    return fmax(a, data[k]);
}

static double
product(double a, const double *data, int k)
{
    return a * a * data[k];
}

void
derive_kink(int n, double x[n], double y[n], double z[n], double out[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g = 0, h = 0;
        rg_grad(larger, (x[i], y, i), (&g, 0, 0));
        rg_grad(product, (x[i], z, i), (&h, 0, 0));
        #pragma omp atomic
        out[0] += sqrt(1 + g * g) * h;
    }
}
