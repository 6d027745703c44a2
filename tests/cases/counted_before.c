// args: n=11 m=2 a[11]=0.7 q=0.3 b[11]=0.9 z[11]=0 w[11]=0
// skip: gcc bits
// split: refused
// A derivative inside a thread takes its frames back before the thread records its own: what the thread needs at most
// is not the sum of both.
#include <math.h>
#include <retrograd/kernel.h>

static double
pull(double a)
{
    for (int t = 0; t < 3; t++)
        a = exp(0.3 * sin(tanh(a)));
    return a;
}

void
counted_before(int n, int m, double q, const double a[n], double *b, double z[n], double w[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        for (int t = 0; t < m; t++) {
            #pragma omp atomic
            w[t % n] += exp(0.1 * sin(b[(i + t) % n] * a[i]));
        }
        double slope = 0.0;
        rg_vjp(pull, (q * a[i]), 1.0, (&slope));
        z[i] = atan2(slope, 2.0 + exp(a[i]));
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        b[i] = z[i] * z[n - 1 - i];
}
