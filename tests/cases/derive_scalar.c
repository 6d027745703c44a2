// The gradient and a directional derivative of a scalar function, inside a kernel: y = x^2 e^x.
// args: n=3 x[3]=0.5,-1,2 slope[3]=0 product[3]=0
// expect: slope=2.0609015883751605,-0.36787944117144233,59.1124487914452 product=0.8494630713934518,-0.1353352832366127,1747.1408010606158
// grad: x=7.007065400475545,-0.36787944117144233,103.4467853850291
// seed: slope=1 product=0
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>

static double
f(double x, float unused, int n)
{
    double y = exp(x);
    for (int i = 0; i < n; i++)
        y *= x;
    return y + 0.0 * unused;
}

void
derive_scalar(int n, const double x[n], double slope[n], double product[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double g;
        double y = rg_grad(f, (x[i], 1.0f, 2), (&g, 0, 0));
        slope[i] = g;
        product[i] = y * rg_jvp(f, (x[i], 1.0f, 2), (1, 0, 0));
    }
}
