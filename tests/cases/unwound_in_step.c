// The reverse of a step that records nothing runs a derivative that records, in one arm, for itself.
// args: n=5 steps=3 p=0.7 z[5]=1.1,-0.3,0.95,2.2,-0.8 out[5]=0
// skip: gcc
#include <math.h>
#include <retrograd/kernel.h>
static double
look(double a, const double *data, int k)
{
    double b = data[k];
    if (b < 0.9)
        return b;
    for (int t = 0; t < 3; t++)
        b = pow(1.5 + sin(a * b), 1.8);
    return exp(0.3 * sin(b));
}
void
unwound_in_step(int n, int steps, double p, const double z[n], double out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int t = 0; t < steps; t++) {
            double g = 0;
            double v = rg_grad(look, (fabs(p), z, i), (&g, 0, 0));
            out[i] += 0.3 * (v + g);
        }
    }
}
