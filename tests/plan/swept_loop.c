// frames forward_vjp: f64
// count forward_vjp plan unwind 1
/* Only the inner loop records: each iteration of the outer one is reversed where it runs. */
#include <math.h>
void
swept_loop(int n, int m, const double x[n], const double w[m], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < m; j++) {
            double v = x[i];
            for (int k = 0; k < 50; k++) {
                v = sin(v) + w[j];
                if (v > 2.0)
                    break;
            }
            sum += v * v;
        }
        y[i] = 0.5 * sum;
    }
}
