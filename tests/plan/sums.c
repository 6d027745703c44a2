// frames forward_vjp: none
// count forward_vjp plan sqrt 0
// count forward_vjp plan rsqrt 1
// count forward_vjp plan div 0
/* 1 / sqrt is one operation, whose derivative divides by nothing; an iteration is reversed where it runs, so that it is done once. */
#include <math.h>
void
sums(int n, int m, const double w[m], const double x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < m; k++) {
            double d = x[i] - w[k];
            sum += 1.0 / sqrt(d * d + 0.5);
        }
        y[i] = sum;
    }
}
